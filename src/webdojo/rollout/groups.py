"""Groups of episodes without a barrier: a free slot starts the next episode at once.

`finished_groups` keeps up to `concurrency` episodes running and yields a group when its last
member ends. Every started episode ends in exactly one yielded group, unless the consumer leaves
early, which cancels what runs. `effective` says whether a group can train, and why not.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncGenerator, Callable, Container, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

from webdojo.errors import TaskError
from webdojo.types import Task, Trajectory

SPREAD = 1e-6
"""Rewards closer than this count as equal (DAPO)."""


@dataclass
class Group:
    """G episodes of one task, each with its reward."""

    id: str
    task: Task
    trajectories: list[Trajectory] = field(default_factory=list)

    @property
    def rewards(self) -> list[float]:
        """Reward values of the valid members."""
        return [t.reward.value for t in self.trajectories if t.reward is not None and t.reward.valid]

    @property
    def versions(self) -> list[int]:
        """The weight versions that sampled the group, lowest first."""
        return sorted({version for trajectory in self.trajectories for version in trajectory.versions})


@dataclass(frozen=True)
class GroupVerdict:
    """Whether a group trains, and the reason in a few words that can be counted."""

    keep: bool
    reason: str


def effective(group: Group, version: int, max_staleness: int) -> GroupVerdict:
    """Dynamic sampling (DAPO; OpenWebRL §4.4) with a bound on age.

    A group trains if at least two members are valid, their rewards differ, and none of its tokens
    was sampled more than `max_staleness` versions before `version`.
    """
    rewards = group.rewards
    if len(rewards) < 2:
        causes = sorted({str(t.termination) for t in group.trajectories if t.termination.is_infra})
        return GroupVerdict(False, f"fewer than 2 valid members ({', '.join(causes)})")
    if max(rewards) - min(rewards) <= SPREAD:
        return GroupVerdict(False, f"all rewards {rewards[0]:g}")
    if version - group.versions[0] > max_staleness:
        return GroupVerdict(False, "too stale")
    return GroupVerdict(True, "effective")


class TaskStream:
    """An endless seeded order over tasks: each pass is a new shuffle.

    `position` counts the tasks handed out or passed over; a stream made with that position goes on from there.

    Args:
        blocked: the hosts whose tasks are passed over now, asked before each task.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        seed: int,
        position: int = 0,
        blocked: Callable[[], Container[str]] = lambda: (),
    ) -> None:
        assert tasks, "a task stream needs tasks"
        self._tasks = list(tasks)
        self._seed = seed
        self._blocked = blocked
        self.position = position
        self._order: list[int] = []
        self._epoch = -1

    def __iter__(self) -> TaskStream:
        return self

    def __next__(self) -> Task:
        """The next task.

        Raises:
            TaskError: the hosts of all tasks are blocked.
        """
        blocked = self._blocked()
        for _ in range(2 * len(self._tasks)):  # what is left of this pass, and a whole one
            if (task := self._draw()).website not in blocked:
                return task
        raise TaskError(
            f"the web sites of all {len(self._tasks)} tasks are on the blocklist (tasks.blocklist): wait until their "
            "time is over, delete the file, or add tasks of other sites"
        )

    def _draw(self) -> Task:
        epoch, index = divmod(self.position, len(self._tasks))
        if epoch != self._epoch:
            self._order = list(range(len(self._tasks)))
            random.Random(f"{self._seed}/{epoch}").shuffle(self._order)
            self._epoch = epoch
        self.position += 1
        return self._tasks[self._order[index]]


class RunEpisode(Protocol):
    """Runs one episode, scores it and stores it; infra failures come back as invalid trajectories."""

    def __call__(self, task: Task, group: str, trajectory_id: str) -> Coroutine[Any, Any, Trajectory]: ...


async def finished_groups(
    run: RunEpisode,
    tasks: Iterator[Task],
    *,
    group_size: int,
    concurrency: int,
    may_start: Callable[[int], bool] = lambda unfinished: True,
) -> AsyncGenerator[Group, None]:
    """Run `group_size` episodes of each task, at most `concurrency` at once, and yield groups as they finish.

    Args:
        may_start: asked before each new group, with the number of groups begun and not yet
            yielded; once a group has begun, all its episodes run.

    An exception from `run` cancels the other episodes and propagates. Close the iterator
    (`contextlib.aclosing`) where the loop over it may be left early.
    """
    queued: deque[tuple[Group, str]] = deque()
    running: dict[asyncio.Task[Trajectory], Group] = {}
    unfinished = 0
    try:
        while True:
            while len(running) < concurrency:
                if not queued:
                    task = next(tasks, None) if may_start(unfinished) else None
                    if task is None:
                        break
                    group = Group(id=f"{task.id}-{uuid4().hex[:12]}", task=task)
                    queued += [(group, f"{group.id}-{member}") for member in range(group_size)]
                    unfinished += 1
                group, name = queued.popleft()
                running[asyncio.create_task(run(group.task, group.id, name))] = group
            if not running:
                return
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for finished in done:
                group = running.pop(finished)
                group.trajectories.append(finished.result())
                if len(group.trajectories) == group_size:
                    unfinished -= 1
                    group.trajectories.sort(key=lambda trajectory: int(trajectory.id.rpartition("-")[2]))
                    yield group
    finally:
        for episode in running:
            episode.cancel()
        await asyncio.gather(*running, return_exceptions=True)
