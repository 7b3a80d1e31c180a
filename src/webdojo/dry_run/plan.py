"""What a run needs of a machine: the memory of learner and engine together, with the changes that make it fit, disk,
and roughly the hours that it takes.

Where both are on one GPU, the peak is that of the learner's step beside the engine, which may sleep meanwhile, or
that of the awake engine beside what the learner keeps between its steps. On a cluster each may have GPUs of its own.
The hours are rough: the calculations of the model at `RATE` operations a second, and the pages.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from transformers import PreTrainedModel

from webdojo.browser.config import HOSTED
from webdojo.dry_run.cost import estimate
from webdojo.dry_run.memory import (
    GB,
    Machine,
    MemoryPlan,
    active_size,
    changed,
    longest_turn,
    memory_table,
    plan_memory,
    size,
)
from webdojo.policy.engine import Footprint, VLLMConfig
from webdojo.policy.engines import VLLM
from webdojo.recipe import Recipe
from webdojo.trainer.learner.optimizer import state_bytes

GPU_RATE = 200e12
"""Operations a second that a learner sustains on an H100; an A100 has about half."""
CORE_RATE = 60e9
"""Operations a second of one CPU core."""
SAMPLING = 5
"""A sampled token takes as long as so many tokens that are read."""
PAGE_S = 0.15
"""Seconds of one core that the browser takes for a turn."""
PROMPT_TOKENS = 300
"""Text of a prompt that no earlier prompt shares."""
JPEG = 0.1
"""Bytes of a screenshot for each pixel."""


class Together(NamedTuple):
    """Bytes of one GPU, or of the machine, that learner and engine take together."""

    step: int
    """While the learner steps."""
    rollout: int
    """While the engine samples."""

    @property
    def peak(self) -> int:
        return max(self)


def together(model: PreTrainedModel, recipe: Recipe, machine: Machine, plan: MemoryPlan | None = None) -> Together:
    """Plan learner and engine of a model; without a GPU the ranks of the learner share the memory, and where the engine
    has GPUs of its own on a cluster, only the learner counts."""
    plan = plan or plan_memory(model, recipe, machine)
    ranks = 1 if machine.cuda else recipe.train.ranks
    awake, asleep = recipe.engine.memory(_footprint(model, recipe, machine), machine.memory if machine.cuda else 0)
    beside = _engines_beside(recipe, machine)
    awake, asleep = beside * awake, beside * asleep
    return Together(ranks * plan.peak + asleep, ranks * sum(plan.lasting.values()) + awake)


def _engines_beside(recipe: Recipe, machine: Machine) -> int:
    """Engines that share the memory of a rank of the learner."""
    cluster = recipe.cluster
    if machine.cuda and cluster.apart:
        return 0
    return math.ceil(cluster.engines.replicas / recipe.train.ranks) if cluster.address and cluster.colocated else 1


def fits(recipe: Recipe, machine: Machine, needed: Together) -> bool:
    """Whether it fits, as far as the memory of the machine is known."""
    return not machine.memory or needed.peak <= machine.memory


def combined(
    model: PreTrainedModel, recipe: Recipe, machine: Machine, steps: Sequence[Step] = ()
) -> tuple[list[str], Together]:
    """Changes that together make a recipe fit, those that cost least first, and what it then needs; where nothing makes
    it fit, all that help. By default all `STEPS` are tried."""
    made: list[str] = []
    needed = together(model, recipe, machine)
    for step in steps or STEPS:
        for change, other in step(model, recipe, machine):
            if fits(recipe, machine, needed):
                break
            then = together(model, other, machine)
            if then.peak < 0.99 * needed.peak:
                made, recipe, needed = [*made, change], other, then
    return made, needed


def plan_lines(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> list[str]:
    """Memory of the learner, of learner and engine together, disk and hours, in lines of text; where nothing trains,
    without the learner."""
    lines = _memory_lines(model, recipe, machine) if trains(recipe) else _engine_lines(model, recipe, machine)
    images, checkpoints = disk(model, recipe)
    limit = f"train.save_total_limit={recipe.train.save_total_limit}"
    kept = f", {checkpoints / GB:.1f} of checkpoints ({limit})" if trains(recipe) else ""
    lines.append(f"disk, in GB: {images / GB:.1f} of the screenshots of these turns{kept}")
    low, high = hours(model, recipe, machine)
    lines.append(f"{_span(low, high)}, on {_speed(recipe, machine)}")
    return [*lines, HOSTED] if recipe.browser.cdp_url else lines


def _span(low: float, high: float) -> str:
    """Rough hours in words; as minutes where they are few."""
    if high < 2:
        return f"minutes, roughly: {max(60 * low, 1):.0f} to {max(60 * high, 1):.0f}"
    digits = 0 if low > 10 else 1
    return f"hours, roughly: {low:.{digits}f} to {high:.{digits}f}"


def trains(recipe: Recipe) -> bool:
    """Whether there is a learner; without one a recipe measures models alone."""
    return bool(recipe.train.iterations or recipe.sft.demonstrated or recipe.sft.data or recipe.cycles.rounds)


def _memory_lines(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> list[str]:
    needed = together(model, recipe, machine)
    where = "a GPU" if machine.cuda else "the CPU"
    held = (
        f"learner and engine together on {where}, in GB: {needed.step / GB:.2f} while the learner steps, "
        f"{needed.rollout / GB:.2f} while the engine samples"
    )
    if not _engines_beside(recipe, machine):
        held = f"the learner on a GPU of its own, in GB: {needed.step / GB:.2f} while it steps"
        return [*_judged(held, model, recipe, machine, needed), *_engine_lines(model, recipe, machine)]
    return _judged(held, model, recipe, machine, needed)


def _judged(held: str, model: PreTrainedModel, recipe: Recipe, machine: Machine, needed: Together) -> list[str]:
    """The table of the learner, what is held in all, and whether it fits."""
    lines = [*memory_table(model, recipe, machine), "", held]
    if not machine.memory:
        return lines
    if not fits(recipe, machine, needed):
        return [*lines, f"does not fit in {machine.memory / GB:.1f} GB", f"  {advice(model, recipe, machine)}"]
    lines.append(f"fits in {machine.memory / GB:.1f} GB")
    longest = longest_turn(model, recipe, machine)
    if not fits(recipe, machine, alone := together(model, recipe, machine, longest)):
        whole = changed(recipe, "train", micro_batch_tokens=longest.tokens)
        made, then = combined(model, whole, machine, [step for step in STEPS if step is not _smaller])
        saving = f", or set {' '.join(made)}" if fits(whole, machine, then) else ""
        lines.append(
            f"  but not a turn of all {longest.tokens:,} tokens, which needs {alone.peak / GB:.2f}: lower "
            f"rollout.max_context_tokens{saving}"
        )
    return lines


def _engine_lines(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> list[str]:
    awake, _ = recipe.engine.memory(_footprint(model, recipe, machine), machine.memory if machine.cuda else 0)
    if not awake:
        return []
    where = "a GPU" if machine.cuda else "the CPU"
    verdict = f"{'fits' if awake <= machine.memory else 'does not fit'} in {machine.memory / GB:.1f} GB"
    return [f"the engine on {where}, in GB: {awake / GB:.2f}", *([verdict] if machine.memory else [])]


def advice(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> str:
    """What to change where a recipe does not fit."""
    made, needed = combined(model, recipe, machine)
    if fits(recipe, machine, needed):
        return f"together these make it fit, in {needed.peak / GB:.2f} GB: {' '.join(made)}"
    tried = f"not even with {' '.join(made)}, which needs {needed.peak / GB:.2f} GB: " if made else ""
    return f"{tried}take a smaller model{' or more GPUs (train.ranks)' if machine.cuda else ''}"


def disk(model: PreTrainedModel, recipe: Recipe) -> tuple[int, int]:
    """Bytes of the screenshots of all turns, and of the checkpoints that stay with one that is being written."""
    train = recipe.train
    width, height = recipe.browser.viewport_px
    turns = sum(phase.turns for phase in estimate(recipe, model))
    plan = plan_memory(model, recipe, Machine(cuda=False))
    kept = min(train.iterations, train.save_total_limit or train.iterations) + 2  # the warm start's, and the next
    each = 4 * plan.parameters + state_bytes(train.optimizer, plan.trained)
    return int(turns * width * height * JPEG) if recipe.harness.images else 0, kept * each


def hours(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> tuple[float, float]:
    """From a third of the turns that horizons allow, with short answers, to all of them with the longest."""
    rate = GPU_RATE if machine.cuda else CORE_RATE * machine.cores
    train, operations = recipe.train, 2 * active_size(model)
    # On the CPU all of them share the same cores.
    ranks, engines = (train.ranks, _engine_gpus(recipe)) if machine.cuda else (1, 1)

    def of(share: float, length: float) -> float:
        seconds = 0.0
        for phase in estimate(recipe, model):
            turns, sampled = share * phase.turns, share * length * phase.sampled_tokens
            most = turns * recipe.rollout.max_context_tokens
            read = min(share * phase.visual_tokens + turns * PROMPT_TOKENS + sampled, most)
            passes = {"demonstrations": recipe.sft.epochs, "evaluation": 0}.get(phase.name, train.ppo_epochs)
            trained = read * passes * (4 if train.gradient_checkpointing else 3)
            sampling = operations * (read * bool(phase.sampled_tokens) + SAMPLING * sampled) / rate / engines
            pages = turns * PAGE_S / machine.cores
            rolling = max(sampling, pages) if machine.cuda else sampling + pages
            learning = operations * trained / rate / ranks
            at_once = phase.name.startswith("rollouts") and _overlap(model, recipe, machine)
            seconds += max(rolling, learning) if at_once else rolling + learning
        return seconds / 3600

    return of(1 / 3, 0.25), of(1.0, 1.0)


def _engine_gpus(recipe: Recipe) -> int:
    return recipe.engine.gpu_count * (recipe.cluster.engines.replicas if recipe.cluster.address else 1)


def _overlap(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> bool:
    """Whether the engine samples while the learner steps, each on GPUs of its own."""
    taken = any(recipe.engine.memory(_footprint(model, recipe, machine), machine.memory))
    shared = taken and _engines_beside(recipe, machine) > 0
    return recipe.rollout.max_staleness > 0 and machine.cuda and not shared


def _speed(recipe: Recipe, machine: Machine) -> str:
    """What the hours assume."""
    cores = f"{machine.cores} core{'s' * (machine.cores > 1)}"
    if not machine.cuda:
        return f"{cores} (--cores names those of another machine)"
    ranks, engines = recipe.train.ranks if trains(recipe) else 0, _engine_gpus(recipe)
    each = f"{GPU_RATE / 1e12:.0f} TFLOP/s"
    gpus = f"GPUs that sustain {each} each ({ranks} for the learner, {engines} for the engine)"
    if max(ranks, engines) == 1:
        gpus = f"a GPU that sustains {each}"
    return f"{gpus} and {cores} for pages (--cores names those of another machine)"


def _footprint(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> Footprint:
    config = model.config.get_text_config()
    narrow = recipe.model.dtype == "bfloat16" or (recipe.model.dtype == "auto" and machine.cuda)
    value, heads = 2 if narrow else 4, config.num_attention_heads
    side = getattr(config, "head_dim", None) or config.hidden_size // heads
    token = 2 * value * config.num_hidden_layers * config.num_key_value_heads * side
    rollout = recipe.rollout
    return Footprint(
        weights=value * size(model),
        context=token * rollout.max_context_tokens,
        concurrency=rollout.concurrency,
        learner_gpus=recipe.train.ranks,
    )


Changes = Iterator[tuple[str, Recipe]]
"""Overrides that lower memory, each with the recipe that results."""
Step = Callable[[PreTrainedModel, Recipe, Machine], Changes]


def _recompute(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> Changes:
    if not recipe.train.gradient_checkpointing:
        yield "train.gradient_checkpointing=true", changed(recipe, "train", gradient_checkpointing=True)


def _offload(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> Changes:
    if machine.cuda and not recipe.train.optimizer_offload:
        yield "train.optimizer_offload=true", changed(recipe, "train", optimizer_offload=True)


def _sleep(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> Changes:
    """An engine that sleeps while the learner steps, and takes what the learner leaves between its steps."""
    awake, asleep = recipe.engine.memory(_footprint(model, recipe, machine), machine.memory)
    if not machine.cuda or not machine.memory or not awake:
        return
    kept = sum(plan_memory(model, recipe, machine).lasting.values())
    share = math.floor(20 * (1 - kept / machine.memory)) / 20
    if share * machine.memory <= _footprint(model, recipe, machine).least:
        return
    options: dict[str, Any] = {} if asleep < awake else {"enable_sleep_mode": True}
    if not isinstance(recipe.engine, VLLMConfig):
        options["gpu_memory_utilization"] = share
        yield f"engine.name=vllm {_written(options)}", recipe.model_copy(update={"engine": VLLM(**options)})
        return
    if not recipe.engine.kv_cache_memory_bytes:
        options["gpu_memory_utilization"] = share
    if options:
        yield _written(options), changed(recipe, "engine", **options)


def _written(options: Mapping[str, Any]) -> str:
    """Options of the engine as overrides."""
    return " ".join(f"engine.{key}={json.dumps(value)}" for key, value in options.items())


def _smaller(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> Changes:
    half = recipe.train.micro_batch_tokens // 2
    if half >= 1024:
        yield f"train.micro_batch_tokens={half}", changed(recipe, "train", micro_batch_tokens=half)


def _eight_bits(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> Changes:
    if recipe.train.optimizer == "adamw":
        yield "train.optimizer=adamw_8bit", changed(recipe, "train", optimizer="adamw_8bit")


def _frozen_tower(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> Changes:
    if not recipe.model.freeze_vision and not recipe.model.freeze_trainable_layers:
        yield "model.freeze_vision=true", changed(recipe, "model", freeze_vision=True)


def _adapters(model: PreTrainedModel, recipe: Recipe, machine: Machine) -> Changes:
    if not recipe.model.lora.r and not recipe.model.freeze_trainable_layers:
        lora = recipe.model.lora.model_copy(update={"r": 16})
        yield "model.lora.r=16", changed(recipe, "model", lora=lora)


STEPS = (_recompute, _offload, _sleep, _smaller, _eight_bits, _frozen_tower, _adapters, _sleep)
"""In this order changes are tried: first what costs time, then what changes the training."""
