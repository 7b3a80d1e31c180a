"""The judge of WebGym (§3.5, E.2–E.4): a rubric of facts, checked one by one on the screenshots that matter.

    key screenshots  each is kept if it has to do with the task; the last one always is
    blocking         a site that keeps the agent out for good makes the episode invalid
    criterion B      every claim of the final answer is shown by the screenshots; asked once
    criterion A      every fact of the rubric is shown by them; asked for each fact, up to the first that is not

A reference answer, where the task has one, overrides all of this: the answer says the same, or the episode has failed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from webdojo.gather import gather_or_cancel
from webdojo.reward.function import invalid
from webdojo.reward.judges.case import Case, Screen, quoted
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import MATERIAL, Judge, Question, failed, passed
from webdojo.reward.judges.rubric import Fact, facts_of, reference_of
from webdojo.reward.judges.verdict import SUCCESS, YES_NO, choice
from webdojo.types import Reward, Task

YES = "Say why in one or two sentences. Then write your decision alone on the last line: YES or NO."
VERDICT = "Explain your judgement. Then write the verdict alone on the last line: SUCCESS or NOT SUCCESS."

KEY_SCREENSHOT = f"""\
You sort the screenshots of a web agent's visit. You are given the agent's task, what it will be checked by, and one
screenshot. Say whether the screenshot has anything to do with the task: a step of the agent, progress, results, an
error, or a page that keeps it out. Say NO only for what clearly has not, such as a start page without any trace of the
task, a page about something else, or an empty screen. If in doubt, say YES.

{MATERIAL}

{YES}
"""

BLOCKING = f"""\
You decide whether a web site has shut a web agent out. You are given the task, the agent's actions with what the
browser said about them, and screenshots.

It has if a measure against robots stands in the way that no navigation gets around: a CAPTCHA that stays, a check of
the browser that does not end, access that is denied again and again, a demand to prove that one is human.
It has not if the agent clicked the wrong thing, got lost or did not find what it looked for; if a page was slow,
missing (404) or without results; or if the agent could have gone on by going back or elsewhere.

{MATERIAL}

{YES}
"""

CLAIMS = f"""\
You look for invented claims in the final answer of a web agent. You are given its task, its final answer, and
screenshots of its visit.

Rules:
- List the claims of the answer: names, numbers, dates, places, and whatever else it says about the web.
- Each must be visible in a screenshot. Agents often make up what they have not seen, so expect it.
- An answer that says that something was not found must fit what the screenshots show.
- NOT SUCCESS if any claim is not shown.

{MATERIAL}

{VERDICT}
"""

FACT = f"""\
You verify one fact about the visit of a web agent. You are given the fact, for context the task and the group that the
fact belongs to, the agent's actions with what the browser said about them, and screenshots.

Rules:
- Only the fact counts, neither the rest of the task nor what the agent answered.
- The screenshots must show it, with all of its parts; a similar thing is not enough.
- Where the fact names alternatives with "or", one of them is enough.

{MATERIAL}

{VERDICT}
"""

REFERENCE = f"""\
You compare the final answer of a web agent with the right one. You are given the task and both answers. The agent is
right if its answer says the same thing, in whatever words, format or unit, and names no other as its answer.

{MATERIAL}

{VERDICT}
"""


class WebGymJudge(Judge):
    """WebGym's evaluator. `Task.evaluator` has the rubric, `evaluator_reference`, and perhaps a `definite_answer`."""

    name: str = "webgym"
    max_images: int = Field(default=0, ge=0)
    """Most key screenshots that one question shows, the last ones; 0 shows all."""
    timeout_s: float = Field(default=600, gt=0)
    """Longest scoring of one episode; one that takes longer is invalid."""

    def check(self, task: Task) -> None:
        facts_of(task)

    def questions(self, steps: int, facts: int) -> list[Question]:
        shown = self.shown(steps + 1)
        blocking, claims, fact = Question(shown, steps), Question(shown), Question(shown, steps)
        return [*[Question(images=1)] * steps, blocking, claims, *[fact] * facts]

    async def judge(self, case: Case, hearing: Hearing) -> Reward:
        facts, reference = facts_of(case.task), reference_of(case.task)
        if reference and await _is_right(case, reference, hearing):
            return passed("the answer is the reference answer", reference=1.0)
        screens = self.last(await self._key_screenshots(case, facts, hearing))
        if await _is_blocked(case, screens, hearing):
            return invalid("blocked", "judged blocked: the site shut the agent out")
        if reference:
            return failed("the answer is not the reference answer", reference=0.0)
        supported = await hearing.ask("criterion B", CLAIMS, [case.instruction, case.final_answer, *screens], _success)
        parts = {"key_screenshots": float(len(screens)), "criterion_b": float(supported)}
        if not supported:
            return failed("criterion B: the answer claims what no screenshot shows", **parts)
        history = f"Actions of the agent:\n{case.history()}"
        for number, fact in enumerate(facts, 1):
            about = [f"Fact: {quoted(fact.text)}", *([f"Its group: {quoted(fact.group)}"] if fact.group else [])]
            user: list[str | Screen] = [*about, case.instruction, history, *screens]
            holds = await hearing.ask(f"criterion A, fact {number}", FACT, user, _success)
            parts[f"fact_{number}"] = float(holds)
            if not holds:
                return failed(f"criterion A: fact {number} of {len(facts)} is not shown: {fact.text}", **parts)
        return passed(f"criterion B and all {len(facts)} facts hold", **parts)

    async def _key_screenshots(self, case: Case, facts: Sequence[Fact], hearing: Hearing) -> list[Screen]:
        about = [case.instruction, f"What it will be checked by: {quoted([fact.text for fact in facts])}"]

        async def matters(screen: Screen) -> bool:
            return await hearing.ask(f"screenshot {screen.step}", KEY_SCREENSHOT, [*about, screen], _yes)

        *before, last = case.screens
        keep = await gather_or_cancel(matters(screen) for screen in before)
        return [*(screen for screen, kept in zip(before, keep, strict=True) if kept), last]


async def _is_right(case: Case, reference: str, hearing: Hearing) -> bool:
    if " ".join(case.answer.split()).casefold() == " ".join(reference.split()).casefold():
        return True
    user = [case.instruction, f"Right answer: {quoted(reference)}", case.final_answer]
    return await hearing.ask("reference answer", REFERENCE, user, _success)


async def _is_blocked(case: Case, screens: Sequence[Screen], hearing: Hearing) -> bool:
    user: list[str | Screen] = [case.instruction, f"Actions of the agent:\n{case.history()}", *screens]
    return await hearing.ask("blocking", BLOCKING, user, _yes)


def _success(text: str) -> bool | None:
    return choice(text, SUCCESS)


def _yes(text: str) -> bool | None:
    return choice(text, YES_NO)
