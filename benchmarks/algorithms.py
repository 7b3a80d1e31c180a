"""Which of the papers' objectives learns most in the laboratory, and what its agents then say and do.

    python benchmarks/algorithms.py [--seeds 0 1 2] [--runs runs/bench-algorithms] [KEY=VALUE …]

The sweep `algorithms`: each variant with each seed in a process of its own, all variants of a seed, which share a warm
start, before the next seed. What is finished is not done again, and a run that was stopped goes on, so that seeds can
be run one at a time.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from quickstart import train
from record import record

from webdojo.loops.sweeps.plan import read_sweep, runs_of, sweep_file
from webdojo.loops.sweeps.results import VariantResult, results
from webdojo.loops.sweeps.warm_start import begin


def headline(found: list[VariantResult]) -> dict[str, float | None]:
    """By variant: success with its interval, what it gains over MM-GRPO, turns of an episode and tokens of a turn."""
    told: dict[str, float | None] = {}
    for each in found:
        name = re.sub(r"\W+", "_", each.variant.lower()).strip("_")
        told |= {f"success_{name}": round(each.success, 4)}
        told |= {f"success_{name}_low": round(each.ci95[0], 4), f"success_{name}_high": round(each.ci95[1], 4)}
        told |= {f"gain_{name}": None if each.gain is None else round(each.gain, 4)}
        told |= {f"steps_{name}": round(each.steps, 2)}
        told |= {f"tokens_a_step_{name}": round(each.response_tokens / each.steps, 1)}
    return told | {"seeds": min(len(each.seeds) for each in found)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=Path, default=Path("runs/bench-algorithms"))
    arguments, overrides = parser.parse_known_args()
    sweep = read_sweep(sweep_file("algorithms"))
    sweep = sweep.model_copy(update={"seeds": arguments.seeds, "overrides": [*sweep.overrides, *overrides]})
    runs = runs_of(sweep, arguments.runs)
    for run in runs:
        begin(sweep, run)
        train(run.folder, run.seed, run.overrides, sweep.recipe)
    found = results(runs)
    record("algorithms", headline(found), [each.model_dump(mode="json") for each in found])


if __name__ == "__main__":
    main()
