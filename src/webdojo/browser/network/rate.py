"""A rate limit for connections to each host, so that training does not overload the sites that it uses."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_BURST_S = 5.0
_REMEMBERED = 1000


class RateLimit:
    """At most so many connections a second to each host, averaged over five seconds (a leaky bucket as a meter).

    Args:
        per_second: connections a second; 0 means no limit.
        now: a clock in seconds.
    """

    def __init__(self, per_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._interval = 1 / per_second if per_second else 0.0
        self._now = now
        self._next: OrderedDict[str, float] = OrderedDict()
        """The time at which the booked connections of each host would all be made, at an even pace."""

    def delay(self, host: str) -> float:
        """Book a connection, and return the seconds to wait before making it."""
        now = self._now()
        at = max(self._next.pop(host, now), now)
        self._next[host] = at + self._interval
        if len(self._next) > _REMEMBERED:
            self._next.popitem(last=False)
        return max(0.0, at - now - _BURST_S)
