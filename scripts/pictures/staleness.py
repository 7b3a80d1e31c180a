"""The synchronous and the asynchronous loop on the clock of `benchmarks/paced.py`: `docs/training-loop.md`."""

from __future__ import annotations

import importlib
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from statistics import mean
from typing import Any

from scripts.pictures import ROOT
from scripts.pictures.canvas import SMALL, Canvas
from webdojo.types import Trajectory

ALT = (
    "Eight slots of episodes and the learner over time: with max_staleness 0 the slots are empty while the learner "
    "steps, with 2 episodes go on meanwhile, and under new weights; below, how stale tokens were by number of slots"
)
SLOTS, GROUPS, ITERATIONS, LEARNER_S, SECONDS = 8, 2, 12, 5.0, 800.0
LEFT, WIDE, LANE = 108, 636, 11
TONES = ("d-blue", "d-green", "d-amber", "d-violet", "d-red")
PHASES = {"save": "d-plain", "publish": "d-plain", "wait": "", "assemble": "", "update": "head"}
"""What the loop's figures of an iteration hold, in order: it saves and publishes what the one before has learned."""


def picture() -> str:
    canvas = Canvas(562, ALT)
    canvas.text(16, 28, "The same loop, in turns and overlapped", size=15, bold=True)
    for number, (staleness, said) in enumerate(
        [(0, "rollout.max_staleness: 0, nothing runs while the learner steps"),
         (2, "rollout.max_staleness: 2, both go on at once")]
    ):  # fmt: skip
        _loop(canvas, 56 + number * 152, staleness, said)
    x = float(LEFT)
    for number, tone in enumerate(TONES):
        canvas.rect(x, 360, 12, 12, tone, radius=2)
        canvas.note(x + 17, 371, f"version {number}")
        x += 86
    canvas.rect(x, 360, 12, 12, "head", radius=2)
    canvas.note(x + 17, 371, "update")
    canvas.rect(x + 70, 360, 12, 12, "d-plain", radius=2)
    canvas.note(x + 87, 371, "save, publish")
    _curve(canvas, 410)
    return canvas.svg


def _loop(canvas: Canvas, top: float, staleness: int, said: str) -> None:
    episodes: list[Trajectory] = []
    rows = (
        _paced()
        .run(GROUPS, staleness, ITERATIONS, 0.84, seed=4, concurrency=SLOTS, learner_s=LEARNER_S, watch=episodes.append)
        .rows
    )
    scale = WIDE / SECONDS
    canvas.text(16, top, said, bold=True)
    canvas.note(16, top + 24, f"{SLOTS} slots of")
    canvas.note(16, top + 40, "episodes")
    for lane, trajectory in _lanes(episodes):
        y = top + 12 + lane * LANE
        for turn in trajectory.turns:
            begin, end = turn.began, min(turn.began + turn.seconds["total"], SECONDS)
            if begin < SECONDS:
                tone = TONES[turn.response.versions[0] % len(TONES)]
                canvas.rect(LEFT + begin * scale, y, max((end - begin) * scale - 0.6, 0.6), LANE - 2, tone, radius=1)
    y = top + 12 + SLOTS * LANE + 4
    canvas.note(16, y + 11, "learner")
    now = 0.0
    for row in rows:
        for phase, tone in PHASES.items():
            seconds = row.get(f"seconds_{phase}", 0.0)
            if tone and now < SECONDS:
                canvas.rect(LEFT + now * scale, y, min(seconds, SECONDS - now) * scale, 13, tone, radius=1)
            now += seconds


def _lanes(episodes: Sequence[Trajectory]) -> list[tuple[int, Trajectory]]:
    """Each episode with a slot that is free when it begins."""
    free = [0.0] * SLOTS
    found = []
    for trajectory in sorted(episodes, key=lambda each: each.turns[0].began):
        began, last = trajectory.turns[0].began, trajectory.turns[-1]
        lane = next(at for at, when in enumerate(free) if when <= began)
        free[lane] = last.began + last.seconds["total"]
        found.append((lane, trajectory))
    return found


def _curve(canvas: Canvas, top: float) -> None:
    """Mean and largest staleness by slots, from `benchmarks/results/async_loop.json`."""
    rows = json.loads((ROOT / "benchmarks/results/async_loop.json").read_text())["rows"]
    stale: defaultdict[int, list[float]] = defaultdict(list)
    for row in rows:
        slots, _, noun = str(row.get("crowded", "")).partition(" ")
        if noun == "slots":
            stale[int(slots)].append(row["staleness_mean"])
    height, bound = 100, 2
    base = top + 20 + height
    seeds = max(map(len, stale.values()))
    canvas.text(16, top, f"Tokens are so many versions old, by slots ({seeds} seeds)", bold=True)
    canvas.note(744, top, "benchmarks/async_loop.py --paced", anchor="end")
    for value in range(bound + 1):
        y = base - value * height / bound
        canvas.line((LEFT, y), (LEFT + WIDE, y), width=0.7, dashed=value == bound)
        canvas.note(LEFT - 8, y + 4, f"{value}", anchor="end")
    canvas.note(16, base - height + 4, "the bound")
    most = max(stale)
    points = [
        (LEFT + slots / most * (WIDE - 40), base - mean(found) * height / bound)
        for slots, found in sorted(stale.items())
    ]
    canvas.line(*points, tone="s-blue", width=2)
    for (x, y), (slots, found) in zip(points, sorted(stale.items()), strict=True):
        canvas.dot(x, y, 4, "d-blue")
        canvas.text(x, y - 9, f"{mean(found):.2f}", size=SMALL, anchor="middle")
        canvas.note(x, base + 17, f"{slots}", anchor="middle")


def _paced() -> Any:
    """The benchmark, which is a script beside others that it imports."""
    folder = str(ROOT / "benchmarks")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module("paced")
