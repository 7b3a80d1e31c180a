"""The gate of OpenWebRL A.4, written once around any verdict.

    invalid  the web, the engine or the reward function failed, or the site keeps robots out: the episode trains
             nothing (`Reward.valid`)
    -1       the episode ended by repeated format errors
     0       it did not finish, gave no answer where one is needed, or any of its turns had a format error
    verdict  otherwise: what the reward function says

Without `format_reward` format errors cost nothing by themselves, and no reward is below 0 (WebAgent-R1 §2.1; WebGym
§5.1).

An episode is finished when the agent called `done`, or when the environment itself ended it. The paper's
format score F is 1 only if every turn parsed without an error, not only the last one. `Reward.success` is the verdict
alone, so that a recovered format error costs the agent its training reward but does not hide that the task was done.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from inspect import isawaitable
from pathlib import Path
from typing import Self

from webdojo.errors import BudgetError, ConfigError, EngineRefused, Failure, TaskError
from webdojo.plugins import BUGS
from webdojo.reward.function import RewardFunction, invalid
from webdojo.types import ImageSource, Reward, Termination, Trajectory

GRACE_S = 10.0
"""How long verdicts that are under way at the end of a run, and are paid for, may take to come in."""

logger = logging.getLogger("webdojo")


class Scorer:
    """Scores the episodes of a run: at most `max_concurrency` at once, behind the gate.

    An async context manager around everything that it scores. `folder` is where the function may keep what outlives
    the process, such as what it has spent and was answered. A verdict that costs something and is under way when its
    episode is cancelled still comes in, so that what was paid for is kept.
    """

    def __init__(self, function: RewardFunction, images: ImageSource, folder: Path | None = None) -> None:
        self.function = function
        self._images = images
        self._folder = folder
        self._slots = asyncio.Semaphore(function.max_concurrency)
        self._under_way: set[asyncio.Task[Reward]] = set()

    async def __aenter__(self) -> Self:
        await self.function.start(self._folder)
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=GRACE_S)
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self.function.close()

    async def score(self, trajectory: Trajectory) -> bool:
        """Set `trajectory.reward`; where the reward function fails, also what failed. Returns whether that function
        was asked for its verdict."""
        termination, function = trajectory.termination, self.function
        if termination.is_infra:
            trajectory.reward = invalid(trajectory.failure or str(termination), f"{termination}: {trajectory.error}")
        elif termination is Termination.FORMAT_ERROR:
            value = -1.0 if function.format_reward else 0.0
            trajectory.reward = Reward(value=value, success=False, reason="repeated format errors")
        elif (reason := self._unfinished(trajectory)) and not function.scores_unfinished:
            excused = function.excuse(trajectory)
            trajectory.reward = excused or Reward(value=0.0, success=False, reason=reason)
        else:
            async with self._slots:
                verdict = await (self._paid(trajectory) if self.function.costs else self._verdict(trajectory))
            trajectory.reward = _gated(trajectory, verdict, reason, function.format_reward)
            return True
        return False

    def _unfinished(self, trajectory: Trajectory) -> str:
        """Why an episode counts as unfinished; empty where it is finished."""
        if trajectory.termination is not Termination.COMPLETED:
            return f"unfinished: {trajectory.termination}"
        silent = trajectory.answer is not None and not trajectory.answer.strip()
        return "no answer" if silent and self.function.needs_answer(trajectory.task) else ""

    async def _paid(self, trajectory: Trajectory) -> Reward:
        task = asyncio.create_task(self._verdict(trajectory))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def _verdict(self, trajectory: Trajectory) -> Reward:
        function = self.function
        try:
            async with asyncio.timeout(function.timeout_s):
                scoring: object = function.score(trajectory, self._images)
                if not isawaitable(scoring):
                    raise ConfigError(f"reward {function.name!r}: score must be `async def`")
                found: object = await scoring
            if not isinstance(found, Reward):
                raise TypeError(
                    f"score gave {found!r} and must give a webdojo.Reward, such as Reward(value=0.5, success=False)"
                )
            return found
        except (ConfigError, TaskError, BudgetError, EngineRefused):
            raise
        except TimeoutError:
            where, error = "", f"no verdict within {function.timeout_s:g} s (reward.timeout_s)"
        except Exception as failure:  # code of a plug: whatever it raises is its failure, not the agent's
            where, error = function.culprit(failure), f"{type(failure).__name__}: {failure}"
            trajectory.diagnostics |= {"reward": traceback.format_exc(), "bug": isinstance(failure, BUGS)}
            logger.debug("reward of episode %s failed", trajectory.id, exc_info=True)
        trajectory.failure, trajectory.error = Failure.REWARD_FAILED, " ".join(error.split())
        return invalid(Failure.REWARD_FAILED, f"reward {function.name!r} failed{where}: {trajectory.error}")


def _gated(trajectory: Trajectory, verdict: Reward, unfinished_because: str, format_reward: bool) -> Reward:
    if not verdict.valid:
        return verdict
    reward = verdict.model_copy()
    if unfinished_because:
        reward.value, reward.success, reward.reason = 0.0, False, unfinished_because
    malformed = next((n for n, turn in enumerate(trajectory.turns, 1) if turn.parsed.error is not None), None)
    if malformed is not None and format_reward:
        reward.value, reward.reason = 0.0, f"format error in turn {malformed}; {reward.reason}"
    return reward
