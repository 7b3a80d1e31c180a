"""The judge of OpenWebRL (§4.3, A.4): one question about the task, the final answer, the last three screenshots and the
whole history of actions with the browser's feedback.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from webdojo.reward.judges.case import Case, Screen
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import MATERIAL, Judge, judged
from webdojo.reward.judges.verdict import SUCCESS, choice
from webdojo.types import Reward

SYSTEM = f"""\
You check whether a web agent has done its task. You are given the task, each action of the agent with what the
browser said about it, the last screenshots, and the agent's final answer.

Rules:
- Every requirement of the task must be met: names, dates, numbers, filters, order, and whatever was to be submitted.
- Believe the screenshots and the browser before the agent. A claim in the answer that they contradict, or that nothing
  shows, is not proven.
- An action that the browser reports as failed has not happened.
- Where the task asks a question, the answer must say what was asked, and be right.

{MATERIAL}

Explain your judgement in a few sentences. Then write the verdict alone on the last line: SUCCESS or NOT SUCCESS.
"""


class OpenWebRLJudge(Judge):
    """OpenWebRL's judge; the default shows three screenshots, as Tables 7 and 8."""

    endings: ClassVar[Mapping[bool, str]] = {True: "SUCCESS", False: "NOT SUCCESS"}

    name: str = "openwebrl"

    async def judge(self, case: Case, hearing: Hearing) -> Reward:
        user: list[str | Screen] = [
            case.instruction,
            f"History of the episode:\n{case.history()}",
            *self.last(case.screens),
            case.final_answer,
        ]
        success = await hearing.ask("verdict", SYSTEM, user, lambda text: choice(text, SUCCESS))
        return judged(success)
