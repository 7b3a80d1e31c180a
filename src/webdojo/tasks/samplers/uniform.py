"""Every task as often as any other."""

from __future__ import annotations

from collections.abc import Hashable

from webdojo.tasks.samplers.sampler import Sampler, Stratum
from webdojo.types import Task


class Uniform(Sampler):
    """Draws every task as often as any other: each pass over the tasks has each of them once."""

    name: str = "uniform"

    def key(self, task: Task) -> Hashable:
        return ""

    def weight(self, stratum: Stratum) -> float:
        return 1.0
