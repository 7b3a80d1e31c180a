"""The evaluator of AgentTrek: one question about the goal, what the agent thought and did in each step, and the last
screenshot. It is lenient: its figures cannot be compared with those of WebJudge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from webdojo.reward.judges.case import Case, Screen
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import MATERIAL, Judge, judged
from webdojo.reward.judges.verdict import STATUS, choice
from webdojo.types import Reward, Task

SYSTEM = f"""\
You decide from the record of a web agent whether it has reached its user's goal. You are given the goal, the agent's
thoughts and actions in their order with what the browser said about them, and the last screenshot.

Rules:
- The goal is reached if the record and the last screenshot together make it plausible that every part of it is done.
- Any way that leads to the goal is good. Detours, repeated or needless actions, and small differences in wording do not
  matter.
- Where the goal asks for information, the agent must have told it to the user.
- Where a site left the goal impossible, it is not reached.

{MATERIAL}

Explain your judgement in a few sentences. Then write the last line in exactly one of these forms:
Status: success
Status: failure
"""


class AgentTrekJudge(Judge):
    """AgentTrek's evaluator, which OpenWebRL reports beside WebJudge."""

    endings: ClassVar[Mapping[bool, str]] = {True: "Status: success", False: "Status: failure"}

    name: str = "agenttrek"
    max_images: int = Field(default=1, ge=0)
    """Most screenshots that are shown, the last ones; 0 shows all."""

    def needs_answer(self, task: Task) -> bool:
        return False  # what the agent told is the last of its actions

    async def judge(self, case: Case, hearing: Hearing) -> Reward:
        user: list[str | Screen] = [
            f"Goal: {case.quoted_task}",
            f"Record of the agent:\n{case.history(thoughts=True)}",
            *self.last(case.screens),
        ]
        success = await hearing.ask("verdict", SYSTEM, user, lambda text: choice(text, STATUS, "Status"))
        return judged(success)
