"""With which chance a task is drawn when its turn in the order comes.

Two reasons make it less than 1: the stage of the curriculum wants other difficulties than the task list
has (`train.stages`), and the task's last group taught nothing (`tasks.settled_chance`). It never depends
on the order's place, so that an order that is gone on with is the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from webdojo.config import Recipe
from webdojo.rollout.groups import Group, is_settled
from webdojo.types import Task


class Mixture:
    """The chance of each task; call it with one.

    Args:
        iteration: that episodes begin in now, counted from 1.
    """

    def __init__(self, recipe: Recipe, iteration: Callable[[], int]) -> None:
        self._recipe = recipe
        self._iteration = iteration
        self._settled: set[str] = set()

    def __call__(self, task: Task) -> float:
        chance = self._recipe.difficulty_chance(self._iteration(), task.difficulty)
        return chance * (self._recipe.tasks.settled_chance if task.id in self._settled else 1.0)

    def note(self, group: Group) -> None:
        """Take note of how a group ended."""
        self.remember(group.task.id, group.rewards)

    def remember(self, task_id: str, rewards: Sequence[float]) -> None:
        """The same, from the rewards of the valid members."""
        if is_settled(rewards):
            self._settled.add(task_id)
        else:
            self._settled.discard(task_id)
