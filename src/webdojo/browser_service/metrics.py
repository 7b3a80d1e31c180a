"""The Prometheus metrics of a browser server."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

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
        self.registry = to = CollectorRegistry()

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"webdojo_{name}", about, labels, registry=to)

        def histogram(name: str, about: str) -> Histogram:
            return Histogram(f"webdojo_{name}", about, ["operation"], registry=to, buckets=_SECONDS)

        Gauge("webdojo_sessions", "Sessions that are open or on their way.", registry=to).set_function(sessions)
        Gauge("webdojo_browsers", "Chromiums that run.", registry=to).set_function(browsers)
        self.opened = counter("sessions_opened", "Sessions that were opened.")
        self.ended = counter("sessions_ended", "Sessions that ended, by why.", "reason")
        self.refused = counter("requests_refused", "Requests that were not let in, by kind.", "kind")
        self.failed = counter("operations_failed", "Operations that failed.", "operation", "failure")
        self.seconds = histogram("operation_seconds", "Duration of operations, without the queue.")
        self.queued = histogram("queue_seconds", "How long operations waited for a slot of their kind.")
