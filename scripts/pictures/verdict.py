"""How a task of the embedded web is judged, by the verdict's own code on several sessions: `docs/sites.md`."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from scripts.pictures.canvas import SMALL, Canvas
from scripts.pictures.record import recorded
from webdojo.sites.verdict import Verdict, evaluate
from webdojo.types import Trajectory

ALT = (
    "A task with three facts, and four ends of an episode: the recorded one has reward 1; one without the answer done, "
    "one that bought two, and one that also changed something else have 0"
)
LEFT, FIRST, COLUMN = 16, 300, 112


def picture() -> str:
    episode = recorded()[0]
    task = episode.task
    facts = task.evaluator["facts"]
    ends = list(_ends(episode))
    canvas = Canvas(396, ALT)
    canvas.text(LEFT, 28, "The verdict on a task of the embedded web", size=15, bold=True)
    canvas.text(LEFT, 52, f"“{task.instruction}”, on {task.website}, of difficulty {task.difficulty}", tone="soft")
    for number, (title, note, _) in enumerate(ends):
        x = FIRST + number * COLUMN + COLUMN / 2
        canvas.text(x, 88, title, size=SMALL, bold=True, anchor="middle", room=COLUMN)
        canvas.note(x, 105, note, anchor="middle", room=COLUMN)
    for row, fact in enumerate(facts):
        y = 126 + row * 44
        canvas.rect(LEFT, y, 728, 38, "plain")
        canvas.text(LEFT + 10, y + 17, fact["says"], size=SMALL, room=FIRST - LEFT)
        canvas.note(LEFT + 10, y + 32, _checked_by(fact))
        for number, (_, _, verdict) in enumerate(ends):
            _mark(canvas, FIRST + number * COLUMN + COLUMN / 2, y + 19, verdict.facts[row])
    y = 126 + len(facts) * 44
    for label, note, holds in (
        ("The agent has said done", "the answer of `done`, in any words", [_said_done(each) for *_, each in ends]),
        (
            "Nothing else was changed",
            "what the session changed, on any host",
            [_nothing_else(each) for *_, each in ends],
        ),
    ):
        canvas.rect(LEFT, y, 728, 38, "amber")
        canvas.text(LEFT + 10, y + 17, label, size=SMALL)
        canvas.note(LEFT + 10, y + 32, note)
        for number, held in enumerate(holds):
            _mark(canvas, FIRST + number * COLUMN + COLUMN / 2, y + 19, held)
        y += 44
    canvas.text(LEFT, y + 27, "reward", bold=True)
    for number, (_, _, verdict) in enumerate(ends):
        x, tone = FIRST + number * COLUMN + COLUMN / 2, "t-green" if verdict.success else "t-red"
        canvas.text(x, y + 27, f"{verdict.success:d}", size=18, bold=True, anchor="middle", tone=tone)
    return canvas.svg


def _ends(episode: Trajectory) -> list[tuple[str, str, Verdict]]:
    """The recorded end, and what else might have been."""
    task, url = episode.task, episode.final.url if episode.final else ""
    host, (thing, count) = task.website, next(iter(task.evaluator["state"].items()))

    def judged(answer: str | None, changed: dict[str, Any]) -> Verdict:
        state = deepcopy(episode.state)
        state[host]["state"] |= changed
        return evaluate(task, answer, url, state)

    return [
        ("as recorded", "", judged(episode.answer, {})),
        ("out of steps", "no done", judged(None, {})),
        ("bought two", "", judged(episode.answer, {thing: count + 1})),
        ("and a mug", "", judged(episode.answer, {"cart/coral-mug": 1})),
    ]


def _checked_by(fact: dict[str, Any]) -> str:
    """What a fact is checked against, in words."""
    match fact:
        case {"visited": [place, *_]}:
            return f"pages served: {place['path']}"
        case {"state": wanted}:
            return "changes: " + ", ".join(f"{key} is {value}" for key, value in wanted.items())
        case {"any": [{"state": wanted}, *_]}:
            return "changes: " + ", ".join(f"{key}, any number" for key in wanted)
    raise ValueError(f"no words for {fact}")


def _said_done(verdict: Verdict) -> bool:
    return verdict.reason != "the agent never said done"


def _nothing_else(verdict: Verdict) -> bool:
    return "not asked for" not in verdict.reason


def _mark(canvas: Canvas, x: float, y: float, holds: bool) -> None:
    if holds:
        canvas.line((x - 7, y), (x - 2, y + 6), (x + 8, y - 7), tone="s-green", width=3)
    else:
        canvas.line((x - 6, y - 6), (x + 6, y + 6), tone="s-red", width=3)
        canvas.line((x - 6, y + 6), (x + 6, y - 6), tone="s-red", width=3)
