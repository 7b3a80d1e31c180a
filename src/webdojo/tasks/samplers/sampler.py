"""What a sampler is: a plug that parts the tasks into strata, and says how often those of each are drawn.

It is a pure function of what is known of each stratum: its tasks, and the rewards of their groups.
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


class Stratum(NamedTuple):
    """Tasks that are drawn with the same chance, and what became of them."""

    tasks: list[Task]
    """Those of the run, at least one."""
    groups: list[Sequence[float]]
    """The rewards of the valid members of each group that has ended, oldest group first."""


class Sampler(Plug):
    """Draws some tasks more often than others. Derive a class, give it options as fields, and write `key` and
    `weight`."""

    @abstractmethod
    def key(self, task: Task) -> Hashable:
        """What the tasks of a stratum have in common."""

    @abstractmethod
    def weight(self, stratum: Stratum) -> float:
        """How much a task of a stratum is wanted, at least 0; only the ratio to other weights counts."""

    def chances(self, strata: Mapping[Key, Stratum]) -> dict[Key, float]:
        """The chance with which a task of each stratum, by its key, is drawn when its turn comes; the largest is 1."""
        return relative({key: self.weight(each) for key, each in strata.items()})


def relative(weights: Mapping[Key, float]) -> dict[Key, float]:
    """Weights by key divided by the largest one; all are 1 where no weight is above 0."""
    largest = max(weights.values(), default=0.0)
    return {key: weight / largest if largest else 1.0 for key, weight in weights.items()}
