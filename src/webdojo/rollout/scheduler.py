"""Decides whether one more episode may start, and accounts for the time of the episode slots.

Invariants: every second of every slot is counted once, as busy or as idle for one reason (`Limit`). A resource is
looked at before each start, never waited for, so a signal that never comes cannot stop a run; and where no episode
runs, one may always start, so a shortage that never ends makes a run slow, not stuck.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from webdojo.memory import free_memory
from webdojo.rollout.adaptive import AdaptiveConcurrency
from webdojo.rollout.config import RolloutConfig
from webdojo.sleep_clock import SleepClock
from webdojo.types import MonitoredEngine, Prompt, Response, Sampling

SETTLE_S = 1.0
"""Seconds between two starts while memory is short, because what a session takes shows only after its start."""
SHORT_S = 30.0
"""Memory counts as short for so many seconds after it was."""


class Limit(StrEnum):
    """What keeps the next episode from starting, or one that runs from going on."""

    SLOTS = "slots"
    STALENESS = "staleness"
    """No group may begin before the next update."""
    SLEEP = "sleep"
    """The engine sleeps during an update."""
    ENGINE = "engine"
    """Too many requests wait in its queue."""
    BROWSERS = "browsers"
    """There is no room for another session."""
    MEMORY = "memory"


RESOURCES = (Limit.ENGINE, Limit.BROWSERS, Limit.MEMORY)
"""The limits that may go away although no episode ends, so that they must be looked at again."""
IDLE = (Limit.STALENESS, Limit.SLEEP, *RESOURCES)
"""The reasons for which slots idle."""


@dataclass(frozen=True)
class Usage:
    """Seconds of the event loop's clock, summed over slots or requests."""

    busy: float
    """Slot seconds with an episode that could go on."""
    idle: Mapping[Limit, float]
    """Slot seconds without one, by reason; those above the number of slots count while an episode still runs there."""
    engine: float
    """Seconds that requests spent in the engine while it was awake."""

    @property
    def slot_seconds(self) -> float:
        return self.busy + sum(self.idle.values())

    def since(self, before: Usage) -> Usage:
        idle = {reason: seconds - before.idle[reason] for reason, seconds in self.idle.items()}
        return Usage(self.busy - before.busy, idle, self.engine - before.engine)


class Scheduler:
    """Says whether an episode may start, why not, how many slots there are, and how their time was spent.

    Episodes ask `engine`, whose requests are counted; `slots` is how many there are now; `max_sessions` returns how
    many browser sessions there may be at once, as far as it is known now.
    """

    def __init__(
        self,
        config: RolloutConfig,
        engine: MonitoredEngine,
        max_sessions: Callable[[], int],
        free_memory: Callable[[], float] = free_memory,
    ) -> None:
        self.clock = SleepClock()
        self.engine = MeteredEngine(engine, self.clock)
        self._max_waiting = config.max_waiting_requests
        self._health = engine.health
        self._max_sessions = max_sessions
        self._memory = MemoryGate(config.min_free_memory_mb * 1e6, free_memory) if config.min_free_memory_mb else None
        self._adaptive = AdaptiveConcurrency(config.concurrency) if config.adaptive_concurrency else None
        self.slots = config.concurrency if self._adaptive is None else self._adaptive.slots
        self._running = 0
        self._limit = Limit.SLOTS
        self._busy = 0.0
        self._idle = dict.fromkeys(IDLE, 0.0)
        self._last = asyncio.get_running_loop().time()
        self._last_awake = self.clock.at(self._last)

    def limit(self, running: int, has_work: bool) -> Limit | None:
        """What keeps the next episode from starting now; call it whenever `running` has changed."""
        self._account()
        self._running = running
        limit = self._limit_now(running, has_work)
        self._limit = limit or Limit.SLOTS
        return limit

    def usage(self) -> Usage:
        self._account()
        return Usage(self._busy, self._idle.copy(), self.engine.seconds())

    def _limit_now(self, running: int, has_work: bool) -> Limit | None:
        if running >= self.slots:
            return Limit.SLOTS
        if not has_work:
            return Limit.STALENESS
        if not running:
            return None
        if running >= self._max_sessions():
            return Limit.BROWSERS
        if self._max_waiting and self._health().waiting > self._max_waiting:
            return Limit.ENGINE
        if self._memory is not None and not self._memory.admits():  # the last one, because what it admits starts
            return Limit.MEMORY
        return None

    def _account(self) -> None:
        """Count the time since the last call, in which nothing has changed."""
        now = asyncio.get_running_loop().time()
        seconds, self._last = now - self._last, now
        awake, self._last_awake = self.clock.at(now) - self._last_awake, self.clock.at(now)
        self._busy += awake * self._running
        self._idle[Limit.SLEEP] += (seconds - awake) * self._running
        if self._limit is not Limit.SLOTS:
            self._idle[self._limit] += seconds * max(0, self.slots - self._running)
        if self._adaptive is not None:
            full = self._limit is not Limit.STALENESS
            self.slots = self._adaptive.note(self.engine.answered, self._running, awake, full)


class MeteredEngine:
    """An engine whose requests are counted, in seconds of a clock that stands still while the engine sleeps."""

    def __init__(self, engine: MonitoredEngine, clock: SleepClock) -> None:
        self.answered = 0  # responses so far, one for each turn
        self._engine, self._clock = engine, clock
        self._in_flight = 0
        self._seconds = 0.0
        """The sum of all times at which requests ended, less that of those at which they began."""

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        self._in_flight += 1
        self._seconds -= self._clock.now()
        try:
            response = await self._engine.generate(prompt, sampling)
        finally:
            self._in_flight -= 1
            self._seconds += self._clock.now()
        self.answered += 1
        return response

    def seconds(self) -> float:
        """Seconds summed over all requests so far, those in flight included."""
        return self._seconds + self._in_flight * self._clock.now()


class MemoryGate:
    """Admits no episode while fewer than `least` bytes are free, and for a while after that one per `SETTLE_S`."""

    def __init__(self, least: float, free: Callable[[], float]) -> None:
        self._least, self._free = least, free
        self._now = asyncio.get_running_loop().time
        self._short_until = self._next_start = 0.0

    def admits(self) -> bool:
        """Whether one more episode may start now; it is taken to start then."""
        now = self._now()
        if self._free() < self._least:
            self._short_until = now + SHORT_S
            return False
        if now < self._next_start and now < self._short_until:
            return False
        self._next_start = now + SETTLE_S
        return True
