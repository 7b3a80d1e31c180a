"""Times in which the engine rests because the learner steps: what runs then cannot go on, through no fault of its own.

Such time counts for no episode's limit, no request's seconds and no slot's work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class Rest:
    """A clock that stands still while the engine rests, and deadlines that go by it."""

    def __init__(self) -> None:
        self._rested = 0.0
        self._since: float | None = None
        self._ends: dict[asyncio.Timeout, float] = {}
        """Of the deadlines at hand, by `awake`."""

    @contextmanager
    def within(self) -> Iterator[None]:
        """The engine rests in the block; one block at a time."""
        self._since = _now()
        self._reschedule()
        try:
            yield
        finally:
            self._rested += _now() - self._since
            self._since = None
            self._reschedule()

    def awake(self) -> float:
        """The event loop's time less that of all rests so far."""
        return (_now() if self._since is None else self._since) - self._rested

    def seconds(self, now: float) -> float:
        """Of all rests up to `now`, the event loop's time."""
        return self._rested + (0.0 if self._since is None else now - self._since)

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """`asyncio.timeout` by this clock."""
        async with asyncio.timeout(None) as deadline:
            self._ends[deadline] = self.awake() + seconds
            deadline.reschedule(self._when(deadline))
            try:
                yield deadline
            finally:
                del self._ends[deadline]

    def _reschedule(self) -> None:
        for deadline in self._ends:
            if not deadline.expired():
                deadline.reschedule(self._when(deadline))

    def _when(self, deadline: asyncio.Timeout) -> float | None:
        """Where it ends by the event loop's clock; None while that cannot be known."""
        return None if self._since is not None else self._ends[deadline] + self._rested


def _now() -> float:
    return asyncio.get_running_loop().time()
