"""From a model folder to an engine or a learner, on the device and in the precision that the recipe asks for.

Invariant: the learner's weights are float32 whatever the engine samples with and the learner computes with; the
engine gets them rounded to its own dtype on every update.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

import torch
from torch import nn
from transformers import PreTrainedModel

from webdojo.agent.harness import Codec
from webdojo.dry_run.cost import cost_table, visual_token_px
from webdojo.dry_run.judging import judging_lines
from webdojo.dry_run.memory import GB, Machine, log_line, plan_memory
from webdojo.dry_run.plan import advice, fits, plan_lines, together, trains
from webdojo.dry_run.prompts import RoughCodec, check_prompts
from webdojo.dry_run.requests import request_lines
from webdojo.dry_run.unused import without_effect
from webdojo.errors import ConfigError, ModelError
from webdojo.memory import total_memory
from webdojo.policy.config import ModelConfig
from webdojo.policy.engine import ServedModel, VLLMConfig
from webdojo.policy.model.auto_processor import load_processor
from webdojo.policy.model.folder import is_hub_id, model_folder
from webdojo.policy.model.layouts import layout_of
from webdojo.policy.model.loading import device_of, load_model, skeleton
from webdojo.recipe import Recipe
from webdojo.sleep_clock import SleepClock
from webdojo.trainer.config import TrainConfig
from webdojo.trainer.learner.driver import lead
from webdojo.trainer.learner.launchers import Launcher
from webdojo.trainer.learner.learner import Learner
from webdojo.trainer.learner.lora import Adapters
from webdojo.trainer.learner.optimizer import make_optimizer, trained_names
from webdojo.trainer.learner.ranks import Ranks
from webdojo.trainer.learner.torchrun import Started
from webdojo.trainer.trial import try_parts
from webdojo.types import Engine, ImageSource, TrainableEngine
from webdojo.world import world

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger("webdojo")


def open_engine(
    recipe: Recipe,
    images: ImageSource,
    model_path: str,
    attempt: int = 0,
    version: int = 0,
    account: Path | None = None,
) -> AbstractAsyncContextManager[Engine]:
    """The recipe's engine, serving a model until the block ends.

    `attempt` is how often the run was resumed; every attempt draws other numbers, so that an episode that joins others
    of its group that were stored before does not repeat what they drew. `account` is that of `ServedModel`.
    """
    _release_gpu()
    return recipe.engine.open(
        ServedModel(
            path=model_path,
            config=recipe.model,
            images=images,
            max_context_tokens=recipe.rollout.max_context_tokens,
            seed=recipe.seed + (attempt << 32),
            version=version,
            account=account,
        )
    )


def check_learner(recipe: Recipe) -> None:
    """Raise the `ConfigError` that `make_learner` or an update would, from the model's shapes and a few made-up tokens,
    before anything has begun."""
    check_ranks(recipe)
    try_parts(recipe.train, recipe.rollout.group_size)
    model = skeleton(recipe.model.path)
    check_heads(recipe, model)
    trained_names(model, recipe.model)
    if recipe.model.lora.r:
        Adapters(model, recipe.model, base=recipe.model.path, seed=recipe.seed)
    make_optimizer([("weight", nn.Parameter(torch.zeros(1)))], recipe.train)


def check_heads(recipe: Recipe, model: PreTrainedModel) -> None:
    """Raise `ConfigError` where GPUs cannot share the model's attention heads evenly, which vLLM refuses."""
    engine, heads = recipe.engine, model.config.get_text_config().num_attention_heads
    if isinstance(engine, VLLMConfig) and not engine.urls and heads % engine.tensor_parallel_size:
        raise ConfigError(
            f"engine.tensor_parallel_size {engine.tensor_parallel_size} does not divide the {heads} attention heads of "
            f"model {recipe.model.path!r}: take a divisor of {heads}"
        )


def check_ranks(recipe: Recipe) -> None:
    """Raise `ConfigError` where this machine, or those where torchrun has started us, cannot have the recipe's
    `train.ranks`; of a cluster its plan tells."""
    ranks, gpus, started = recipe.train.ranks, torch.cuda.device_count(), world()
    if started is not None:
        if ranks != started.count:
            raise ConfigError(
                f"train.ranks is {ranks}, but torchrun started {started.count} processes, which are the learner's "
                f"ranks: set train.ranks={started.count}, or start as many"
            )
    elif not recipe.cluster.address and device_of(recipe.model).type == "cuda" and ranks > gpus:
        raise ConfigError(
            f"train.ranks is {ranks}, but torch sees {gpus} CUDA GPU{'s' * (gpus > 1)} here and each rank needs its "
            f"own: take at most {gpus}"
        )


def machine_of(config: ModelConfig) -> Machine:
    there = torch.cuda.is_available()
    if config.device == "cuda" or (config.device == "auto" and there):
        planned = int(config.gpu_memory_gb * GB)
        return Machine(cuda=True, memory=torch.cuda.get_device_properties(0).total_memory if there else planned)
    return Machine(cuda=False, memory=total_memory())


def make_learner(
    recipe: Recipe, images: ImageSource, model_path: str, *, kl: bool = True, launcher: Launcher | None = None
) -> Learner:
    """A fresh learner on the weights of a model, of which those train that the recipe leaves free.

    Whoever gets it closes it: with `train.ranks` above 1 this process leads that many, which the launcher starts, by
    default on this machine. Without `kl` it has no reference model.
    """
    check_ranks(recipe)
    build = partial(_learner, recipe, images, model_path, kl=kl)
    if recipe.train.ranks == 1 and compute_dtype(recipe) == torch.float32:
        return build(Ranks())
    if (started := world()) is not None:
        launcher = Started(started)
    return lead(build, recipe.train.ranks, device_of(recipe.model).type, launcher)


def compute_dtype(recipe: Recipe) -> torch.dtype:
    return torch.bfloat16 if device_of(recipe.model).type == "cuda" else torch.float32


def _learner(recipe: Recipe, images: ImageSource, model_path: str, ranks: Ranks, *, kl: bool = True) -> Learner:
    if ranks.rank:
        torch.set_num_threads(_threads(recipe.train))
    model, processor = load_model(model_path, mesh=ranks.mesh)
    if ranks.mesh is None:
        model.to(device_of(recipe.model))  # type: ignore[arg-type]
    if ranks.rank == 0 and layout_of(model).shares:
        _log_memory(model, recipe)
    trained = trained_names(model, recipe.model)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in trained)
    adapters = Adapters(model, recipe.model, base=model_path, seed=recipe.seed) if recipe.model.lora.r else None
    dtype = compute_dtype(recipe)
    with_reference = kl and recipe.train.kl_coef and adapters is None
    reference = load_model(model_path, dtype, ranks.mesh)[0] if with_reference else None
    return Learner(
        model,
        processor,
        images,
        recipe.train,
        reference=reference,
        adapters=adapters,
        seed=recipe.seed,
        ranks=ranks,
        compute_dtype=dtype,
    )


def _threads(config: TrainConfig) -> int:
    return max(1, (config.threads or os.cpu_count() or 1) // config.ranks)


def estimates(recipe: Recipe, cores: int = 0) -> list[str]:
    """What a run will cost and what it will need, in lines of text; the weights are not loaded. `cores` are those of
    the machine that will run it; 0: of this one.

    Raises:
        ConfigError: prompts do not fit, or somebody's own part of the algorithm or harness fails on a trial.
    """
    try_parts(recipe.train, recipe.rollout.group_size)
    model, why = None, ""
    try:
        model = skeleton(recipe.model.path)
        if not layout_of(model).shares:
            why = f"model type {model.config.model_type!r} takes the plain path (docs/models.md)"
    except ModelError as error:
        why = str(error)
    told = [*without_effect(recipe), *check_prompts(recipe, _codec(recipe, model), trains=trains(recipe))]
    lines = [*(f"note: {line}" for line in told), *([""] if told else [])]
    lines += [*cost_table(recipe, model).splitlines(), *judging_lines(recipe)]
    if recipe.engine.address:
        return [*lines, *request_lines(recipe)]
    lines.append("")
    if model is None or why:
        return [*lines, f"memory is not estimated: {why}"]
    check_heads(recipe, model)
    machine = machine_of(recipe.model)
    return [*lines, *plan_lines(model, recipe, replace(machine, cores=cores) if cores else machine)]


def _codec(recipe: Recipe, model: PreTrainedModel | None) -> Codec:
    """The model's own, or, where it would have to be downloaded, one that counts roughly."""
    if not is_hub_id(recipe.model.path):
        with suppress(ModelError):
            return load_processor(model_folder(recipe.model.path))
    return RoughCodec(visual_token_px(recipe.model.path, model))


def _log_memory(model: PreTrainedModel, recipe: Recipe) -> None:
    machine = machine_of(recipe.model)
    plan = plan_memory(model, recipe, machine)
    logger.info("%s", log_line(plan))
    if not fits(recipe, machine, together(model, recipe, machine, plan)):
        logger.warning("a full row may not fit in %.1f GB: %s", machine.memory / GB, advice(model, recipe, machine))


def _release_gpu() -> None:
    """Give GPU memory that a learner no longer uses to others: torch keeps it for itself, and an engine is mostly
    another process."""
    if torch.cuda.is_available():
        gc.collect()
        torch.cuda.empty_cache()


@asynccontextmanager
async def asleep(engine: TrainableEngine, clock: SleepClock) -> AsyncIterator[None]:
    """Let the engine sleep within the block, if it wants to while the learner steps, and `clock` stand still."""
    if not engine.sleeps_during_update:
        yield
        return
    with clock.stopped():
        await engine.sleep()
        yield
        _release_gpu()
        await engine.wake_up()  # not where the block raises: nobody asks it any more


async def learn(learner: Learner, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work`, which steps the learner, in its thread; if the caller is cancelled, it ends within a step."""

    def in_thread() -> T:
        torch.set_num_threads(_threads(learner.config))
        return work(*args, **kwargs)

    try:
        return await asyncio.get_running_loop().run_in_executor(learner.thread, in_thread)
    except asyncio.CancelledError:
        logger.info("stopping; the optimizer step at hand is given up")
        learner.stop.set()
        raise
