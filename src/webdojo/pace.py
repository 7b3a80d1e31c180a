"""How fast something may be asked: an endpoint for answers, a site for episodes."""

from __future__ import annotations


class Pace:
    """When the next request may go; no limit is 0.

    Work is spread evenly: a request may go when what went before it has been paid for at the allowed
    speed. So no window of a minute holds more than the limit (and one request).
    """

    def __init__(self, requests_per_minute: float, tokens_per_minute: float) -> None:
        self._request_s = 60 / requests_per_minute if requests_per_minute else 0.0
        self._token_s = 60 / tokens_per_minute if tokens_per_minute else 0.0
        self._requests_free = self._tokens_free = self._held_until = 0.0

    def book(self, now: float, tokens: int) -> float:
        """Take a place for a request of so many tokens; returns the seconds until it may go."""
        start = max(now, self._requests_free, self._tokens_free)
        if self._request_s:
            self._requests_free = start + self._request_s
        self._tokens_free = start + tokens * self._token_s
        return start - now

    def correct(self, tokens: int) -> None:
        """A request took so many tokens more than were booked (fewer, where negative)."""
        self._tokens_free += tokens * self._token_s

    def hold(self, until: float) -> None:
        """Let nothing go before a time: the endpoint asked for it."""
        self._held_until = max(self._held_until, until)

    def held(self, now: float) -> float:
        """Seconds until something may go again."""
        return max(0.0, self._held_until - now)
