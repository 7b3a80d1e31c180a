"""What do the parts of a run cost on one GPU, in the shapes of OpenWebRL, and does what was planned for memory hold?

    python benchmarks/one_gpu.py [--episodes 40] [--turns 2] [--tokens 64] [--learned 75]

A randomly initialised Qwen3-VL with the sizes of Qwen3-VL-4B-Instruct (`learner_gpu.py`), written to a folder and read
as a run reads it. Groups of 5 trajectories with the paper's token counts: 1,800 prompt tokens, 1,240 a screenshot, 350
a response in the prompts; a sampled response has `--tokens`.

- **sampling**: the embedded engine answers the episodes turn by turn, all at once, as the loop asks it; the naive way
  is `model.generate` on each turn of all episodes as one padded batch. `x_generate` is the ratio of their seconds.
- **update**: the learner that the recipe `openwebrl-80gb` makes (bfloat16 over float32 weights, layers computed again,
  AdamW's moments in the machine's memory between steps) takes one optimizer step on the turns of a group, three times;
  the first compiles. `planned_gb` is what `--dry-run` tells for it, `peak_gb` what torch had allocated at most.
- **refresh**: the learner's weights, gathered and taken over by the engine; and a checkpoint, written and read.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import record
import torch
from learner_gpu import model_4b
from learner_ways import GROUP, Pictures, group_of_turns
from padded import left_padded

from webdojo.dry_run.memory import plan_memory
from webdojo.loops.models import machine_of, make_learner, open_engine
from webdojo.policy.hf.engine import HFEngine
from webdojo.policy.model.collate import Sequence_
from webdojo.policy.model.loading import load_model, save_model
from webdojo.policy.model.processor import Processor
from webdojo.recipe import Recipe, load_recipe
from webdojo.trainer.batch import Sample
from webdojo.trainer.learner.learner import Learner
from webdojo.types import Engine, Prompt, Response, Sampling

GB = 1e9
UPDATES = 3


def saved_model(folder: Path) -> None:
    """Random weights in bfloat16, with the tokenizer of the tiny model."""
    _, processor = load_model("tiny")
    model = model_4b("cuda")
    save_model(model, processor, folder)


def episodes_of(processor: Processor, pictures: Pictures, count: int, turns: int) -> list[list[Prompt]]:
    """The prompts of `count` episodes in groups, whose members begin alike, turn by turn."""
    found: list[list[Prompt]] = []
    for number in range(count // GROUP):
        prompts = [prompt for prompt, _ in group_of_turns(processor, pictures, GROUP, turns, scale=1, number=number)]
        found += [prompts[first : first + turns] for first in range(0, len(prompts), turns)]
    return found


async def sampled(
    engine: Engine, episodes: Sequence[Sequence[Prompt]], sampling: Sampling
) -> tuple[float, list[list[Response]]]:
    """Seconds, and the responses of each episode."""

    async def play(prompts: Sequence[Prompt]) -> list[Response]:
        return [await engine.generate(prompt, sampling) for prompt in prompts]

    began = time.perf_counter()
    answers = await asyncio.gather(*map(play, episodes))
    return time.perf_counter() - began, list(answers)


def generated(
    folder: Path, processor: Processor, pictures: Pictures, episodes: Sequence[Sequence[Prompt]], sampling: Sampling
) -> float:
    """Seconds of the naive way."""
    model: Any = load_model(folder, dtype=torch.bfloat16)[0].to("cuda").eval()  # type: ignore[arg-type]
    pixels: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
    began = time.perf_counter()
    for prompts in zip(*episodes, strict=True):
        inputs = left_padded(prompts, processor, pictures, pixels)
        model.generate(
            **{name: value.cuda() for name, value in inputs.items()},
            do_sample=True,
            temperature=sampling.temperature,
            max_new_tokens=sampling.max_tokens,
            min_new_tokens=sampling.max_tokens,
            pad_token_id=processor.stop_id,
        )
    torch.cuda.synchronize()
    return time.perf_counter() - began


def timed(work: Callable[[], Any]) -> float:
    torch.cuda.synchronize()
    began = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - began


def samples_of(sequences: Sequence[Sequence_]) -> list[Sample]:
    """Turns of a group, good and bad ones; what sampled them is not told."""
    return [_sample(prompt, ids, [0.0] * len(ids), len(sequences), i) for i, (prompt, ids) in enumerate(sequences)]


def samples_of_responses(prompts: Sequence[Prompt], responses: Sequence[Response]) -> list[Sample]:
    """As `samples_of`, of what an engine said."""
    pairs = zip(prompts, responses, strict=True)
    return [_sample(prompt, said.ids, said.logprobs, len(prompts), i) for i, (prompt, said) in enumerate(pairs)]


def _sample(prompt: Prompt, ids: Sequence[int], logprobs: list[float], count: int, number: int) -> Sample:
    return Sample(
        prompt=prompt,
        response_ids=list(ids),
        old_logprobs=logprobs,
        advantage=1.0 if number % 2 else -1.0,
        token_weights=[1 / (count * len(ids))] * len(ids),
        versions=[0] * len(ids),
    )


def updates(learner: Learner, recipe: Recipe, samples: list[Sample], others: int) -> Iterator[dict[str, Any]]:
    """A row an update, the first with what compiling takes; `others` are the bytes that are not the learner's."""
    planned = plan_memory(learner.model, recipe, machine_of(recipe.model)).peak / GB
    before = learner.logprobs(samples, 0.8)
    samples = [replace(sample, old_logprobs=lp.tolist()) for sample, lp in zip(samples, before, strict=True)]
    for number in range(UPDATES):
        torch.cuda.reset_peak_memory_stats()
        found = learner.train_policy(samples, 0.8)
        seconds = found["seconds"]
        yield found | {
            "measure": "update",
            "number": number,
            "seconds": seconds,
            "sample_tokens_per_s": sum(map(len, samples)) / seconds,
            "micro_batch_tokens": recipe.train.micro_batch_tokens,
            "planned_gb": planned,
            "peak_gb": (torch.cuda.max_memory_allocated() - others) / GB,
        }


async def measure(arguments: argparse.Namespace, recipe: Recipe, tell: Callable[[dict[str, Any]], None]) -> None:
    """All parts, one after the other; learner and engine share the GPU from the refresh on."""
    folder, pictures = Path(recipe.model.path), Pictures()
    _, processor = load_model("tiny")
    tell({"measure": "setup", "seconds": timed(lambda: saved_model(folder))})
    release()
    episodes = episodes_of(processor, pictures, arguments.episodes, arguments.turns)
    sampling = Sampling(temperature=0.8, max_tokens=arguments.tokens)
    tokens = arguments.episodes * arguments.turns * arguments.tokens
    shapes = {"at_once": len(episodes), "turns": arguments.turns, "tokens_per_response": arguments.tokens}
    shapes["prompt_tokens"] = sum(len(prompt) for prompts in episodes for prompt in prompts)
    naive = generated(folder, processor, pictures, episodes, sampling)
    tell({"measure": "sampling", "way": "generate", **shapes, "seconds": naive, "tokens_per_s": tokens / naive})
    release()
    async with open_engine(recipe, pictures, str(folder)) as engine:
        assert isinstance(engine, HFEngine)
        await sampled(
            engine, [prompts[:1] for prompts in episodes[:GROUP]], sampling.model_copy(update={"max_tokens": 4})
        )
        torch.cuda.reset_peak_memory_stats()
        seconds, answers = await sampled(engine, episodes, sampling)
        responses = [response for turns in answers for response in turns]
        spent = {
            name: sum(r.seconds[name] for r in responses) / len(responses) for name in ("queue", "prefill", "decode")
        }
        tell(
            {
                "measure": "sampling",
                "way": "engine",
                **shapes,
                "seconds": seconds,
                "tokens_per_s": sum(len(r.ids) for r in responses) / seconds,
            }
            | {"x_generate": naive / seconds, "prefill_saved": 1 - engine.prefilled_tokens / engine.prompt_tokens}
            | {"seconds_of_a_response": spent, "peak_gb": torch.cuda.max_memory_allocated() / GB}
        )
        others = torch.cuda.memory_allocated()
        with closing(make_learner(recipe, pictures, str(folder))) as learner:
            prompts = [prompt for turns in episodes for prompt in turns]
            gap = learner.train_policy(samples_of_responses(prompts, responses), 0.8, 0)
            tell({"measure": "gap"} | {key: value for key, value in gap.items() if key.startswith("engine_")})
            sequences = group_of_turns(processor, pictures, GROUP, arguments.learned // GROUP, scale=1)
            for row in updates(learner, recipe, samples_of(sequences), others):
                tell(row)
            began = time.perf_counter()
            weights = learner.state_dict()
            gathered = time.perf_counter()
            await engine.update_weights(weights, 1)
            tell({"measure": "refresh", "gather": gathered - began, "load": time.perf_counter() - gathered})
            saved = folder.parent / "checkpoint"
            tell({"measure": "checkpoint", "write": timed(lambda: learner.save(saved))})
            tell({"measure": "checkpoint", "read": timed(lambda: learner.load(saved))})


def release() -> None:
    gc.collect()
    torch.cuda.empty_cache()


def headline(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The engine's sampling, the median of the updates after the first, and the refresh."""
    of_engine = next(row for row in rows if row.get("way") == "engine")
    told = {"x_generate": of_engine["x_generate"], "sampled_tokens_per_s": of_engine["tokens_per_s"]}
    later = [row for row in rows if row["measure"] == "update" and row["number"]]
    told |= {key: median(row[key] for row in later) for key in ("sample_tokens_per_s", "planned_gb", "peak_gb")}
    told["engine_gap_mean"] = next(row for row in rows if row["measure"] == "gap")["engine_gap_mean"]
    refresh = next(row for row in rows if row["measure"] == "refresh")
    return told | {"refresh_seconds": refresh["gather"] + refresh["load"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=64, help="of a sampled response")
    parser.add_argument("--learned", type=int, default=75, help="turns of an update")
    arguments, overrides = parser.parse_known_args()
    if not torch.cuda.is_available():
        raise SystemExit("torch sees no GPU, and this measures one")
    rows: list[dict[str, Any]] = []

    def tell(row: dict[str, Any]) -> None:
        rows.append(row)
        print(row, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        one_step = ["engine={name: hf}", "train.batch_size=100000", "train.ppo_epochs=1"]
        recipe = load_recipe("openwebrl-80gb", [f"model.path={folder}/model", *one_step, *overrides])
        asyncio.run(measure(arguments, recipe, tell))
    record.record("one_gpu", headline(rows), rows)


if __name__ == "__main__":
    main()
