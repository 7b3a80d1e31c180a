"""Which task comes next: the order of the tasks, and the curriculum.

A task is drawn with a chance below 1 where the stage of the curriculum wants other difficulties than the task list has
(`train.stages`, WebGym §5.2), or its last group taught nothing (`tasks.settled_chance`). The chance never depends on
the place in the order, so an order that is gone on with is the same order.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import InitVar, dataclass
from functools import lru_cache

from webdojo.errors import TaskError
from webdojo.rollout.config import HorizonSection, StageConfig
from webdojo.rollout.groups import is_settled
from webdojo.types import Task


def stage_of(stages: Sequence[StageConfig], iteration: int) -> StageConfig | None:
    """The stage that an iteration, counted from 1, belongs to; None where there are none."""
    ends = itertools.accumulate(stage.iterations for stage in stages)
    at = next((stage for stage, end in zip(stages, ends, strict=True) if iteration <= end), None)
    return at or (stages[-1] if stages else None)


@dataclass(eq=False)
class Curriculum:
    """The horizons and the chances of tasks over a run."""

    tasks: InitVar[Sequence[Task]]
    stages: Sequence[StageConfig]
    rollout: HorizonSection
    """Has the horizon where there are no stages."""
    settled_chance: float
    """The chance of a task whose last group was all solved or all failed."""
    iteration: Callable[[], int]
    """Returns the iteration that episodes begin in now, counted from 1."""

    def __post_init__(self, tasks: Sequence[Task]) -> None:
        self._there = Counter(task.difficulty for task in tasks)
        self._settled: set[str] = set()

    def horizon(self, difficulty: int) -> int:
        """Turns that an episode that begins now may take on a task of a difficulty."""
        return (stage_of(self.stages, self.iteration()) or self.rollout).horizon(difficulty)

    def chance(self, task: Task) -> float:
        settled = self.settled_chance if task.id in self._settled else 1.0
        stage = stage_of(self.stages, self.iteration())
        if stage is None or not stage.difficulty_sampling:
            return settled
        # These give the drawn tasks the stage's ratio of difficulties; the most wanted difficulty has 1.
        wanted = {level: stage.difficulty_sampling.get(level, 1) / count for level, count in self._there.items()}
        return settled * (wanted[task.difficulty] / max(wanted.values()))

    def note(self, task_id: str, rewards: Sequence[float]) -> None:
        (self._settled.add if is_settled(rewards) else self._settled.discard)(task_id)


@dataclass(eq=False)
class TaskStream:
    """An endless seeded order over tasks, in which each pass is a new shuffle."""

    tasks: Sequence[Task]
    seed: int
    position: int = 0
    """How many were handed out or passed over; a stream made with that position goes on there."""
    blocked: Callable[[], Container[str]] = lambda: ()
    """Returns the hosts whose tasks are passed over now; it is called before each task."""
    chance: Callable[[Task], float] = lambda task: 1.0
    """The chance with which a task is drawn when its turn comes; it must be above 0 for some task."""
    begun: Container[int] = ()
    """Places that are drawn whatever those two say, because an earlier stream handed them out and some of their
    episodes are stored."""

    def at(self, number: int) -> Task:
        """The task at a place of the order, counted from 0; `position` stays."""
        epoch, index = divmod(number, len(self.tasks))
        return self.tasks[_order(len(self.tasks), f"{self.seed}/{epoch}")[index]]

    def draw(self) -> int:
        """The place of the next task; a TaskError where the hosts of all tasks are blocked."""
        blocked, first = self.blocked(), self.position
        while True:
            number, self.position = self.position, self.position + 1
            task = self.at(number)
            if number in self.begun:
                return number
            if task.website not in blocked and random.Random(f"{self.seed}/{number}").random() < self.chance(task):
                return number
            if self.position == first + len(self.tasks):
                able = [task for task in self.tasks if self.chance(task) > 0]
                if all(task.website in blocked for task in able):
                    raise TaskError(
                        f"the web sites of all {len(able)} tasks are on the blocklist (tasks.blocklist): wait until "
                        "their time is over, delete the file, or add tasks of other sites"
                    )


@lru_cache(maxsize=4)
def _order(count: int, seed: str) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order
