"""Which task comes next: the order of the tasks, and the curriculum.

A task is drawn with a chance below 1 where the stage of the curriculum wants other difficulties than the task list has
(`train.stages`, WebGym §5.2), or the sampler (`tasks.sampler`) wants other tasks more. The chance never depends on the
place in the order, and between two updates only the stage changes it, so an order that is gone on with is the same
order.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from dataclasses import InitVar, dataclass
from functools import lru_cache

from webdojo.errors import TaskError
from webdojo.rollout.config import HorizonSection, StageConfig
from webdojo.rollout.groups import Group
from webdojo.tasks.samplers.sampler import Sampler, Stratum, relative
from webdojo.types import Task

Outcome = tuple[str, Sequence[float]]
"""The id of the task of a group, and the rewards of its valid members."""


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
    sampler: Sampler
    iteration: Callable[[], int]
    """Returns the iteration that episodes begin in now, counted from 1."""

    def __post_init__(self, tasks: Sequence[Task]) -> None:
        self._there = Counter(task.difficulty for task in tasks)
        self._keys = {task.id: self.sampler.key(task) for task in tasks}
        self._strata: defaultdict[Hashable, Stratum] = defaultdict(lambda: Stratum([], []))
        for task in tasks:
            self._strata[self._keys[task.id]].tasks.append(task)
        self._chances = self.sampler.chances(self._strata)

    def horizon(self, difficulty: int) -> int:
        """Turns that an episode that begins now may take on a task of a difficulty."""
        return (stage_of(self.stages, self.iteration()) or self.rollout).horizon(difficulty)

    def chance(self, task: Task) -> float:
        """The chance with which a task is drawn when its turn comes."""
        chance = self._chances[self._keys[task.id]]
        stage = stage_of(self.stages, self.iteration())
        if stage is None or not stage.difficulty_sampling:
            return chance
        # These give the drawn tasks the stage's ratio of difficulties.
        ratio = stage.difficulty_sampling
        wanted = relative({level: ratio.get(level, 1) / count for level, count in self._there.items()})
        return chance * wanted[task.difficulty]

    def note(self, outcomes: Iterable[Outcome]) -> None:
        """Let the sampler know of groups that have ended, those of an update together and in the order of the tasks,
        so that it does not matter which ended first; those of tasks that are not in the list any more are left out."""
        for task_id, rewards in outcomes:
            if rewards and task_id in self._keys:
                self._strata[self._keys[task_id]].groups.append(rewards)
        self._chances = self.sampler.chances(self._strata)


def outcomes(groups: Iterable[Group]) -> list[Outcome]:
    """What became of groups, in the order of the tasks."""
    return [(group.task.id, group.rewards) for group in sorted(groups, key=lambda group: group.number)]


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
