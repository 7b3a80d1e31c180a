"""A clock that stands still while an engine sleeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class SleepClock:
    """The event loop's clock without the times at which the engine slept during an update, and deadlines that go by it.

    That time counts towards no episode's limit, no request's seconds and no slot's work.
    """

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
        return self.at(_loop_time())

    def at(self, moment: float) -> float:
        """What this clock shows at a moment of the event loop's clock that is not before the last stop."""
        return (moment if self._stopped_at is None else self._stopped_at) - self._slept

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        async with asyncio.timeout(None) as deadline:
            self._deadlines[deadline] = self.now() + seconds
            self._reschedule()
            try:
                yield deadline
            finally:
                del self._deadlines[deadline]

    def _reschedule(self) -> None:
        """Tell each deadline when it ends by the event loop's clock, as far as that can be known."""
        for deadline, end in self._deadlines.items():
            if not deadline.expired():
                deadline.reschedule(None if self._stopped_at is not None else end + self._slept)


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
