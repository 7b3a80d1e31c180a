"""What the quickstart learns, over three seeds, from `benchmarks/results/quickstart.json`: `README.md`."""

from __future__ import annotations

import json

from scripts.pictures import ROOT
from scripts.pictures.canvas import SMALL, Canvas
from webdojo.recipe import load_recipe

RESULTS = ROOT / "benchmarks" / "results" / "quickstart.json"
BARS = {
    "base": (("as", "shipped"), "d-plain"),
    "sft": (("after {demos}", "demos"), "d-blue"),
    "rl": (("and then", "online RL"), "d-green"),
    "control": (("instead,", "more demos"), "d-violet"),
}
LEFT, TOP, HEIGHT = 60, 70, 190


def alt(headline: dict[str, float], seeds: int) -> str:
    base, sft, rl, control = (f"{headline[f'success_{stage}']:.0%}" for stage in BARS)
    return (
        f"Success on unseen sites over {seeds} seeds: {base} as shipped, {sft} after demonstrations, {rl} after online "
        f"RL, {control} with more demonstrations of a perfect teacher instead; and the mean reward of each seed"
    )


def picture() -> str:
    results = json.loads(RESULTS.read_text())
    headline, rows = results["headline"], results["rows"]
    demos = load_recipe("quickstart").sft.demos
    canvas = Canvas(330, alt(headline, len(rows)))
    canvas.text(16, 28, "The quickstart on two CPU cores", size=15, bold=True)
    canvas.note(744, 28, f"{len(rows)} seeds, benchmarks/quickstart.py", anchor="end")
    canvas.note(LEFT, 56, f"success on {headline['n_tasks']:.0f} tasks of unseen sites")
    _grid(canvas, LEFT, 324, ("0 %", "50 %", "100 %"))
    for number, (stage, (said, tone)) in enumerate(BARS.items()):
        x = LEFT + 16 + number * 80
        rate, low, high = (headline[f"success_{stage}{end}"] for end in ("", "_low", "_high"))
        canvas.rect(x, _y(rate), 46, HEIGHT * rate, tone, radius=2)
        canvas.line((x + 23, _y(low)), (x + 23, _y(high)), width=2)
        for end in (low, high):
            canvas.line((x + 17, _y(end)), (x + 29, _y(end)), width=2)
        canvas.text(x + 30, _y(high) - 5, f"{rate:.0%}", bold=True)
        for line, words in enumerate(said):
            words = words.format(demos=demos)
            canvas.text(x + 23, TOP + HEIGHT + 20 + line * 16, words, size=SMALL, anchor="middle", room=80)
    canvas.note(LEFT, TOP + HEIGHT + 56, "with 95 % intervals")
    left, wide = 440, 290
    canvas.note(left, 56, "mean reward by iteration")
    _grid(canvas, left, wide, ("0", "0.5", "1"))
    tones = ("s-blue", "s-green", "s-violet")
    for row, tone in zip(rows, tones[: len(rows)], strict=True):
        curve = row["reward_by_iteration"]
        canvas.line(
            *((left + at * wide / (len(curve) - 1), _y(value)) for at, value in enumerate(curve)), tone=tone, width=2
        )
    canvas.note(left, TOP + HEIGHT + 20, "1", anchor="middle")
    canvas.note(left + wide, TOP + HEIGHT + 20, f"{len(rows[0]['reward_by_iteration'])}", anchor="middle")
    canvas.note(left, TOP + HEIGHT + 56, "a line for each seed")
    return canvas.svg


def _y(rate: float) -> float:
    return TOP + HEIGHT * (1 - rate)


def _grid(canvas: Canvas, left: float, wide: float, labels: tuple[str, str, str]) -> None:
    for label, rate in zip(labels, (0.0, 0.5, 1.0), strict=True):
        canvas.line((left, _y(rate)), (left + wide, _y(rate)), width=0.7)
        canvas.note(left - 8, _y(rate) + 4, label, anchor="end")
