"""Samplers that go by outcomes: how they pool tasks, so that a task that never ran is judged by others like it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Annotated

from pydantic import Field

from webdojo.tasks.samplers.sampler import Sampler
from webdojo.types import Task

Property = Annotated[str, Field(pattern=r"^(task|website|kind|difficulty|metadata\..+)$")]


class OutcomeSampler(Sampler):
    """A sampler whose weights follow from the rewards of the groups of a stratum."""

    by: list[Property] = Field(default=["kind", "difficulty"], min_length=1)
    """What tasks have in common whose outcomes count together: `task` (each by itself), `website`, `kind` (of the
    embedded sites), `difficulty`, `metadata.NAME` (that entry of `Task.metadata`), or several of them. Where a run
    meets most tasks once, `task` learns nothing."""
    window: int = Field(default=32, ge=1)
    """The groups of a stratum that count: the last ones, because the policy changes."""
    prior: float = Field(default=2.0, ge=0)
    """Strength of the belief to begin with that a half succeeds: a Beta distribution of so many trials."""

    def key(self, task: Task) -> Hashable:
        return tuple(_property(task, name) for name in self.by)

    def rate(self, trials: Sequence[float]) -> float:
        """The mean of the Beta distribution after trials, each with a success from 0 to 1."""
        total = len(trials) + self.prior
        return (sum(trials) + self.prior / 2) / total if total else 0.5


def _property(task: Task, name: str) -> str:
    if name.startswith("metadata."):
        return str(task.metadata.get(name.removeprefix("metadata."), ""))
    return str({"task": task.id, "website": task.website, "kind": task.kind, "difficulty": task.difficulty}[name])


def successes(groups: Sequence[Sequence[float]]) -> list[float]:
    """How far each member of some groups succeeded, from 0 to 1: its reward, where a format error counts as 0."""
    return [min(max(reward, 0.0), 1.0) for reward in chain(*groups)]
