"""The sessions of a browser server: who may open one, which calls wait, and when each session ends.

Invariants: every session that is opened is closed exactly once, by its client, by the reaper or when the server stops;
calls on one session run one after the other; each kind of operation waits only for its own kind, so that slow starts
never hold up observations (WebGym B.1). Nothing here depends on HTTP.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Self

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from webdojo.browser.config import BrowserConfig
from webdojo.browser.interface import ActResult, PageRead, Session
from webdojo.browser.page.snapshot import Snapshot
from webdojo.browser.pool import BrowserPool, browser_count
from webdojo.browser_service.wire import ErrorKind, Health, Opened, OpenRequest, Refused
from webdojo.errors import BrowserError, ConfigError
from webdojo.store.images import MemoryImages
from webdojo.types import Observation, ToolCall, View

logger = logging.getLogger("webdojo")


Operation = Literal["open", "act", "observe", "close"]
"""The operations on sessions; each kind has a queue of its own (WebGym B.1)."""
Ended = Literal["closed", "idle", "deadline", "stopped"]

_REAP_EVERY_S = 1.0
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
SLOTS: dict[Operation, int] = {"open": 4, "act": 32, "observe": 16, "close": 8}
"""How many operations of each kind run at once; most of an act's time is waiting for pages."""


@dataclass
class _Entry:
    session: Session
    deadline: float
    """In `time.monotonic()` seconds, like `used`."""
    used: float = field(default_factory=time.monotonic)
    calls: int = 0
    """Number of calls that run or wait."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SessionService:
    """Browsers and their sessions by id, within limits; an async context manager that starts and ends them all."""

    def __init__(self, config: BrowserConfig, hosts: Mapping[str, str] = MappingProxyType({})) -> None:
        wanted = config.serve.max_sessions
        if not config.sessions_per_browser:
            config = config.model_copy(update={"sessions_per_browser": -(-wanted // browser_count(config))})
        # A session is observed once at a time, but an observation whose client left may still bring its picture.
        self._images = MemoryImages(capacity=2 * wanted)
        self._pool = pool = BrowserPool(config, self._images, hosts)
        if pool.places < wanted:
            raise ConfigError(
                f"browser.serve.max_sessions is {wanted}, but the browsers hold {pool.places}: "
                "raise browser.sessions_per_browser or browser.browsers, or lower --max-sessions"
            )
        self._config = config.serve
        self._sessions: dict[str, _Entry] = {}
        self._taken = 0
        """Number of places that are taken, by sessions that are opening, open or closing."""
        self._slots = {operation: asyncio.Semaphore(slots) for operation, slots in SLOTS.items()}
        self._closing: set[asyncio.Task[None]] = set()
        self._drain_until: float | None = None
        self.metrics = Metrics(lambda: self._taken, lambda: len(pool.browsers))

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        self._reaper = asyncio.create_task(self._reap())
        return self

    async def __aexit__(self, *error: object) -> None:
        self._reaper.cancel()
        for id in list(self._sessions):
            self._end(id, "stopped")
        try:
            await asyncio.gather(*self._closing)
        finally:
            await self._pool.__aexit__(*error)

    @property
    def health(self) -> Health:
        draining = self._drain_until is not None
        return Health(draining=draining, sessions=self._taken, max_sessions=self._config.max_sessions)

    @property
    def drained(self) -> bool:
        """Whether a drain has begun and is over: all sessions have ended, or the time for it is up."""
        return self._drain_until is not None and (not self._taken or time.monotonic() > self._drain_until)

    def drain(self) -> None:
        self._drain_until = time.monotonic() + self._config.drain_timeout_s
        logger.info("drain  sessions=%d  drain_timeout_s=%g", self._taken, self._config.drain_timeout_s)

    async def open(self, request: OpenRequest) -> Opened:
        """Open a session; raises Refused, and what `Pool.open` raises."""
        if self._drain_until is not None:
            raise Refused(ErrorKind.DRAINING, "the server is about to stop and takes no new sessions")
        if self._taken >= self._config.max_sessions:
            raise Refused(ErrorKind.FULL, f"all {self._config.max_sessions} sessions are taken (--max-sessions)")
        deadline = time.monotonic() + (request.deadline_s or math.inf)
        self._taken += 1
        try:
            async with self._slot("open"):
                session = await self._pool.open(request.start_url, request.headers, request.storage_state)
        except BaseException:
            self._taken -= 1
            raise
        id = secrets.token_urlsafe(16)
        self._sessions[id] = _Entry(session, deadline)
        self.metrics.opened.inc()
        return Opened(id=id, viewport_px=session.viewport_px, secrets=sorted(session.secrets))

    async def observe(self, id: str, have: str, view: View | None = None) -> tuple[Observation, bytes]:
        """Return an observation and the bytes of its screenshot, which are empty if its hash is `have`."""
        async with self._using(id, "observe") as session:
            observation = await session.observe(view)
            shot = observation.screenshot
            return observation, b"" if shot.sha == have else self._images.get(shot)

    async def act(self, id: str, calls: Sequence[ToolCall]) -> ActResult:
        async with self._using(id, "act") as session:
            return await session.act(calls)

    async def snapshot(self, id: str) -> Snapshot:
        async with self._using(id, "observe") as session:
            return await session.snapshot()

    async def read(self, id: str, scripts: Sequence[str], url: str) -> list[PageRead]:
        async with self._using(id, "observe") as session:
            return await session.read(scripts, url)

    async def har(self, id: str) -> list[dict[str, Any]]:
        async with self._using(id, "observe") as session:
            try:
                return await session.har()
            except ConfigError as error:
                raise Refused(ErrorKind.BAD_REQUEST, f"{error}, at this server") from None

    async def close(self, id: str) -> None:
        """End a session after the call that runs in it, even if the caller is cancelled meanwhile."""
        self._entry(id)
        await asyncio.shield(self._end(id, "closed"))

    def _entry(self, id: str) -> _Entry:
        if id not in self._sessions:
            raise Refused(
                ErrorKind.UNKNOWN_SESSION,
                f"no session {id!r} here: it was closed, or nobody called it for {self._config.idle_timeout_s:g} s "
                "(--idle-timeout-s), or its deadline is over",
            )
        return self._sessions[id]

    def _end(self, id: str, reason: Ended) -> asyncio.Task[None]:
        """Forget a session at once, and close it in a task."""
        entry = self._sessions.pop(id)
        task = asyncio.create_task(self._close(entry))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        self.metrics.ended.labels(reason).inc()
        return task

    async def _close(self, entry: _Entry) -> None:
        async with entry.lock, self._slot("close"):
            await entry.session.close()
        self._taken -= 1

    @asynccontextmanager
    async def _using(self, id: str, operation: Operation) -> AsyncIterator[Session]:
        """Wait for this caller's turn on the session and for a slot for the operation, and give the session."""
        entry = self._entry(id)
        entry.calls += 1
        try:
            async with entry.lock:
                self._entry(id)  # it may have ended meanwhile
                async with self._slot(operation):
                    yield entry.session
        finally:
            entry.calls -= 1
            entry.used = time.monotonic()

    @asynccontextmanager
    async def _slot(self, operation: Operation) -> AsyncIterator[None]:
        began = time.monotonic()
        async with self._slots[operation]:
            self.metrics.queued.labels(operation).observe(time.monotonic() - began)
            try:
                with self.metrics.seconds.labels(operation).time():
                    yield
            except BrowserError as error:
                self.metrics.failed.labels(operation, error.failure).inc()
                raise

    async def _reap(self) -> None:
        idle_s = self._config.idle_timeout_s
        while True:
            await asyncio.sleep(min(_REAP_EVERY_S, idle_s / 4))
            now = time.monotonic()
            for id, entry in list(self._sessions.items()):
                if now > entry.deadline:
                    self._end(id, "deadline")
                elif not entry.calls and now - entry.used > idle_s:
                    self._end(id, "idle")


class Metrics:
    """The metrics of one server, in a registry of its own; the functions count its sessions and Chromiums."""

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
