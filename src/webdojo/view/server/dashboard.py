"""What the dashboard of a run draws: figures by step, and which web sites failed."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webdojo.evaluation.metrics import wilson95
from webdojo.loops.run_folder import EVALUATION, RL
from webdojo.store.run import TrajectoryRow
from webdojo.view.page import percent
from webdojo.view.report import STAGES
from webdojo.view.server.index import outcome
from webdojo.view.tables import episodes_measured

Figures = Mapping[str, float]
SITES = 30
"""Web sites in the table of failures, the worst first."""


@dataclass(frozen=True)
class Line:
    """One line of a chart: a metric by its name, or what `derived` adds to the metrics."""

    name: str
    key: str


@dataclass(frozen=True)
class Chart:
    """One chart over the steps of a phase."""

    title: str
    meaning: str
    lines: tuple[Line, ...]
    phase: str = RL
    unit: str = ""
    """`%` for shares."""
    interval: str = ""
    """The key of the line that has a 95 % interval, in `low` and `high` of `derived`."""


CHARTS = (
    Chart(
        "Success",
        "of the episodes that it trains on, with its 95 % interval (Wilson)",
        (Line("success", "success"),),
        unit="%",
        interval="success",
    ),
    Chart(
        "Success on held-out tasks",
        "with its 95 % interval",
        (Line("success", "success"),),
        phase=EVALUATION,
        unit="%",
        interval="success",
    ),
    Chart("Reward", "mean of valid episodes", (Line("reward", "reward"),)),
    Chart("Steps", "turns an episode", (Line("steps", "steps"),)),
    Chart("Response length", "sampled tokens a turn", (Line("tokens", "response_tokens"),)),
    Chart(
        "Staleness",
        "versions between the weights that sampled a token and those that it trains",
        (Line("mean", "staleness_mean"), Line("largest", "staleness_max")),
    ),
    Chart(
        "Clip fraction",
        "tokens whose gradient is cut off",
        (Line("clip", "clip_fraction"), Line("dual clip", "dual_clip_fraction"), Line("capped", "capped_fraction")),
        unit="%",
    ),
    Chart("Entropy", "nats a token", (Line("entropy", "entropy"),)),
    Chart(
        "KL",
        "to the policy that sampled, and to the reference",
        (Line("sampled", "approx_kl"), Line("reference", "reference_kl")),
    ),
    Chart("Gradient norm", "before clipping", (Line("norm", "grad_norm"),)),
    Chart(
        "Engine and learner",
        "difference of their log-probabilities, nats",
        (Line("mean", "engine_gap_mean"), Line("largest", "engine_gap_max")),
    ),
    Chart("Throughput", "episodes an hour", (Line("episodes", "episodes_an_hour"),)),
    Chart("Training throughput", "response tokens a second that train", (Line("tokens", "tokens_a_second"),)),
    Chart(
        "Where the time goes",
        "seconds an iteration by phase",
        tuple(Line(name, f"seconds_{name}") for name in ("wait", "assemble", "update", "save", "publish", "total")),
    ),
    Chart(
        "Busy",
        "shares of the time",
        (Line("slots", "slots_busy"), Line("learner", "learner_busy"), Line("both wait", "bubble_fraction")),
        unit="%",
    ),
    Chart("Invalid episodes", "which the web or the system failed", (Line("invalid", "invalid_share"),), unit="%"),
    Chart("SFT loss", "by step", (Line("loss", "loss"),), phase="sft"),
)


def charts(metrics: Mapping[str, Sequence[Figures]]) -> list[dict[str, Any]]:
    """The charts that have figures, as JSON objects: `x`, and for each line its name and `y`; null is no figure."""
    found = []
    for chart in CHARTS:
        rows = [{**row, **derived(row)} for row in metrics.get(chart.phase, ())]
        lines = [(line, [_finite(row.get(line.key)) for row in rows]) for line in chart.lines]
        lines = [(line, y) for line, y in lines if any(value is not None for value in y)]
        if not lines:
            continue
        interval = chart.interval and any("low" in row for row in rows)
        found.append(
            {
                "title": chart.title,
                "meaning": chart.meaning,
                "unit": chart.unit,
                "x": [row["step"] for row in rows],
                "lines": [{"name": line.name, "y": y} for line, y in lines],
                "low": [_finite(row.get("low")) for row in rows] if interval else None,
                "high": [_finite(row.get("high")) for row in rows] if interval else None,
            }
        )
    return found


def stage_rows(measured: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """The rows of the table of stages, as JSON objects, from what `loops.results.stages.stages` returns."""
    return [
        {
            "label": label,
            "css": css,
            "success": percent(stage["rate"], 1),
            "interval": " – ".join(percent(end, 1) for end in stage["ci95"]),
            "tasks": episodes_measured(stage),
        }
        for key, label, css in STAGES
        if (stage := measured.get(key))
    ]


def derived(row: Figures) -> dict[str, float]:
    """Figures that follow from those of a step."""
    out: dict[str, float] = {}
    if "ci95_low" in row:
        out |= {"low": row["ci95_low"], "high": row["ci95_high"]}
    elif "success" in row and (n := int(row.get("episodes", 0) - row.get("invalid", 0))) > 0:
        out["low"], out["high"] = wilson95(row["success"] * n, n)
    if row.get("episodes"):
        out["invalid_share"] = row.get("invalid", 0) / row["episodes"]
    if row.get("seconds_total"):
        if "episodes" in row:
            out["episodes_an_hour"] = 3600 * row["episodes"] / row["seconds_total"]
        if "tokens" in row:
            out["tokens_a_second"] = row["tokens"] / row["seconds_total"]
    return out


def failures(rows: Sequence[TrajectoryRow]) -> list[dict[str, Any]]:
    """Web sites with invalid episodes as JSON objects, those with the most first."""
    invalid: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if outcome(row) == "invalid":
            invalid[row.website][row.termination] += 1
    totals = Counter(row.website for row in rows) if invalid else Counter()
    worst = sorted(invalid, key=lambda site: -invalid[site].total())[:SITES]
    return [
        {
            "website": site,
            "episodes": totals[site],
            "invalid": invalid[site].total(),
            "ended": dict(invalid[site].most_common()),
        }
        for site in worst
    ]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
