"""The two evaluations of DeepShop: that of MolmoWeb, one question over all screenshots, and DeepShop's own, one
question for each part of the query, whose product is the verdict.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from webdojo.errors import TaskError
from webdojo.gather import gather_or_cancel
from webdojo.reward.judges.case import Case, Screen, quoted
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import MATERIAL, Judge, Question, failed, judged, passed
from webdojo.reward.judges.verdict import record
from webdojo.reward.judges.webvoyager import verdict
from webdojo.types import Reward, Sampling, Task

PARTS = ("attribute", "filter", "sort")
"""The parts of a query, as keys of `Task.evaluator`; `None` as text or an empty one is not asked for."""
ORIGINAL_IMAGES = 15

SYSTEM = f"""\
You evaluate a shopping agent. You are given its task, its final answer, and all screenshots of its visit in their
order, each with its step.

Rules:
- The product or products that the agent ends with must have every attribute that the task names.
- Every filter must have been applied, and every sort order chosen, wherever the site offers it.
- Every part of the task is needed; one that is missing fails the task.
- Where the answer contradicts the screenshots, they are right.

{MATERIAL}

Answer with one JSON object and nothing else: first "explanation", a text with your reasoning, then "success", which is
true or false.
"""


class Explained(BaseModel, strict=True):
    """What the judge answers in the variant of MolmoWeb."""

    explanation: str
    success: bool


class DeepShopJudge(Judge):
    """DeepShop's evaluation, as MolmoWeb does it or as DeepShop itself does.

    For `original`, `Task.evaluator` has `attribute`, `filter` and `sort`: the parts of the query, or "None".
    """

    name: str = "deepshop"
    variant: Literal["molmoweb", "original"] = "molmoweb"
    """`molmoweb` asks once and shows all screenshots; `original` asks about each part of the query and shows 15."""
    max_images: int = Field(default=0, ge=0)
    """Most screenshots that one question shows, the last ones; 0 shows as many as the variant does."""
    sampling: Sampling = Sampling(temperature=0, max_tokens=1000, seed=42)

    def check(self, task: Task) -> None:
        if self.variant == "original" and not _parts(task):
            raise TaskError(
                f"task {task.id!r} has none of {', '.join(PARTS)} in its evaluator, which reward.variant=original asks "
                "about: add them, or set reward.variant=molmoweb"
            )

    def questions(self, steps: int, facts: int) -> list[Question]:
        if self.variant == "molmoweb":
            return [Question(self.shown(steps + 1))]
        return [Question(min(self.max_images or ORIGINAL_IMAGES, steps + 1))] * len(PARTS)

    async def judge(self, case: Case, hearing: Hearing) -> Reward:
        if not case.answer.strip():
            return failed("no answer")
        if self.variant == "molmoweb":
            user: list[str | Screen] = [f"Task: {case.quoted_task}", case.final_answer, *self.last(case.screens)]
            success = await hearing.ask("verdict", SYSTEM, user, _success)
            return judged(success)
        self.check(case.task)
        screens = case.screens[-(self.max_images or ORIGINAL_IMAGES) :]
        queries = _parts(case.task)
        verdicts = await gather_or_cancel(
            verdict(hearing, part, f"Task: {quoted(query)}", case, screens) for part, query in queries.items()
        )
        parts = {part: reward.value for part, reward in zip(queries, verdicts, strict=True)}
        wrong = [part for part, value in parts.items() if not value]
        return (
            failed(f"judged unsuccessful: {', '.join(wrong)}", **parts)
            if wrong
            else passed("judged successful", **parts)
        )


def _parts(task: Task) -> dict[str, str]:
    """The parts of the query that are asked for."""
    queries = {part: str(task.evaluator.get(part) or "None").strip() for part in PARTS}
    return {part: query for part, query in queries.items() if query not in ("", "None")}


def _success(text: str) -> bool | None:
    found = record(text, Explained)
    return None if found is None else found.success
