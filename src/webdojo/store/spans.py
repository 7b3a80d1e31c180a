"""When the phases of a run began and how long they took: what its trace shows beside the episodes.

Each is stored when it ends, so one that was killed is not there; what an earlier process stored of the same
thing stays beside it.
"""

from __future__ import annotations

from typing import NamedTuple

from webdojo.store.run import RunStore

RUN = "spans"
"""Key of the phases of the whole run, such as `sft`."""


class Span(NamedTuple):
    """A phase of something."""

    name: str
    began: float
    """Unix time."""
    seconds: float


def iteration_key(phase: str, iteration: int) -> str:
    """Key of what the loop did for an iteration, such as `update`."""
    return f"{RUN} {phase} {iteration}"


class SpanLog:
    """Keeps the phases that this process goes through, under one key."""

    def __init__(self, store: RunStore, key: str) -> None:
        self._store = store
        self._key = key
        self._earlier = store.get(key, [])
        self._spans: list[Span] = []

    def add(self, span: Span) -> None:
        """Keep one that has ended."""
        self._spans.append(span)
        self._store.set(self._key, [*self._earlier, self._spans])


def attempts(store: RunStore, key: str) -> list[list[Span]]:
    """The phases of a key in order, of each process that went through some."""
    return [[Span(*span) for span in attempt] for attempt in store.get(key, [])]
