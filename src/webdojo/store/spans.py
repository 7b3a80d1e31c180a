"""When the phases of a run began and how long they took, for its trace.

A phase is stored when it ends, so one that was killed is missing; what an earlier process stored under the same
key is kept.
"""

from __future__ import annotations

from typing import NamedTuple

from webdojo.store.run import RunStore

RUN = "spans"
"""The key of the phases of the whole run, such as `sft`."""


class Span(NamedTuple):
    """A phase of a run or of an iteration."""

    name: str
    began: float
    """Unix time."""
    seconds: float


def iteration_key(phase: str, iteration: int) -> str:
    """The key of the phases of an iteration, such as `update`."""
    return f"{RUN} {phase} {iteration}"


class SpanLog:
    """Stores the phases of this process under one key."""

    def __init__(self, store: RunStore, key: str) -> None:
        self._store = store
        self._key = key
        self._earlier = store.get(key, [])
        self._spans: list[Span] = []

    def add(self, span: Span) -> None:
        """Store a phase that has ended."""
        self._spans.append(span)
        self._store.set(self._key, [*self._earlier, self._spans])


def attempts(store: RunStore, key: str) -> list[list[Span]]:
    """The phases under a key in order, one list for each process that stored some."""
    return [[Span(*span) for span in attempt] for attempt in store.get(key, [])]
