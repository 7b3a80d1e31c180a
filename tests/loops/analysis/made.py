"""Trajectories made up for the questions of `webdojo analyze`, and what a question answers about them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.store.fabricate import observation, page_image, trajectory, turn
from webdojo.loops.analysis.questions import QUESTIONS
from webdojo.loops.analysis.table import Answer, Measured, Question, Setting
from webdojo.store.images import MemoryImages
from webdojo.store.run import _row_of
from webdojo.types import Feedback, Task, ToolCall, Trajectory, Turn

IMAGES = MemoryImages()
SCREEN = page_image(IMAGES, 1, (32, 32))
CLICK = ToolCall(name="click", arguments={"x": 1, "y": 2})


def step(
    think: str = "", *calls: ToolCall, tokens: int = 10, same: bool = False, ok: bool = True, memory: str = ""
) -> Turn:
    """One turn; without calls it clicks."""
    made = turn(SCREEN, list(calls or [CLICK]), think)
    made.response.ids = list(range(tokens))
    made.same_screen = same
    made.feedback = [Feedback(ok=ok, text="said")]
    made.parsed.sections = {"Memory": memory} if memory else {}
    return made


def episode(id: str, *turns: Turn, success: bool = False, website: str = "a.test", **more: Any) -> Trajectory:
    """An episode on a web site; one that fails has answered, too, unless `more` says otherwise."""
    fields: dict[str, Any] = {"answer": "42", "termination": "completed", "difficulty": 1, "task": id} | more
    task_id = fields.pop("task")
    difficulty = fields.pop("difficulty")
    made = trajectory(id, IMAGES, success=success, turns=list(turns) or [step()], **fields)
    made.task = Task(
        id=task_id,
        instruction="Do it.",
        start_url=f"http://{website}/",
        website=website,
        kind=fields.get("kind", "shop"),
        difficulty=difficulty,
    )
    made.final = observation(SCREEN)
    return made


def asked(name: str, episodes: Iterable[tuple[str, int, Trajectory]], setting: Setting | None = None) -> Answer:
    """What the question of that name answers about episodes, each with its phase and iteration."""
    question: Question[Any] = next(question for question in QUESTIONS if question.name == name)
    measured = [
        Measured(_row_of(each, phase, iteration), question.measure(each, setting or Setting()))
        for phase, iteration, each in episodes
    ]
    return question.summarize(measured)


def rows(name: str, episodes: Iterable[tuple[str, int, Trajectory]], setting: Setting | None = None) -> list[Any]:
    """The rows of the answer as dictionaries."""
    question = next(question for question in QUESTIONS if question.name == name)
    found = asked(name, episodes, setting)
    assert not found.missing
    return [dict(zip((column.name for column in question.columns), row, strict=True)) for row in found.rows]
