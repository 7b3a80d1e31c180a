"""Groups of episodes, the order in which their tasks are drawn, and single episodes of a given list of tasks."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Container, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

from webdojo.errors import TaskError
from webdojo.types import Task, Trajectory


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
        """The reward values of the valid members."""
        return [t.reward.value for t in self.trajectories if t.reward is not None and t.reward.valid]

    @property
    def versions(self) -> list[int]:
        """The weight versions that sampled the group, lowest first."""
        return sorted({version for trajectory in self.trajectories for version in trajectory.versions})


def member_ids(group: Group, group_size: int) -> list[str]:
    """The ids of a group's trajectories, in the order of its members."""
    return [f"{group.id}-{member}" for member in range(group_size)]


def number_of(group_id: str) -> int:
    """The place in the task order that a group's id names."""
    return int(group_id.rpartition("-")[2])


def in_order(group: Group) -> None:
    """Sort the trajectories by their number in the group, so that it does not matter which ended first."""
    group.trajectories.sort(key=lambda trajectory: int(trajectory.id.rpartition("-")[2]))


class TaskStream:
    """An endless seeded order over tasks, in which each pass is a new shuffle.

    `position` counts the tasks that were handed out or passed over; a stream made with that position goes on there.

    Args:
        blocked: returns the hosts whose tasks are passed over now; it is called before each task.
        chance: the chance with which a task is drawn when its turn comes; it must be above 0 for some task.
        begun: places that are drawn whatever those two say, because an earlier stream handed them out and some of
            their episodes are stored.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        seed: int,
        position: int = 0,
        blocked: Callable[[], Container[str]] = lambda: (),
        chance: Callable[[Task], float] = lambda task: 1.0,
        begun: Container[int] = (),
    ) -> None:
        assert tasks, "a task stream needs tasks"
        self._tasks = list(tasks)
        self._seed = seed
        self._blocked = blocked
        self._chance = chance
        self._begun = begun
        self.position = position
        self._orders: dict[int, list[int]] = {}
        """The order of the pass that was asked for last."""

    def at(self, number: int) -> Task:
        """The task at a place of the order, counted from 0; `position` stays."""
        epoch, index = divmod(number, len(self._tasks))
        return self._tasks[self._order(epoch)[index]]

    def draw(self) -> int:
        """The place of the next task.

        Raises:
            TaskError: the hosts of all tasks are blocked.
        """
        blocked, first = self._blocked(), self.position
        while True:
            number, self.position = self.position, self.position + 1
            task = self.at(number)
            if number in self._begun:
                return number
            if task.website not in blocked and random.Random(f"{self._seed}/{number}").random() < self._chance(task):
                return number
            if self.position == first + len(self._tasks):
                able = [task for task in self._tasks if self._chance(task) > 0]
                if all(task.website in blocked for task in able):
                    raise TaskError(
                        f"the web sites of all {len(able)} tasks are on the blocklist (tasks.blocklist): wait until "
                        "their time is over, delete the file, or add tasks of other sites"
                    )

    def _order(self, epoch: int) -> list[int]:
        if epoch not in self._orders:
            order = list(range(len(self._tasks)))
            random.Random(f"{self._seed}/{epoch}").shuffle(order)
            self._orders = {epoch: order}
        return self._orders[epoch]


class RunEpisode(Protocol):
    """Runs one episode, scores it and stores it; infrastructure failures come back as invalid trajectories."""

    def __call__(self, task: Task, group: str, trajectory_id: str) -> Coroutine[Any, Any, Trajectory]: ...


async def run_each(run: RunEpisode, tasks: Sequence[Task], concurrency: int) -> list[Trajectory]:
    """Run one episode of each task, at most so many at once; the first one that raises ends the others.

    A free slot starts the next episode at once. The trajectories come back in the order of their tasks.
    """
    slots = asyncio.Semaphore(concurrency)

    async def episode(task: Task) -> Trajectory:
        async with slots:
            group = f"{task.id}-{uuid4().hex[:12]}"
            return await run(task, group, f"{group}-0")

    episodes = [asyncio.create_task(episode(task)) for task in tasks]
    try:
        return await asyncio.gather(*episodes)
    finally:
        for each in episodes:
            each.cancel()
        await asyncio.gather(*episodes, return_exceptions=True)
