"""A clock that stands still while the engine sleeps during an update, and deadlines that go by it.

Episodes cannot go on while their engine sleeps, and it is not their fault. So that time counts towards no episode's
limit, no request's seconds and no slot's work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class SleepClock:
    """The event loop's clock without the times at which the engine slept."""

    def __init__(self) -> None:
        self._slept = 0.0
        self._stopped_at: float | None = None
        self._deadlines: dict[asyncio.Timeout, float] = {}
        """When each open deadline ends by this clock."""

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stand still in the block, of which there is one at a time."""
        self._stopped_at = _loop_time()
        self._reschedule()
        try:
            yield
        finally:
            self._slept += _loop_time() - self._stopped_at
            self._stopped_at = None
            self._reschedule()

    def now(self) -> float:
        """Seconds by this clock."""
        return self.at(_loop_time())

    def at(self, moment: float) -> float:
        """What this clock shows at a moment of the event loop's clock that is not before the last stop."""
        return (moment if self._stopped_at is None else self._stopped_at) - self._slept

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """`asyncio.timeout` by this clock."""
        async with asyncio.timeout(None) as deadline:
            self._deadlines[deadline] = self.now() + seconds
            deadline.reschedule(self._when(deadline))
            try:
                yield deadline
            finally:
                del self._deadlines[deadline]

    def _reschedule(self) -> None:
        for deadline in self._deadlines:
            if not deadline.expired():
                deadline.reschedule(self._when(deadline))

    def _when(self, deadline: asyncio.Timeout) -> float | None:
        """When a deadline ends by the event loop's clock; None while that cannot be known."""
        return None if self._stopped_at is not None else self._deadlines[deadline] + self._slept


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
