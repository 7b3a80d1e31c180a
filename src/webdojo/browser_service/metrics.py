"""The Prometheus metrics of a browser server."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Operation(StrEnum):
    """The operations on sessions; each kind has a queue of its own (WebGym B.1)."""

    OPEN = "open"
    ACT = "act"
    OBSERVE = "observe"
    CLOSE = "close"


class Ended(StrEnum):
    """Why a session ended."""

    CLOSED = "closed"
    IDLE = "idle"
    DEADLINE = "deadline"
    STOPPED = "stopped"


class Metrics:
    """The metrics of one server, in a registry of its own.

    Args:
        sessions: returns the number of sessions.
        browsers: returns the number of Chromium processes.
    """

    def __init__(self, sessions: Callable[[], int], browsers: Callable[[], int]) -> None:
        self._registry = registry = CollectorRegistry()
        Gauge("webdojo_sessions", "Sessions that are open or on their way.", registry=registry).set_function(sessions)
        Gauge("webdojo_browsers", "Chromiums that run.", registry=registry).set_function(browsers)
        self.opened = Counter("webdojo_sessions_opened", "Sessions that were opened.", registry=registry)
        self.ended = Counter("webdojo_sessions_ended", "Sessions that ended, by why.", ["reason"], registry=registry)
        self.refused = Counter(
            "webdojo_requests_refused", "Requests that were not let in, by kind.", ["kind"], registry=registry
        )
        self.failed = Counter(
            "webdojo_operations_failed", "Operations that failed.", ["operation", "failure"], registry=registry
        )
        self.seconds = Histogram(
            "webdojo_operation_seconds",
            "Duration of operations, without the queue.",
            ["operation"],
            registry=registry,
            buckets=_SECONDS,
        )
        self.queued = Histogram(
            "webdojo_queue_seconds",
            "How long operations waited for a slot of their kind.",
            ["operation"],
            registry=registry,
            buckets=_SECONDS,
        )

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)
