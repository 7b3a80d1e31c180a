"""Why a failed episode failed, in the four categories of OpenWebRL, appendix E, as a model says.

It accepts no episode, so it is no reward of a training run: `webdojo judge errors` asks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from webdojo.reward.judges.case import Case, Screen
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import MATERIAL, Judge, failed
from webdojo.reward.judges.verdict import choice
from webdojo.types import Reward, Task, Trajectory

ACCESS, REASONING, GROUNDING, JUDGE = "access", "reasoning", "grounding", "task or judge"
NAME = "error_category"
CATEGORIES = (ACCESS, REASONING, GROUNDING, JUDGE)

SYSTEM = f"""\
A web agent was given a task and its result was judged a failure. You find the first thing without which it would have
succeeded, and sort it into one of four categories:

- access: the web did not let it. A page did not load, a captcha or a wall for robots stood in the way, a login was
  needed that the agent did not have, or a site was broken.
- reasoning: it planned badly. It overlooked a requirement of the task, misread or forgot what it had seen, stopped too
  early, went round in circles, or lacked knowledge.
- grounding: it meant the right thing and did another. It clicked beside its target, typed into the wrong field, missed
  a control, or did not notice that an action had no effect.
- task or judge: the agent is not to blame. The task is ambiguous or impossible, or the agent did all that was asked and
  the judgement is wrong.

{MATERIAL}

Explain in one or two sentences what went wrong and at which step. Then write the last line in exactly one of these
forms:
Category: access
Category: reasoning
Category: grounding
Category: task or judge
"""


class ErrorCategory(Judge):
    """Sorts failed episodes: `Reward.parts` names the category, and the answer in `Reward.judgements` explains it."""

    choices: ClassVar[Mapping[str, str]] = {category.upper(): category for category in CATEGORIES}

    name: str = NAME
    max_images: int = Field(default=4, ge=0)
    """Most screenshots that are shown, the last ones; 0 shows all."""
    format_reward: bool = False
    scores_unfinished: ClassVar[bool] = True

    def needs_answer(self, task: Task) -> bool:
        return False

    def excuse(self, trajectory: Trajectory) -> Reward | None:
        return None  # a blocked or dead page is a category

    async def judge(self, case: Case, hearing: Hearing) -> Reward:
        user: list[str | Screen] = [
            case.instruction,
            f"Record of the agent:\n{case.history(thoughts=True)}",
            case.final_answer,
            *self.last(case.screens),
        ]

        def read(text: str) -> Reward | None:
            category = choice(text, self.choices, "Category")
            return failed(category, **{category: 1.0}) if category else None

        return await hearing.ask("category", SYSTEM, user, read)
