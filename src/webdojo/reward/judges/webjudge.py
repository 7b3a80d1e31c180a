"""WebJudge of Online-Mind2Web: the key points of the task, a score for each screenshot, and a verdict on the history of
actions with the screenshots that matter.
"""

from __future__ import annotations

from pydantic import Field

from webdojo.gather import gather_or_cancel
from webdojo.reward.judges.case import Case, Screen, quoted
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import MATERIAL, Judge, Question, judged
from webdojo.reward.judges.verdict import STATUS, before_last_line, choice, said
from webdojo.types import Reward, Task

KEY_POINTS = f"""\
You read tasks for web agents and write down what must be fulfilled for each: filters, sort orders, names, numbers,
dates, places, and actions. Take only what the task itself says; add nothing, and leave nothing out. A superlative such
as cheapest or newest is a key point of its own, which a sort order fulfils.

{MATERIAL}

Answer with a numbered list of key points, one a line, and nothing else.
"""

SCREENSHOT = f"""\
You say how much a screenshot from the visit of a web agent tells about whether its task is being done. You are given
the task, its key points, and one screenshot.

1: it has nothing to do with the task
2: it is loosely about the task, and shows no step of it
3: it may show a step or evidence, but is unclear or incomplete
4: it shows a necessary step or evidence
5: it shows decisive evidence that a key point is fulfilled or violated

{MATERIAL}

First say in a few sentences what it shows about which key points, with all values that matter. Then write the last line
in exactly this form, with a number from 1 to 5:
Score: N
"""

VERDICT = f"""\
You decide whether a web agent has done its task. You are given the task, its key points, all actions of the agent in
their order with what the browser said about them, and those screenshots that matter with what they were found to show.

Rules:
- Every key point must be fulfilled; one that is only nearly so, or that nothing proves, fails the task.
- A filter or a sort order counts only where it was applied and took effect, not where the values merely look right.
  A range must be as asked, neither wider nor narrower.
- Where something was to be submitted, saved, added or booked, the last step of it must have happened.
- An action that the browser reports as failed has not happened.
- Results that are empty after correct steps are not the agent's fault.

{MATERIAL}

Explain your judgement. Then write the last line in exactly one of these forms:
Status: success
Status: failure
"""

SCORES = {str(score): score for score in range(1, 6)}


class WebJudge(Judge):
    """Online-Mind2Web's judge; comparable with published figures where the model is theirs, o4-mini."""

    name: str = "webjudge"
    max_images: int = Field(default=50, ge=0)
    """Most screenshots that the verdict is asked with, the first ones that are kept; 0 shows all of these."""
    score_threshold: int = Field(default=3, ge=1, le=5)
    """Lowest score of a screenshot that is kept."""
    timeout_s: float = Field(default=600, gt=0)
    """Longest scoring of one episode; one that takes longer is invalid."""

    def needs_answer(self, task: Task) -> bool:
        return False  # it judges actions, and does not read the answer

    def questions(self, steps: int, facts: int) -> list[Question]:
        shown, screens = self.shown(steps + 1), [Question(images=1, answers=1)] * (steps + 1)
        return [Question(), *screens, Question(shown, steps, answers=1 + shown)]

    async def judge(self, case: Case, hearing: Hearing) -> Reward:
        key_points = await hearing.ask("key points", KEY_POINTS, [case.instruction], lambda text: said(text) or None)
        about = [case.instruction, f"Key points: {quoted(key_points)}"]

        async def scored(screen: Screen) -> tuple[int, str]:
            return await hearing.ask(f"screenshot {screen.step}", SCREENSHOT, [*about, screen], _score)

        scores = await gather_or_cancel(scored(screen) for screen in case.screens)
        kept = [
            (screen, reason)
            for screen, (score, reason) in zip(case.screens, scores, strict=True)
            if score >= self.score_threshold
        ]
        shown = kept[: self.max_images] if self.max_images else kept
        evidence = [part for screen, reason in shown for part in (screen, f"What it shows: {quoted(reason)}")]
        user = [*about, f"Actions of the agent:\n{case.history()}", *evidence]
        success = await hearing.ask("verdict", VERDICT, user, lambda text: choice(text, STATUS, "Status"))
        parts = {"screenshots": float(len(scores)), "screenshots_kept": float(len(shown))}
        return judged(success, **parts)


def _score(text: str) -> tuple[int, str] | None:
    score = choice(text, SCORES, "Score")
    return None if score is None else (score, before_last_line(text))
