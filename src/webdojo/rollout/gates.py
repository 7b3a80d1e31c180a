"""Back-pressure: what holds the next episode back although a slot is free.

A gate looks at one resource: the engine's queue, the places for browser sessions, the machine's memory.
It is asked before each start and, while it is closed, every `CHECK_S` again, so nothing waits for an event
that may not come. Nobody asks where no episode runs: a gate that never opens makes a run slow, not stuck.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from webdojo.memory import free_memory
from webdojo.rollout.config import RolloutConfig
from webdojo.types import EngineHealth

CHECK_S = 0.25
SETTLE_S = 1.0
"""Between two starts while memory is short: what a session takes shows only after its start."""
SHORT_S = 30.0
"""Memory counts as short for so long after it was."""


class Hold(StrEnum):
    """Why no further episode starts, or, of those that run, none goes on."""

    FULL = "full"
    """So many run as may."""
    STALENESS = "staleness"
    """No group may begin before the next update."""
    REST = "rest"
    """One runs, and cannot go on while the engine rests."""
    ENGINE = "engine"
    BROWSERS = "browsers"
    MEMORY = "memory"


GATES = (Hold.ENGINE, Hold.BROWSERS, Hold.MEMORY)


class Gate(NamedTuple):
    """One resource."""

    reason: Hold
    is_open: Callable[[int], bool]
    """Whether one more episode may start beside so many that run."""


def make_gates(config: RolloutConfig, health: Callable[[], EngineHealth], places: Callable[[], int]) -> list[Gate]:
    """The gates of a recipe.

    Args:
        health: of the engine that episodes ask.
        places: browser sessions that they may have at once.
    """
    gates = [Gate(Hold.BROWSERS, lambda running: running < places())]
    if config.max_waiting_requests:
        gates.append(Gate(Hold.ENGINE, lambda running: health().waiting <= config.max_waiting_requests))
    if config.min_free_memory_mb:  # the last: what it lets pass starts
        gates.append(Gate(Hold.MEMORY, MemoryGate(config.min_free_memory_mb * 1e6)))
    return gates


class MemoryGate:
    """Closed while less memory is free than it wants, and for a while after that open for one start a `SETTLE_S`.

    Args:
        least: bytes that must be free.
        free: how many are.
    """

    def __init__(self, least: float, free: Callable[[], float] = free_memory) -> None:
        self._least = least
        self._free = free
        self._now = asyncio.get_running_loop().time
        self._short_until = self._next = 0.0

    def __call__(self, running: int) -> bool:
        now = self._now()
        if self._free() < self._least:
            self._short_until = now + SHORT_S
            return False
        if self._next <= now or self._short_until <= now:
            self._next = now + SETTLE_S
            return True
        return False
