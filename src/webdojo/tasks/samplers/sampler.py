"""What a sampler is: a plug that says how often training draws the tasks of a key beside those of other keys.

It is a pure function of what is known of each key: its tasks, and the rewards of their groups.
The `Curriculum` remembers the groups and passes tasks over in the seeded order, so a sampler keeps nothing, and a run
that goes on samples as if it had never stopped.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from webdojo.plugins import Plug
from webdojo.types import Task

Key = TypeVar("Key", bound=Hashable)


class Evidence(NamedTuple):
    """What is known of the tasks of one key."""

    tasks: Sequence[Task]
    """The tasks of the run that have this key, at least one."""
    groups: Sequence[Sequence[float]] = ()
    """The rewards of the valid members of each group that has ended, oldest group first."""


class Sampler(Plug):
    """Draws some tasks more often than others. Derive a class, give it options as fields, and write `key` and
    `weight`."""

    @abstractmethod
    def key(self, task: Task) -> Hashable:
        """What a task has in common with those that are drawn with the same chance."""

    @abstractmethod
    def weight(self, seen: Evidence) -> float:
        """How much a task of a key is wanted, at least 0; only its ratio to the weights of other keys counts."""

    def chances(self, seen: Mapping[Hashable, Evidence]) -> dict[Hashable, float]:
        """The chance, by key, with which a task is drawn when its turn comes; the key that is wanted most has 1."""
        return relative({key: self.weight(each) for key, each in seen.items()})


def relative(weights: Mapping[Key, float]) -> dict[Key, float]:
    """Weights by key divided by the largest one; all are 1 where no weight is above 0."""
    largest = max(weights.values(), default=0.0)
    return {key: weight / largest if largest else 1.0 for key, weight in weights.items()}
