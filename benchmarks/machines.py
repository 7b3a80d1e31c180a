"""Machines on the clock that jumps (`paced.JumpingLoop`): what many work on at once goes slower for each of them."""

from __future__ import annotations

import asyncio
import heapq
import math
from itertools import count


class Station:
    """Capacity that all who work at once share evenly, and of which nobody can use more than one unit: the cores of
    browser hosts, or the places in the batches of engines.

    Args:
        capacity: units; `math.inf` is a delay that nobody lengthens.
    """

    def __init__(self, capacity: float) -> None:
        self.capacity = capacity
        self.used = 0.0
        """Unit-seconds that were worked."""
        self.begun = self._now()
        self._served = 0.0
        """What one who has worked from the beginning would have got done, in seconds."""
        self._at = self.begun
        self._working: list[tuple[float, int, asyncio.Future[None]]] = []
        """By what `_served` will be when they are done."""
        self._number = count()
        self._timer: asyncio.TimerHandle | None = None

    async def work(self, seconds: float) -> None:
        """Get so many seconds of one unit done."""
        if self.capacity == math.inf:
            self.used += seconds
            await asyncio.sleep(seconds)
            return
        self._advance()
        done = asyncio.get_running_loop().create_future()
        heapq.heappush(self._working, (self._served + seconds, next(self._number), done))
        self._wait()
        await done

    @property
    def utilization(self) -> float:
        """The share of its capacity that was used since it began."""
        self._advance()
        return self.used / self.capacity / max(self._now() - self.begun, 1e-9)

    @property
    def _rate(self) -> float:
        return min(1.0, self.capacity / len(self._working))

    def _advance(self) -> None:
        passed, self._at = self._now() - self._at, self._now()
        if self._working:
            self._served += passed * self._rate
            self.used += passed * self._rate * len(self._working)

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._working:
            left = max(self._working[0][0] - self._served, 0.0) / self._rate
            self._timer = asyncio.get_running_loop().call_later(left, self._end)

    def _end(self) -> None:
        self._advance()
        while self._working and self._working[0][0] <= self._served + 1e-9:
            _, _, done = heapq.heappop(self._working)
            if not done.done():
                done.set_result(None)
        self._wait()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
