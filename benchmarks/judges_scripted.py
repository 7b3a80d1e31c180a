"""Judges whose words are known beforehand: models that answer the protocols' questions, and a judge that believes the
agent.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from webdojo.policy.engine import EngineConfig, MessageModel, ServedModel
from webdojo.reward.function import RewardFunction
from webdojo.reward.judges import agenttrek, deepshop, openwebrl, process_outcome, webgym, webjudge, webvoyager
from webdojo.reward.judges.case import Case, quoted
from webdojo.reward.judges.rubric import facts_of
from webdojo.types import ImageSource, Reward, Sampling, Trajectory

REASONS = ("Screenshots, actions, feedback and answer were looked at, and each of them fits the others. " * 4)[:300]
"""What stands before a verdict: 300 characters, because two protocols repeat answers in later questions."""
YES, NO = f"{REASONS}\nYES", f"{REASONS}\nNO"
SUCCESS, NOT_SUCCESS = f"{REASONS}\nSUCCESS", f"{REASONS}\nNOT SUCCESS"

REPLIES = {
    openwebrl.SYSTEM: SUCCESS,
    webvoyager.SYSTEM: SUCCESS,
    agenttrek.SYSTEM: f"{REASONS}\nStatus: success",
    deepshop.SYSTEM: json.dumps({"explanation": REASONS, "success": True}),
    webjudge.KEY_POINTS: REASONS,
    webjudge.SCREENSHOT: f"{REASONS}\nScore: 5",
    webjudge.VERDICT: f"{REASONS}\nStatus: success",
    webgym.KEY_SCREENSHOT: YES,
    webgym.BLOCKING: NO,
    webgym.CLAIMS: SUCCESS,
    webgym.FACT: SUCCESS,
    process_outcome.WINDOW: json.dumps({"evidence": [], "obstacles": [REASONS]}),
    process_outcome.OUTCOME: f"{REASONS}\nOutcome: SUCCESS",
}
"""By system prompt, what a model says that finds every screenshot important and all well."""


class Truthful(EngineConfig):
    """An engine whose model says of each fact whether the rules find it, and to all else what `REPLIES` has.

    So the judge of WebGym stops where it should. It is told that no claim is made up: in these episodes an agent
    answers with what stands on a page that it saw, or that it is done.
    """

    name: str = "truthful"
    key_screenshots: bool = True
    """Whether screenshots have to do with the task; where not, the judge of WebGym keeps the last one alone."""

    _facts: dict[str, list[str]] = PrivateAttr(default_factory=dict)
    """By how a task is put."""
    _wrong: set[tuple[str, str]] = PrivateAttr(default_factory=set)
    """Facts that do not hold, as a question puts them, each with how its task is put."""

    def learn(self, trajectories: Iterable[Trajectory]) -> None:
        """Take the truth from the rewards of the rules; nobody is asked about an episode that the system failed."""
        for trajectory in trajectories:
            if trajectory.termination.is_infra:
                continue
            assert trajectory.reward is not None
            instruction, facts = Case(trajectory).instruction, [fact.text for fact in facts_of(trajectory.task)]
            self._facts[instruction] = facts
            for fact, holds in zip(facts, trajectory.reward.facts, strict=True):
                if not holds:
                    self._wrong.add((f"Fact: {quoted(fact)}", instruction))

    @asynccontextmanager
    async def open_messages(self, model: ServedModel, account: Path | None = None) -> AsyncIterator[MessageModel]:
        yield self

    async def say(
        self, messages: Sequence[dict[str, Any]], sampling: Sampling, keep: Callable[[str], bool] = bool
    ) -> str:
        system, user = (message["content"] for message in messages)
        texts = [part["text"] for part in user if part["type"] == "text"]
        if system == webgym.FACT:
            return NOT_SUCCESS if (texts[0], texts[1]) in self._wrong else SUCCESS
        if system == webgym.KEY_SCREENSHOT:
            return YES if self.key_screenshots else NO
        if system == process_outcome.RUBRIC:
            return json.dumps({"criteria": [{"criterion": fact, "points": 1} for fact in self._facts[texts[0]]]})
        if system == process_outcome.PROCESS:
            met = {"reason": REASONS, "score": 1, "blame": "none"}
            numbers = range(1, len(self._facts[texts[0]]) + 1)
            return json.dumps({"criteria": [{"criterion": number, **met} for number in numbers]})
        return REPLIES[system]


class Credulous(RewardFunction):
    """Believes what the agent says last: an episode that it ends itself is a success."""

    name: str = "credulous"

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        return Reward(value=1.0, success=True, reason="the agent says so")
