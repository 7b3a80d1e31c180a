"""What the finished runs of a sweep came to, by variant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from webdojo.evaluation.metrics import wilson95
from webdojo.loops.run_folder import RL
from webdojo.loops.sweeps.plan import RESULT, WARM_START, SweepRun
from webdojo.store.run import RunStore
from webdojo.types import Record


class VariantResult(Record):
    """What the finished runs of one variant came to."""

    variant: str
    seeds: list[int]
    success: float
    """The mean over seeds of the success on held-out tasks after training, 0..1."""
    ci95: tuple[float, float]
    """Wilson interval of the episodes of all seeds together."""
    by_seed: list[float]
    episodes: int
    gain: float | None
    """The mean over seeds of the success less that of the first variant with the same seed; None without such pairs."""
    gain_range: tuple[float, float] | None
    """The smallest and the largest of these differences."""
    steps: float
    """Mean turns of a held-out episode."""
    response_tokens: float
    """Mean sampled tokens of one."""
    success_sft: float | None
    """Before online training, where the runs measured it."""


def results(runs: Sequence[SweepRun]) -> list[VariantResult]:
    """What the finished runs came to, by variant in their order; those that are not finished are left out.

    A shared warm start stands among them, with no online training.
    """
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for run in runs:
        if run.finished:
            found.setdefault(run.variant, {})[run.seed] = json.loads((run.folder / RESULT).read_text())
    first = next(run.variant for run in runs if run.variant != WARM_START)
    baseline = found.get(first, {})
    order = dict.fromkeys(run.variant for run in runs)
    return [_result(each, found[each], {} if each == first else baseline) for each in order if each in found]


def curves(runs: Sequence[SweepRun], metric: str = "reward") -> dict[str, list[tuple[float, float]]]:
    """By variant, the mean of a metric of online training over the seeds that have it, by iteration."""
    rows: dict[str, dict[int, list[float]]] = {}
    for run in runs:
        if run.finished:
            with RunStore.open(run.folder, readonly=True) as store:
                for row in store.metrics(RL):
                    if metric in row:
                        rows.setdefault(run.variant, {}).setdefault(int(row["step"]), []).append(row[metric])
    return {
        variant: [(float(step), fmean(values)) for step, values in sorted(steps.items())]
        for variant, steps in rows.items()
    }


def _result(variant: str, by_seed: dict[int, dict[str, Any]], baseline: dict[int, dict[str, Any]]) -> VariantResult:
    measured = {seed: result["success_rl"] for seed, result in by_seed.items()}
    rates = {seed: float(each["rate"]) for seed, each in measured.items()}
    gains = [rate - float(baseline[seed]["success_rl"]["rate"]) for seed, rate in rates.items() if seed in baseline]
    before = [float(result["success_sft"]["rate"]) for result in by_seed.values() if "success_sft" in result]
    trials = sum(each["n"] for each in measured.values())
    return VariantResult(
        variant=variant,
        seeds=list(rates),
        success=fmean(rates.values()),
        ci95=wilson95(sum(each["successes"] for each in measured.values()), trials),
        by_seed=list(rates.values()),
        episodes=trials,
        gain=fmean(gains) if gains else None,
        gain_range=(min(gains), max(gains)) if gains else None,
        steps=fmean(each["steps"] for each in measured.values()),
        response_tokens=fmean(each["response_tokens"] for each in measured.values()),
        success_sft=fmean(before) if before else None,
    )
