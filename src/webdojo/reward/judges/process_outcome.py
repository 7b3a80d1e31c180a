"""A judge of process and outcome, after the ideas of the Universal Verifier (arXiv 2604.06240).

    rubric    criteria that do not overlap, from the task alone, proposed once for each task of a run
    windows   every screenshot is looked at, a few together, for evidence on each criterion and for obstacles
    process   how far each criterion is met, and whether the agent or its surroundings are to blame for what is not
    outcome   whether the user has in the end what was asked for

The verdict is the outcome. The process score stands beside it in `Reward.parts`: an agent may do all steps right and
be kept from its goal, or reach it by luck. Neither question sees the other's answer, so an error of one stays there.
What both call beyond the agent's control makes the episode invalid.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, Field, PrivateAttr

from webdojo.gather import gather_or_cancel
from webdojo.reward.function import invalid
from webdojo.reward.judges.case import Case, Screen, quoted
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import MATERIAL, Judge, Question, failed, passed
from webdojo.reward.judges.verdict import choice, record
from webdojo.types import Judgement, Reward, Sampling

MOST_CRITERIA = 8

RUBRIC = f"""\
You write the rubric by which the work of a web agent on a task is scored, before the agent has begun.

Rules:
- One criterion for each thing that the task asks for, from 1 to {MOST_CRITERIA} of them, in the order of the work.
- Criteria do not overlap: no mistake may cost points twice. What follows from another criterion is none.
- Take everything from the task. Add no wishes of your own, no way of working, no politeness.
- Each can be decided from screenshots, actions and the final answer. Where something may turn out to be impossible
  or missing, finding that out and telling the user fulfils the criterion.
- Points say how much of the task a criterion is, from 1 to 5.

{MATERIAL}

Answer with one JSON object and nothing else:
{{"criteria": [{{"criterion": "...", "points": 1}}]}}
"""

WINDOW = f"""\
You collect evidence. You are given a task, numbered criteria, what a web agent did in some of its steps, and the
screenshots of these steps. Others look at the other steps.

For each criterion on which these screenshots say something, write what they show for or against it, with exact values,
and in which screenshots. Write down as obstacles what kept the agent from going on and was not of its own making:
checks for robots, log-ins without an account, errors of the site, things sold out or missing. Judge nothing yet, and
write nothing that you do not see.

{MATERIAL}

Answer with one JSON object and nothing else:
{{"evidence": [{{"criterion": 1, "shows": "...", "screenshots": [1]}}], "obstacles": ["..."]}}
"""

PROCESS = f"""\
You score how a web agent worked on a task. You are given the task, numbered criteria, all actions of the agent with
what the browser said about them, evidence that was collected from all screenshots, the last screenshot, and the
agent's final answer.

Rules:
- Score each criterion on its own, from 0 (not met) to 1 (met). Do not lower one because another failed before it.
- Believe screenshots and the browser before the agent. What nothing shows is not met.
- Where a criterion is not fully met, say who is to blame: "agent" for what it could have done otherwise, such as a
  wrong click, a filter left out, or giving up early; "environment" for what it could not change, such as a check for
  robots, an error of the site, or an item that does not exist, if it tried what can be expected. Otherwise "none".

{MATERIAL}

Answer with one JSON object and nothing else, with every criterion in it:
{{"criteria": [{{"criterion": 1, "reason": "...", "score": 1, "blame": "none"}}]}}
"""

OUTCOME = f"""\
You decide whether the user of a web agent has in the end what was asked for. You are given the task, all actions of the
agent with what the browser said about them, evidence that was collected from all screenshots, the last screenshots, and
the agent's final answer.

Rules:
- How the agent got there does not matter. All that was asked for does, and nothing beyond it counts in its favour.
- Believe screenshots and the browser before the agent. An answer that no evidence supports is not right.
- Something bought, sent, changed or deleted that the user has not asked for is a failure.
- PREVENTED is for a task that the agent could not do because of the site or the web (a check for robots, a server that
  fails, a log-in without an account) although it did what can be expected, and said so or had no chance to.
  Mistakes of its own, and giving up, are a FAILURE.

{MATERIAL}

Explain your judgement. Then write the last line in exactly one of these forms:
Outcome: SUCCESS
Outcome: FAILURE
Outcome: PREVENTED
"""

OUTCOMES = {"SUCCESS": "success", "FAILURE": "failure", "PREVENTED": "prevented"}


class Criterion(BaseModel, strict=True):
    """One thing that the task asks for."""

    criterion: str = Field(pattern=r"\S")
    points: float = Field(ge=1, le=5)


class Rubric(BaseModel, strict=True):
    criteria: list[Criterion] = Field(min_length=1, max_length=MOST_CRITERIA)


class Evidence(BaseModel, strict=True):
    """What some screenshots show about a criterion, which is named by its number from 1 on."""

    criterion: int
    shows: str
    screenshots: list[int]


class Findings(BaseModel, strict=True):
    """What one window of screenshots shows."""

    evidence: list[Evidence]
    obstacles: list[str]


class Score(BaseModel, strict=True):
    """How far a criterion is met, and who is to blame for what is not."""

    criterion: int
    reason: str
    score: float = Field(ge=0, le=1)
    blame: Literal["none", "agent", "environment"]


class Scores(BaseModel, strict=True):
    criteria: list[Score]


@dataclass
class Proposed:
    """The rubric of a task, asked for once however many of its episodes are judged at once."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    rubric: Rubric | None = None
    asked: list[Judgement] = field(default_factory=list)


class ProcessOutcomeJudge(Judge):
    """Process and outcome, each on its own, from all screenshots."""

    name: str = "process_outcome"
    max_images: int = Field(default=3, ge=0)
    """Most screenshots that the outcome is asked with, the last ones; 0 shows all."""
    window: int = Field(default=6, ge=1)
    """Screenshots that are looked at together; every screenshot of the episode is in one window."""
    sampling: Sampling = Sampling(temperature=0, max_tokens=4096)
    timeout_s: float = Field(default=600, gt=0)
    """Longest scoring of one episode; one that takes longer is invalid."""

    _rubrics: defaultdict[str, Proposed] = PrivateAttr(default_factory=lambda: defaultdict(Proposed))

    def questions(self, steps: int, facts: int) -> list[Question]:
        screens = steps + 1
        sizes = [min(self.window, screens - start) for start in range(0, screens, self.window)]
        windows = [Question(size, min(size, steps), answers=1) for size in sizes]
        process = Question(images=1, steps=steps, answers=1 + len(windows))
        outcome = Question(self.shown(screens), steps, answers=len(windows))
        return [Question(), *windows, process, outcome]

    async def judge(self, case: Case, hearing: Hearing) -> Reward:
        criteria = (await self._rubric(case, hearing)).criteria
        about = [case.instruction, f"Criteria: {quoted({n: c.criterion for n, c in enumerate(criteria, 1)})}"]
        starts = range(0, len(case.screens), self.window)
        windows = [case.screens[start : start + self.window] for start in starts]
        found = await gather_or_cancel(_evidence(case, about, screens, len(criteria), hearing) for screens in windows)
        evidence = f"Evidence from all screenshots: {quoted([findings.model_dump() for findings in found])}"
        history = [f"Actions of the agent:\n{case.history()}", evidence]
        end: list[str | Screen] = [*case.screens[-1:], case.final_answer]
        scores = await hearing.ask(
            "process", PROCESS, [*about, *history, *end], lambda text: _scores(text, len(criteria))
        )
        seen: list[str | Screen] = [case.instruction, *history, *self.last(case.screens), case.final_answer]
        outcome = await hearing.ask("outcome", OUTCOME, seen, lambda text: choice(text, OUTCOMES, "Outcome"))
        return _reward(criteria, scores, outcome)

    async def _rubric(self, case: Case, hearing: Hearing) -> Rubric:
        proposed = self._rubrics[case.instruction]
        async with proposed.lock:
            if proposed.rubric is not None:
                hearing.recall(proposed.asked)
                return proposed.rubric
            rubric = await hearing.ask("rubric", RUBRIC, [case.instruction], lambda text: record(text, Rubric))
            proposed.rubric, proposed.asked = rubric, hearing.judgements
        return rubric


async def _evidence(
    case: Case, about: Sequence[str], screens: Sequence[Screen], criteria: int, hearing: Hearing
) -> Findings:
    first, last = screens[0].step, screens[-1].step
    steps = f"Actions of these steps:\n{case.history(steps=range(first, last + 1))}"
    name = f"screenshots {first}-{last}"
    return await hearing.ask(name, WINDOW, [*about, steps, *screens], lambda text: _findings(text, criteria))


def _findings(text: str, criteria: int) -> Findings | None:
    found = record(text, Findings)
    if found is None or any(not 1 <= each.criterion <= criteria for each in found.evidence):
        return None
    return found


def _scores(text: str, criteria: int) -> list[Score] | None:
    """One score for each criterion, in their order."""
    found = record(text, Scores)
    if found is None or [score.criterion for score in found.criteria] != list(range(1, criteria + 1)):
        return None
    return found.criteria


def _reward(criteria: Sequence[Criterion], scores: Sequence[Score], outcome: str) -> Reward:
    earned = sum(criterion.points * score.score for criterion, score in zip(criteria, scores, strict=True))
    beyond = [score for score in scores if score.score < 1 and score.blame == "environment"]
    parts = {
        "process": earned / sum(criterion.points for criterion in criteria),
        "outcome": float(outcome == "success"),
        "uncontrollable": float(len(beyond)),
    }
    parts |= {f"criterion_{score.criterion}": score.score for score in scores}
    if outcome == "success":
        return passed("the outcome is what was asked for", **parts)
    if outcome == "prevented" and beyond:
        return invalid("uncontrollable", "judged to be prevented by what the agent could not change", **parts)
    return failed("the outcome is not what was asked for", **parts)
