"""WebVoyager's automatic evaluation (OpenWebVoyager §3.3): one question about the task, the answer, and the last
screenshots; an episode without an answer has failed, and nothing is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from webdojo.reward.judges.case import Case, Screen
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import MATERIAL, Judge, Question, failed, judged
from webdojo.reward.judges.verdict import SUCCESS, choice
from webdojo.types import Reward, Sampling

SYSTEM = f"""\
You evaluate what a web agent has achieved. You are given a task, the agent's answer, and the last screenshots of its
visit to the web.

Rules:
- Judge by the task: if it asks for several things, every one of them is needed.
- Screenshots are authentic. Where the answer contradicts them, they are right.
- The answer may say things that no screenshot shows, because only the last ones are shown. Take these as true.
- Assume nothing else that you do not see, and do not use the web yourself.

{MATERIAL}

Explain how you come to your verdict. Then write it alone on the last line: SUCCESS or NOT SUCCESS.
"""


class WebVoyagerJudge(Judge):
    """WebVoyager's evaluator; 15 screenshots as there, while refreshed variants show 30 or all (0)."""

    endings: ClassVar[Mapping[bool, str]] = {True: "SUCCESS", False: "NOT SUCCESS"}

    name: str = "webvoyager"
    max_images: int = Field(default=15, ge=0)
    """Most screenshots that are shown, the last ones; 0 shows all."""
    sampling: Sampling = Sampling(temperature=0, max_tokens=1000, seed=42)

    def questions(self, steps: int, facts: int) -> list[Question]:
        return [Question(self.shown(steps + 1))]

    async def judge(self, case: Case, hearing: Hearing) -> Reward:
        if not case.answer.strip():
            return failed("no answer")
        return await verdict(hearing, "verdict", f"Task: {case.quoted_task}", case, self.last(case.screens))


async def verdict(hearing: Hearing, step: str, task: str, case: Case, screens: Sequence[Screen]) -> Reward:
    """The verdict on a task, or on a part of one as DeepShop has it."""
    user: list[str | Screen] = [task, case.final_answer, *screens]
    success = await hearing.ask(step, SYSTEM, user, lambda text: choice(text, SUCCESS))
    return judged(success)
