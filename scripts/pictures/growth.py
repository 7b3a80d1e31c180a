"""How time and memory grow with the work, from `benchmarks/results/growth.json`: `docs/scaling.md`."""

from __future__ import annotations

import json
from typing import Any

from scripts.pictures import ROOT
from scripts.pictures.canvas import Canvas

RESULTS = ROOT / "benchmarks" / "results" / "growth.json"
CASES = {
    "sessions": "browser sessions",
    "prompts": "prompts of an episode",
    "record": "an episode's record",
    "turns": "an update, by turns",
    "group_size": "an update, by group",
    "trajectories": "a run's trajectories",
    "listed": "the viewer's first list",
    "list_pages": "its further pages",
    "tasks": "a file of tasks",
}
LEAST, MOST = -0.5, 2.0
"""Exponents at the sides of a panel; what an interval has beyond them is cut."""
PANELS = {"seconds": (190, "time", "blue"), "bytes": (480, "memory", "green")}
WIDE, TOP, GAP = 250, 84, 27


def picture() -> str:
    rows = {row["case"]: row for row in json.loads(RESULTS.read_text())["rows"] if row["measure"] == "exponents"}
    told = []
    for what, (_, said, _) in PANELS.items():
        exponent, case = max((rows[case][what], case) for case in CASES)
        told.append(f"of {said} at most {exponent:.2f} ({CASES[case]})")
    canvas = Canvas(
        TOP + GAP * len(CASES) + 50, f"Exponents of {len(CASES)} parts of webdojo against their work: {', '.join(told)}"
    )
    canvas.text(16, 28, "Twice the work takes twice as much where the exponent is 1", size=15, bold=True)
    canvas.note(744, 28, "benchmarks/growth.py", anchor="end")
    for number, said in enumerate(CASES.values()):
        canvas.text(176, TOP + 18 + number * GAP, said, anchor="end")
    for what, (left, said, tone) in PANELS.items():
        _panel(canvas, rows, what, left, tone)
        canvas.note(left, 62, f"exponent of {said}")
    canvas.note(190, TOP + GAP * len(CASES) + 38, "dots with their 95 % intervals")
    return canvas.svg


def _panel(canvas: Canvas, rows: dict[str, Any], what: str, left: float, tone: str) -> None:
    def x(exponent: float) -> float:
        return left + WIDE * (min(max(exponent, LEAST), MOST) - LEAST) / (MOST - LEAST)

    bottom = TOP + GAP * len(CASES)
    for exponent in (0.0, 0.5, 1.0, 1.5, 2.0):
        canvas.line((x(exponent), TOP - 8), (x(exponent), bottom), width=2 if exponent == 1 else 0.7)
        canvas.note(x(exponent), bottom + 18, f"{exponent:g}", anchor="middle")
    for number, case in enumerate(CASES):
        y = TOP + 14 + number * GAP
        low, high = rows[case][f"interval_{what}"]
        if low == high == 0:
            canvas.note(x(0) + 8, y + 4, "too little to measure")
            continue
        canvas.line((x(low), y), (x(high), y), tone=f"s-{tone}", width=2)
        canvas.dot(x(rows[case][what]), y, 5, f"d-{tone}")
