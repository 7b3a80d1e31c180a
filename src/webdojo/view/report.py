"""The report of a run: one HTML file to keep, send and show.

It reads the store alone, so it can be written again at any time; parts that a run has not reached say so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from webdojo.loops.results.stages import stages
from webdojo.loops.run_folder import TRAINS_NOTHING
from webdojo.redact import redact, without_logins
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.view.charts import WIDE, Bar, Reference, Series, grouped_bars, line_chart, stacked_bars
from webdojo.view.film import film
from webdojo.view.page import percent, write_page

STAGES = [
    ("success_base", "Base", "base"),
    ("success_sft", "After SFT", "sft"),
    ("success_rl", "After RL", "rl"),
    ("success_control", "Control", "control"),
    ("success_eval", "Model", "rl"),
]
"""Keys of the result, with title and colour, in the order of a run; the control is SFT continued for RL's time, and
`webdojo eval` has the last one alone."""

HEALTH = [
    ("entropy", "Entropy", "nats a token; a fall to zero means that it stopped exploring"),
    ("approx_kl", "Approximate KL", "to the policy that sampled; spikes mean too large steps"),
    ("clip_fraction", "Clip fraction", "tokens whose ratio left the clip range"),
    ("grad_norm", "Gradient norm", "before clipping"),
    ("steps", "Steps", "mean turns an episode"),
    ("response_tokens", "Response tokens", "mean sampled tokens an episode"),
]
"""Metric, title and meaning of each small chart."""

SAMPLES = 10
SMALL = (360, 176)


def write_report(store: RunStore, path: Path) -> Path:
    """Write the report of a finished or unfinished run to `path` and return it."""
    rows, result = store.rows(), store.get("result", {})
    measured = stages(store, rows)
    there = [stage for stage in STAGES if stage[0] in measured]
    rl, sft, evaluations = store.metrics("rl"), store.metrics("sft"), store.metrics("eval_rl")
    references = [
        Reference(f"Held-out, after {name}", css, result[key]["rate"])
        for key, name, css in (("success_sft", "SFT", "sft"), ("success_rl", "RL", "rl"))
        if key in result
    ]
    health = [(meaning, _series(rl, key, title, "rl")) for key, title, meaning in HEALTH]
    samples = [redact(t, t.secrets) for t in map(store.trajectory, choose(rows)) if store.has_screenshots(t)]
    return write_page(
        path,
        "report.html.j2",
        name=store.path.resolve().name,
        info={"seed": "unknown", "created": "", "command": "", "git": None, "versions": {}, "machine": {}} | store.info,
        recipe=without_logins(store.recipe_yaml),
        result=result,
        measured=measured,
        stages=there,
        trains=not {row.phase for row in rows} & TRAINS_NOTHING,
        seconds=_seconds(result, rl),
        difficulty=_difficulty_chart(measured, there),
        curve=_curve(rl, evaluations, references) if rl else None,
        evaluations=evaluations,
        references=references,
        time_chart=_time_chart(rl),
        sft_chart=_chart(_series(sft, "loss", "SFT loss by step", "sft")),
        health=[(series, meaning, _chart(series, SMALL)) for meaning, series in health],
        rl=rl,
        episodes=len(rows),
        phases=Counter(row.phase for row in rows),
        samples=[(trajectory, film(trajectory)) for trajectory in samples],
        images=store.images,
    )


def choose(rows: Sequence[TrajectoryRow]) -> list[str]:
    """Ids of a few episodes of the newest agent that show every difficulty, both successes and failures.

    They are valid, and from the last evaluation, else from the last phase. Each pick takes the kind of episode that
    was picked least so far.
    """
    evaluations = [row.phase for row in rows if row.phase.startswith("eval") and "control" not in row.phase]
    phase = (evaluations or [row.phase for row in rows] or [""])[-1]
    usable = [row for row in rows if row.phase == phase and row.valid and row.steps]
    latest = [row for row in usable if row.iteration == max(r.iteration for r in usable)]
    pool = latest if len(latest) >= SAMPLES else usable
    chosen: list[TrajectoryRow] = []
    while pool and len(chosen) < SAMPLES:
        best = min(
            pool,
            key=lambda row: (
                sum((row.success, row.difficulty) == (c.success, c.difficulty) for c in chosen),
                sum(row.kind == c.kind for c in chosen),
                sum(row.website == c.website for c in chosen),
            ),
        )
        chosen.append(best)
        pool.remove(best)
    return [row.id for row in sorted(chosen, key=lambda row: (row.difficulty, not row.success))]


def _seconds(result: dict[str, Any], rl: list[dict[str, float]]) -> list[tuple[str, str, float]]:
    """Phases with colour and seconds; for an unfinished run, the time of its iterations so far."""
    if "seconds" not in result:
        return [("RL so far", "rl", sum(row.get("seconds_total", 0.0) for row in rl))] if rl else []
    phases = {name: s for name, s in result["seconds"].items() if name != "total" and s > 0}
    return [(name.replace("_", " "), _phase_css(name, k), s) for k, (name, s) in enumerate(phases.items())]


def _phase_css(name: str, index: int) -> str:
    """The colour of the stage that a phase belongs to, paler for its evaluation."""
    stage = next((css for _, _, css in STAGES if css in name.split("_")), f"tone{1 + index % 3}")
    return f"{stage} pale" if name.startswith("eval") else stage


def _difficulty_chart(measured: dict[str, Any], stages: list[tuple[str, str, str]]) -> Markup | None:
    levels: dict[int, list[Bar]] = {}
    for key, label, css in stages:
        for level, part in measured[key]["by_difficulty"].items():
            title = f"{label}, difficulty {level}: {percent(part['rate'])} of {part['n']}"
            levels.setdefault(int(level), []).append(Bar(css, title, part["rate"], *part["ci95"]))
    groups = [(str(level), bars) for level, bars in sorted(levels.items())]
    return grouped_bars(groups, "Success by difficulty for each stage") if groups else None


def _curve(rl: list[dict[str, float]], evaluations: list[dict[str, float]], references: list[Reference]) -> Markup:
    lines = [_series(rl, "success", "Success", "rl"), _series(rl, "reward", "Reward", "reward")]
    lines.append(_series(evaluations, "success", "Held-out", "control"))
    lowest = min([0.0, *(y for line in lines for _, y in line.points if math.isfinite(y))])
    # Rewards are 0 and 1, and -1 for broken formats, so both lines share one axis of shares.
    return line_chart(
        lines, "Success and reward by iteration", y_range=(lowest, 1), y_format=percent, references=references
    )


def _time_chart(rl: list[dict[str, float]]) -> Markup | None:
    columns = []
    for row in rl:
        if "seconds_total" in row:
            wait, update = row.get("seconds_wait", 0.0), row.get("seconds_update", 0.0)
            rest = max(row["seconds_total"] - wait - update, 0.0)
            parts = [("Waiting for episodes", "wait", wait), ("Update", "update", update), ("Other", "other", rest)]
            columns.append((row["step"], parts))
    return stacked_bars(columns, "Seconds by iteration and phase") if columns else None


def _chart(series: Series, size: tuple[int, int] = WIDE) -> Markup | None:
    return line_chart([series], series.name, size=size) if series.points else None


def _series(rows: list[dict[str, float]], key: str, name: str, css: str) -> Series:
    return Series(name, css, [(row["step"], row[key]) for row in rows if key in row])
