"""The log of a session, recorded while it runs and reported when it fails.

The record goes with every `BrowserError` of a session into the trajectory, so that a failure among thousands of
episodes can be explained without being reproduced (OpenWebRL A.1).
"""

from __future__ import annotations

import statistics
import time
import traceback
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_KEPT = 100
_LINES = 5
_LINE_CHARACTERS = 200
_FRAMES = 12


class SessionLog:
    """Latencies by operation, request counts and the last script errors of one session."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        """`sent`, `failed`, and answers by class: `2xx`, `3xx`, `4xx`, `5xx`."""
        self._began = time.monotonic()
        self._seconds: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_KEPT))
        self._counts: Counter[str] = Counter()
        self._errors: deque[str] = deque(maxlen=_LINES)

    @contextmanager
    def timed(self, operation: str) -> Iterator[None]:
        """Record how long the block takes, however it ends."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._counts[operation] += 1
            self._seconds[operation].append(time.monotonic() - began)

    def error(self, text: str) -> None:
        self._errors.append(" ".join(text.split())[:_LINE_CHARACTERS].encode(errors="replace").decode())

    def record(self, cause: BaseException | None = None) -> dict[str, Any]:
        """Return everything as plain JSON.

        `p50_s`, `max_s` and `last_s` of an operation are of its last 100; a `traceback` ends with the innermost call.
        """
        frames = traceback.extract_tb(cause.__traceback__)[-_FRAMES:] if cause is not None else []
        lines = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return {
            "seconds": round(time.monotonic() - self._began, 3),
            "operations": {
                name: {
                    "count": self._counts[name],
                    "p50_s": round(statistics.median(seconds), 4),
                    "max_s": round(max(seconds), 4),
                    "last_s": round(seconds[-1], 4),
                }
                for name, seconds in self._seconds.items()
            },
            "requests": dict(self.requests),
            "console_errors": list(self._errors),
            "traceback": [*lines, f"{type(cause).__name__}: {cause}"] if cause is not None else [],
        }
