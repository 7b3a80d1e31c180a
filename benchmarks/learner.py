"""Does radix packing give the same gradients, and how much faster is an update?

    python benchmarks/learner.py [--cases 'tiny 15' 'mid 15'] [--scale N] [--repeats 3] [--seconds 60]

A group of trajectories as the OpenWebRL harness makes them: a text spine, the last screenshot, a response. Token
counts have the paper's proportions (1,800 prompt tokens, 1,240 a screenshot, 350 a response, 130 up to the next one,
groups of 5), divided by `--scale`: two cores would else compute for hours. At 16 attention is about as large a part of
the tiny model's work as of a 4 B model's at full scale, and a smaller one of that of `mid`, a random Qwen3-VL of 100 M.
One update is a forward and a backward pass over every response token of the group.

| way | what it does |
|---|---|
| `radix` | webdojo's: packed rows, shared prefixes once, the last layer only where a token is predicted |
| `padded` | one sample a turn, padded in batches, neighbours in length together: the usual way |
| `packed` | one sample a turn, packed end to end ("varlen"), no padding and no attention across samples |

Speed-ups are against the better of the last two; all have the same budget of tokens a batch, the same attention
kernels and memory allocator, and every way sends an image through the vision tower once a batch. A tower that trains
costs all ways about the same, which no packing saves; where it is frozen, as in the quickstart, its features are at
hand in all ways. `mid` trains its tower, `tiny` does not, and one case of each is the other way round. Where little is
shared packing gains little: 5 turns, one trajectory, and samples that share nothing are cases, too. Every case and way
runs in a process of its own, and one trajectory's update warms it up: `gb` is its memory at most, `gb_before` before
that. `flops` says what each way has to compute, the last layer's attention counted whole.

`max_abs_loss_diff` and `max_rel_grad_diff` are those of `learner_exactness.py`.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import time
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from statistics import median
from typing import Any

import record
from learner_exactness import exactness
from learner_flops import NOTHING, flops, work_of
from learner_ways import GROUP, WAYS, Pictures, group_of_turns, mid_model, update
from own_memory import memory_gb

from webdojo.policy.model.features import FeatureCache
from webdojo.policy.model.forward import attend_in_rows, narrow_last_layer
from webdojo.policy.model.loading import load_model
from webdojo.policy.model.processor import Processor
from webdojo.progress import progress
from webdojo.trainer.learner.malloc import keep_freed_memory

APART = ("padded", "packed")
SCALES = {"tiny": 16, "mid": 16}


@dataclass(frozen=True)
class Case:
    """What one update is made of."""

    name: str
    model: str
    turns: int
    frozen: bool
    members: int = GROUP
    alike: bool = True
    scale: int = 0

    def group(self, processor: Processor, pictures: Pictures) -> list[Any]:
        return group_of_turns(processor, pictures, self.members, self.turns, self.scale, alike=self.alike)


CASES = [
    *(Case(f"tiny {turns}", "tiny", turns, frozen=True) for turns in (5, 15, 30)),
    Case("tiny 15, tower trains", "tiny", 15, frozen=False),
    Case("tiny 15, one trajectory", "tiny", 15, frozen=True, members=1),
    Case("tiny 1, nothing shared", "tiny", 1, frozen=True, members=25, alike=False),
    *(Case(f"mid {turns}", "mid", turns, frozen=False) for turns in (5, 15, 30)),
    Case("mid 15, tower frozen", "mid", 15, frozen=True),
]


def timing(case: Case, arguments: argparse.Namespace) -> dict[str, Any]:
    """One update of a case in each way."""
    found: dict[str, dict[str, Any]] = {}
    for way in ("radix", *APART):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found[way] = pool.apply(measure, (case, way, arguments.budget, arguments.repeats, arguments.seconds))
    seconds = {way: median(one["seconds"]) for way, one in found.items()}
    return {
        "measure": "timing",
        **asdict(case),
        "budget": arguments.budget,
        "parameters": found["radix"]["parameters"],
        "seconds": seconds,
        "spread": {way: [min(one["seconds"]), max(one["seconds"])] for way, one in found.items()},
        "repeats": {way: len(one["seconds"]) for way, one in found.items()},
        "gb": {way: one["gb"] for way, one in found.items()},
        "gb_before": {way: one["gb_before"] for way, one in found.items()},
        "tokens": {way: one["tokens"] for way, one in found.items()},
        "flops": {way: one["flops"] for way, one in found.items()},
        "speedup": min(seconds[way] for way in APART) / seconds["radix"],
        "token_ratio": found["packed"]["tokens"] / found["radix"]["tokens"],
    }


def measure(case: Case, way: str, budget: int, repeats: int, seconds: float) -> dict[str, Any]:
    """Seconds of up to `repeats` updates, in a process of its own; no further one begins after `seconds`."""
    keep_freed_memory()
    model, processor = load_model("tiny")
    if case.model == "mid":
        model = mid_model()
    attend_in_rows(model)
    if way == "radix":
        narrow_last_layer(model)
    pictures = Pictures()
    sequences = case.group(processor, pictures)
    cache = None
    if case.frozen:
        model.model.visual.requires_grad_(False)
        cache = FeatureCache(model, processor, pictures, max_bytes=2**33)
        for prompt, _ in sequences:
            cache.of(prompt)
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM counts from here
    before = memory_gb("VmRSS")
    update(model, way, sequences[: case.turns], budget, processor, pictures, cache)  # warms up
    loss = 0.0
    times: list[float] = []
    while len(times) < repeats and sum(times) < seconds:
        began = time.perf_counter()
        loss, _, _ = update(model, way, sequences, budget, processor, pictures, cache)
        times.append(time.perf_counter() - began)
    peak = memory_gb("VmHWM")
    batches = WAYS[way](sequences, budget, processor, pictures)
    work = reduce(add, (work_of(batch) for batch, _ in batches), NOTHING)
    if case.frozen:
        work = replace(work, patches=())
    return {
        "seconds": times,
        "loss": loss,
        "gb": peak,
        "gb_before": before,
        "tokens": work.tokens,
        "flops": flops(model, work),
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the record only")
    parser.add_argument("--cases", nargs="+", choices=[case.name for case in CASES], default=[c.name for c in CASES])
    parser.add_argument("--scale", type=int, help="the paper's token counts are divided by this")
    parser.add_argument("--budget", type=int, default=4096, help="tokens of a row or padded batch")
    parser.add_argument("--repeats", type=int, default=3, help="updates of a case and way")
    parser.add_argument("--seconds", type=float, default=60, help="no further repeat after so long")
    arguments = parser.parse_args()
    rows = exactness()
    cases = [replace(c, scale=arguments.scale or SCALES[c.model]) for c in CASES if c.name in arguments.cases]
    with progress("learner benchmark", len(cases)) as bar:
        for case in cases:
            rows.append(timing(case, arguments))
            bar.advance(1, speedup=rows[-1]["speedup"])
    exact = [row for row in rows if row["measure"] == "exactness"]
    by_name = {row["name"]: row for row in rows if row["measure"] == "timing"}

    def worse(turns: int, key: str) -> float | None:
        """The smaller figure of the two models."""
        of_turns = [by_name[name][key] for model in SCALES if (name := f"{model} {turns}") in by_name]
        return min(of_turns, default=None)

    headline: dict[str, float | None] = {
        "max_abs_loss_diff": max(row["abs_loss_diff"] for row in exact),
        "max_rel_grad_diff": max(row["max_rel_grad_diff"] for row in exact),
    }
    headline |= {f"speedup_{turns}": worse(turns, "speedup") for turns in (5, 15, 30)}
    headline |= {f"token_ratio_{turns}": worse(turns, "token_ratio") for turns in (15, 30)}
    record.record("learner", headline, rows)


if __name__ == "__main__":
    main()
