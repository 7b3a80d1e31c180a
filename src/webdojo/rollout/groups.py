"""Groups of episodes, the filter that decides which of them train, and single episodes of a given list of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import uuid4

from webdojo.gather import gather_or_cancel
from webdojo.types import Task, Termination, Trajectory

RunEpisode = Callable[[Task, str, str], Coroutine[Any, Any, Trajectory]]
"""Takes a task, a group's id and the trajectory's; runs the episode, scores it and stores it. Infrastructure failures
come back as invalid trajectories."""

SPREAD = 1e-6
"""Rewards closer than this count as equal (DAPO)."""


@dataclass
class Group:
    """G episodes of one task, each with its reward."""

    id: str
    task: Task
    trajectories: list[Trajectory] = field(default_factory=list)
    number: int = 0
    """The place of its task in the `TaskStream` that it was drawn from."""
    began: int = 0
    """The weight version that served when its first episode started; none of its tokens is older."""

    @property
    def rewards(self) -> list[float]:
        """Of the valid members."""
        return [t.reward.value for t in self.trajectories if t.reward is not None and t.reward.valid]

    @property
    def versions(self) -> list[int]:
        """The weight versions that sampled the group, lowest first."""
        return sorted({version for trajectory in self.trajectories for version in trajectory.versions})


def member_ids(group: Group, group_size: int) -> list[str]:
    return [f"{group.id}-{member}" for member in range(group_size)]


def number_of(group_id: str) -> int:
    """The place in the task order that a group's id names."""
    return int(group_id.rpartition("-")[2])


def in_order(group: Group) -> None:
    """Sort the trajectories by their number in the group, so that it does not matter which ended first."""
    group.trajectories.sort(key=lambda trajectory: int(trajectory.id.rpartition("-")[2]))


class FilterOutput(NamedTuple):
    keep: bool
    reason: str
    """A few words that can be counted."""
    advice: str = ""
    """What the user can do where this reason leaves too few groups."""


GroupFilter = Callable[[Group], FilterOutput]
"""Decides whether a group that has ended trains."""

STALE = FilterOutput(False, "too stale", "raise rollout.max_staleness")
"""The verdict on a group whose tokens have become too old, which the pool itself gives."""

_WARM_START = (
    "warm start on demonstrations (sft.demos where the environment has an oracle, else sft.data, which "
    "`webdojo record` makes) in a new --run"
)
OUT_OF_CONTEXT = FilterOutput(
    False,
    f"all members ended by {Termination.CONTEXT_LENGTH}",
    "their prompts are longer than rollout.max_context_tokens less rollout.sampling.max_tokens: raise the first, or "
    "lower the second or browser.viewport_px",
)
"""The verdict on a group none of whose members had room for another prompt."""

_SETTLED_ADVICE = {
    "0": f"the policy never succeeds: take easier tasks, a reward that gives partial credit, or a {_WARM_START}",
    "1": "the policy always succeeds: take harder tasks in a new --run",
    "-1": f"the policy does not hold the response format: take a longer {_WARM_START}",
}


def dynamic_sampling(group: Group, positives_only: bool = False) -> FilterOutput:
    """Keep a group if at least two members are valid and their rewards differ (DAPO; OpenWebRL §4.4); where the loss
    learns from `positives_only`, if one of them is positive, too."""
    rewards = group.rewards
    if len(rewards) < 2:
        return _too_few(group, 2)
    if is_settled(rewards):
        if _out_of_context(group):
            return OUT_OF_CONTEXT
        reward = f"{rewards[0]:g}"
        return FilterOutput(False, f"all rewards {reward}", _SETTLED_ADVICE.get(reward, ""))
    if positives_only and max(rewards) <= 0:
        return FilterOutput(False, "no positive reward", _SETTLED_ADVICE["0"])
    return FilterOutput(True, "effective")


def every_group(group: Group) -> FilterOutput:
    """Keep a group if a valid member has said anything, whatever its reward: fixed query batches."""
    valid = [t for t in group.trajectories if t.reward is not None and t.reward.valid and t.versions]
    if valid:
        return FilterOutput(True, "valid")
    return OUT_OF_CONTEXT if _out_of_context(group) else _too_few(group, 1)


def _out_of_context(group: Group) -> bool:
    """Whether no member could go on because its prompt was too long."""
    return all(t.termination is Termination.CONTEXT_LENGTH for t in group.trajectories)


def _too_few(group: Group, least: int) -> FilterOutput:
    causes = sorted({str(t.termination) for t in group.trajectories if t.termination.is_infra or not t.versions})
    reason = f"fewer than {least} valid member{'s' * (least > 1)} ({', '.join(causes)})"
    return FilterOutput(False, reason, "the web or the engine fails: read the errors of the stored trajectories")


def is_settled(rewards: Sequence[float]) -> bool:
    """True where all members that count have the same reward, always solved or never, so that none is better."""
    return len(rewards) >= 2 and max(rewards) - min(rewards) <= SPREAD


async def run_each(run: RunEpisode, tasks: Sequence[Task], concurrency: int) -> list[Trajectory]:
    """Run one episode of each task, at most so many at once; one that raises ends the others."""
    slots = asyncio.Semaphore(concurrency)

    async def episode(task: Task) -> Trajectory:
        async with slots:
            group = f"{task.id}-{uuid4().hex[:12]}"
            return await run(task, group, f"{group}-0")

    return await gather_or_cancel(episode(task) for task in tasks)
