"""What a reward function is, those that come with webdojo, and the gate of OpenWebRL A.4, written once around any
verdict.

    invalid  the web, the engine or the reward function failed: the episode trains nothing (`Reward.valid`)
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
from abc import abstractmethod
from typing import ClassVar

from pydantic import Field

from webdojo.errors import ConfigError, Failure, TaskError
from webdojo.plugins import Plug, Registry, derived_from
from webdojo.types import ImageSource, Reward, Task, Termination, Trajectory

logger = logging.getLogger("webdojo")


class RewardFunction(Plug):
    """Judges finished episodes. Derive a class, give it options as fields, and write `score`."""

    scores_unfinished: ClassVar[bool] = False
    """Whether `score` is asked about unfinished episodes too, for `Reward.facts` and `Reward.valid`; their value is 0
    whatever it says. A judge that costs money need not be asked."""

    max_concurrency: int = Field(default=16, ge=1)
    """Episodes that are scored at once."""
    timeout_s: float = Field(default=120, gt=0)
    """Longest scoring of one episode; one that takes longer is invalid."""
    format_reward: bool = True
    """-1 for an episode that ended by repeated format errors, and 0 for one with a format error in any turn (OpenWebRL
    A.4); false is the verdict alone."""

    def needs_answer(self, task: Task) -> bool:
        """Whether an episode whose agent gave no answer has failed without being judged (OpenWebRL A.4)."""
        return True

    def check(self, task: Task) -> None:
        """Raise a TaskError that says why, before the task runs, where it cannot be scored."""

    def resolved(self, own: RewardFunction | None, environment: str) -> RewardFunction:
        """The function that scores the episodes of an environment, whose own reward is `own`: this one."""
        return self

    @abstractmethod
    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        """The verdict on an episode that has ended.

        Whatever it raises, other than ConfigError and TaskError, makes the episode invalid, and never 0.

        Args:
            trajectory: has its task, turns, answer, the final screen, and the environment's final state.
            images: the episode's screenshots by their hash.
        """


class Scorer:
    """Scores the episodes of a run: at most `max_concurrency` at once, behind the gate."""

    def __init__(self, function: RewardFunction, images: ImageSource) -> None:
        self._function = function
        self._images = images
        self._slots = asyncio.Semaphore(function.max_concurrency)

    async def score(self, trajectory: Trajectory) -> None:
        """Set `trajectory.reward`; where the reward function fails, also what failed."""
        termination, function = trajectory.termination, self._function
        if termination.is_infra:
            trajectory.reward = _invalid(f"{termination}: {trajectory.error}")
        elif termination is Termination.FORMAT_ERROR:
            value = -1.0 if function.format_reward else 0.0
            trajectory.reward = Reward(value=value, success=False, reason="repeated format errors")
        elif (reason := self._unfinished(trajectory)) and not function.scores_unfinished:
            trajectory.reward = Reward(value=0.0, success=False, reason=reason)
        else:
            async with self._slots:
                verdict = await self._verdict(trajectory)
            trajectory.reward = _gated(trajectory, verdict, reason, function.format_reward)

    def _unfinished(self, trajectory: Trajectory) -> str:
        """Why an episode counts as unfinished; empty where it is finished."""
        if trajectory.termination is not Termination.COMPLETED:
            return f"unfinished: {trajectory.termination}"
        silent = trajectory.answer is not None and not trajectory.answer.strip()
        return "no answer" if silent and self._function.needs_answer(trajectory.task) else ""

    async def _verdict(self, trajectory: Trajectory) -> Reward:
        function = self._function
        try:
            async with asyncio.timeout(function.timeout_s):
                return await function.score(trajectory, self._images)
        except (ConfigError, TaskError):
            raise
        except TimeoutError:
            error = f"no verdict within {function.timeout_s:g} s (reward.timeout_s)"
        except Exception as failure:  # code of a plug: whatever it raises is its failure, not the agent's
            error = f"{type(failure).__name__}: {failure}"
            trajectory.diagnostics["reward"] = traceback.format_exc()
            logger.debug("reward of episode %s failed", trajectory.id, exc_info=True)
        trajectory.failure, trajectory.error = Failure.REWARD_FAILED, " ".join(error.split())
        return _invalid(f"reward {function.name!r} failed: {trajectory.error}")


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


def _invalid(reason: str) -> Reward:
    return Reward(value=0.0, success=False, valid=False, reason=reason)


class Rules(RewardFunction):
    """1 where the evaluator of a task of the embedded sites finds its goal reached in the final state, else 0.

    An episode that failed after a perturbation that no agent can pass is invalid; what can be passed is the agent's own
    affair. `Reward.facts` says how far an episode came, however it ended; it earns nothing.
    """

    name: str = "rules"

    scores_unfinished: ClassVar[bool] = True

    def needs_answer(self, task: Task) -> bool:
        return False  # a fact about the answer says so itself

    def check(self, task: Task) -> None:
        if not task.evaluator or "type" in task.evaluator:
            has = f"an evaluator of type {task.evaluator['type']!r}" if task.evaluator else "no evaluator"
            raise TaskError(f"task {task.id!r} has {has}, so rules cannot score it: name another reward")

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        from webdojo.sites.perturbations.schedule import permanent_failure
        from webdojo.sites.verdict import evaluate  # it brings every kind of site, and a recipe names its reward

        self.check(trajectory.task)
        url = trajectory.final.url if trajectory.final is not None else ""
        verdict = evaluate(trajectory.task, trajectory.answer, url, trajectory.state)
        success = verdict.success and trajectory.termination is Termination.COMPLETED
        if not success and (cause := permanent_failure(trajectory.state)):
            return Reward(value=0.0, success=False, valid=False, reason=f"the web failed: {cause}")
        names = [fact["says"] for fact in trajectory.task.evaluator["facts"]]
        return Reward(
            value=float(success), success=success, reason=verdict.reason, facts=list(verdict.facts), fact_names=names
        )


class EnvironmentReward(RewardFunction):
    """The environment's own verdict."""

    name: str = "env"

    def resolved(self, own: RewardFunction | None, environment: str) -> RewardFunction:
        """The environment's own reward; a ConfigError where it has none."""
        if own is None:
            raise ConfigError(
                f"reward.name is 'env', and the environment {environment!r} has no verdict of its own: name a reward, "
                "such as reward.name=./my_reward.py:MyReward"
            )
        return own.model_copy(update=self.model_dump(include={"max_concurrency", "timeout_s", "format_reward"}))

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        raise AssertionError("an environment's reward scores in its place (`resolved`)")


REWARDS: Registry[type[RewardFunction]] = Registry(
    "webdojo.rewards", "reward", *derived_from(RewardFunction), {"env": EnvironmentReward, "rules": Rules}
)
"""What `reward.name` of a recipe may be."""
