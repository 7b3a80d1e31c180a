"""What the model of clusters says, from `benchmarks/results/scale_sim.json`: `docs/scaling.md`."""

from __future__ import annotations

import json
import math
from typing import Any

from scripts.pictures import ROOT
from scripts.pictures.canvas import Canvas

RESULTS = ROOT / "benchmarks" / "results" / "scale_sim.json"
PREDICTED = {
    "webgym_128": "WebGym on 128 CPUs",
    "webgym_sync": "WebGym in lockstep",
    "asyncwebrl": "AsyncWebRL's gain",
    "asyncwebrl_thinking": "the same, thinking",
}
LEAST, MOST = 0.5, 4.0
"""Of the predicted over the published, at the sides of the left panel."""
LEFT, WIDE = 170, 170
RIGHT, BROAD, TOP, HEIGHT = 440, 240, 74, 200
FEWEST, FULL = 400, 40_000
"""Trajectories an hour at the bottom and at the top of the right panel."""
TONES = {8: "blue", 32: "green", 128: "amber", 256: "violet"}


def picture() -> str:
    rows = json.loads(RESULTS.read_text())["rows"]
    found = {row["predicted"]: row for row in rows if "predicted" in row}
    clusters = [row for row in rows if "sessions" in row]
    best = max(clusters, key=lambda row: row["trajectories_an_hour"])
    ratios = [_ratio(row) for row in found.values()]
    canvas = Canvas(
        336,
        f"The model of clusters over what papers have measured, {min(ratios):.2f} to {max(ratios):.2f} times; and "
        f"trajectories an hour against browser sessions for 8 to 256 GPUs, at most {best['trajectories_an_hour']:,}",
    )
    canvas.text(16, 28, "A model of rollouts with one fitted number", size=15, bold=True)
    canvas.note(744, 28, "benchmarks/scale_sim.py", anchor="end")
    _predictions(canvas, found, [row for row in rows if "assumption" in row])
    _clusters(canvas, clusters)
    return canvas.svg


def _ratio(row: dict[str, Any]) -> float:
    return float(row["value"]) / float(row["published"])


def _predictions(canvas: Canvas, found: dict[str, Any], assumed: list[dict[str, Any]]) -> None:
    """A dot for each prediction, and how far it goes where one assumption is halved or doubled."""

    def x(ratio: float) -> float:
        return LEFT + WIDE * math.log(ratio / LEAST) / math.log(MOST / LEAST)

    canvas.note(16, 56, "predicted, over what was published")
    for ratio in (LEAST, 1.0, 2.0, MOST):
        canvas.line((x(ratio), TOP), (x(ratio), TOP + HEIGHT), width=2 if ratio == 1 else 0.7)
        canvas.note(x(ratio), TOP + HEIGHT + 20, f"{ratio:g}", anchor="middle")
    for number, (name, said) in enumerate(PREDICTED.items()):
        y = TOP + 30 + number * 46
        others = [row[name] / found[name]["published"] for row in assumed if name in row]
        if others:
            canvas.line((x(min(others)), y), (x(max(others)), y), width=2)
        canvas.dot(x(_ratio(found[name])), y, 6, "d-blue")
        canvas.text(LEFT - 14, y + 4, said, anchor="end")
    canvas.note(16, TOP + HEIGHT + 46, "lines: one assumption halved or doubled")


def _clusters(canvas: Canvas, rows: list[dict[str, Any]]) -> None:
    """A line for each number of GPUs."""
    counts = sorted({row["sessions"] for row in rows})

    def x(sessions: float) -> float:
        return RIGHT + BROAD * math.log(sessions / counts[0]) / math.log(counts[-1] / counts[0])

    def y(an_hour: float) -> float:
        return TOP + HEIGHT * (1 - math.log(an_hour / FEWEST) / math.log(FULL / FEWEST))

    canvas.note(RIGHT - 40, 56, "trajectories an hour, by browser sessions")
    for an_hour in (1000, 10_000):
        canvas.line((RIGHT, y(an_hour)), (RIGHT + BROAD, y(an_hour)), width=0.7)
        canvas.note(RIGHT - 8, y(an_hour) + 4, f"{an_hour:,}", anchor="end")
    for sessions in (64, 256, 1000, 10_000):
        canvas.note(x(sessions), TOP + HEIGHT + 20, f"{sessions:,}", anchor="middle")
    for gpus, tone in TONES.items():
        line = [(x(row["sessions"]), y(row["trajectories_an_hour"])) for row in rows if row["gpus"] == gpus]
        canvas.line(*line, tone=f"s-{tone}", width=2)
        canvas.text(line[-1][0] + 8, line[-1][1] + 4, f"{gpus} GPUs", tone=f"t-{tone}")
    canvas.note(RIGHT - 40, TOP + HEIGHT + 46, "a half of the GPUs serves, the other learns")
