"""Sessions on browser servers, with the interface of the local pool.

A session stays on one server until it ends; only new sessions go to another server. A request that failed is sent again
(`step_retries`) if it only reads, or never reached the server; none that could have had an effect is ever sent twice.
Screenshots are stored under the same hash as those of a local browser. Messages of errors
begin with the server's URL.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from webdojo.browser.config import StorageState, check_storage_state
from webdojo.browser.interface import ActResult, PageRead
from webdojo.browser.page.snapshot import Snapshot
from webdojo.browser_service.wire import READS, RESULT, SNAPSHOT, ErrorKind, Health, Opened, ProblemBody, host_of
from webdojo.errors import BrowserError, ConfigError, Failure, StartError
from webdojo.types import ImageSink, Observation, ToolCall, View

_CONNECT_TIMEOUT_S = 5.0
_CALL_TIMEOUT_S = 600.0
"""Of any single call, its time in the server's queue included."""
_CLOSE_TIMEOUT_S = 15.0
_KEEP_ALIVE_S = 30.0
"""Shorter than servers keep idle connections."""
_RETRY_AFTER_S = 0.5
_UNHEARD = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""Errors of requests that never reached the server."""
_CUT = (httpx.NetworkError, httpx.RemoteProtocolError)
"""Errors of connections that ended in the middle of an answer."""
_POLL_S = 0.05
_CHECK_EVERY_S = 2.0
_CHECK_AT_LEAST_EVERY_S = 30.0


class ServerError(BrowserError):
    """A server refused or failed a request; `kind` is None if no browser server answered."""

    default = Failure.SERVER_LOST

    def __init__(self, message: str, kind: ErrorKind | None = None, *cause: Any) -> None:
        super().__init__(message, *cause)
        self.kind = kind


class RemotePool:
    """Sessions on many servers, the least loaded first; an async context manager.

    Args:
        token: the WEBDOJO_BROWSER_TOKEN of the servers.
        acquire_timeout_s: how long `open` looks for a server with a free place.
        step_retries: further tries of an observation or a step.
    """

    def __init__(
        self,
        servers: Sequence[str],
        images: ImageSink,
        token: str = "",
        *,
        acquire_timeout_s: float = 60,
        step_retries: int = 2,
    ) -> None:
        if not servers:
            raise ConfigError("no browser server is given: name at least one, such as http://10.0.0.7:8400")
        self._images = images
        self._acquire_timeout_s = acquire_timeout_s
        self._step_retries = step_retries
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(_CALL_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=_KEEP_ALIVE_S),
            trust_env=False,
        )
        self._servers = [_Server(_checked(url), self._http) for url in servers]
        self._line = asyncio.Lock()
        """Held by the caller that looks for a free server; first come, first served."""
        self._checks: list[asyncio.Task[None]] = []
        self._open: set[RemoteSession] = set()

    async def __aenter__(self) -> Self:
        await asyncio.gather(*(server.check() for server in self._servers))
        self._checks = [asyncio.create_task(server.keep_checking()) for server in self._servers]
        return self

    async def __aexit__(self, *error: object) -> None:
        for task in self._checks:
            task.cancel()
        await asyncio.gather(*(session.close() for session in self._open))
        await self._http.aclose()

    @property
    def places(self) -> int:
        """How many sessions this client may have at once: its own, and the free places of its servers."""
        taking = [server.places for server in self._servers if not server.down]
        return sum(taking) if taking else sys.maxsize  # so that `open` is called and reports why none takes sessions

    async def open(
        self, start_url: str, headers: dict[str, str] | None = None, storage_state: StorageState | None = None
    ) -> RemoteSession:
        """See `interface.Pool.open`; the server must be able to reach `start_url`."""
        check_storage_state(storage_state or {}, "storage_state of the visit")
        deadline = asyncio.get_running_loop().time() + self._acquire_timeout_s
        body = {"start_url": start_url, "headers": headers or {}, "storage_state": storage_state}
        while True:
            server = await self._free_server(deadline)
            try:
                response = await server.request("POST", "/sessions", json=body)
                opened = Opened.model_validate_json(response.content)
                return RemoteSession(server, opened, self._images, self._open, self._step_retries)
            except BaseException as error:
                server.own -= 1
                if not isinstance(error, ServerError):
                    raise
                if error.kind is ErrorKind.BAD_REQUEST:
                    raise StartError(str(error)) from None
                if error.kind not in (ErrorKind.FULL, ErrorKind.DRAINING, None):
                    raise
                server.refused(error)

    async def _free_server(self, deadline: float) -> _Server:
        """Return the least loaded server that takes sessions, and count one of its places as this client's."""
        try:
            async with asyncio.timeout_at(deadline), self._line:
                while True:
                    await asyncio.sleep(0)  # a deadline that has passed takes effect here
                    free = [server for server in self._servers if not server.trouble]
                    if free:
                        server = min(free, key=lambda server: (server.load, server.own, random.random()))
                        server.own += 1
                        return server
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            reasons = "; ".join(f"{server.url}: {server.trouble or 'busy until now'}" for server in self._servers)
            raise BrowserError(
                f"no browser server took a session within {self._acquire_timeout_s:g} s ({reasons})",
                Failure.ACQUIRE_TIMEOUT,
            ) from None


class RemoteSession:
    """A session on a server, with the methods of `interface.Session`; `RemotePool.open` makes one."""

    def __init__(
        self,
        server: _Server,
        opened: Opened,
        images: ImageSink,
        open_sessions: set[RemoteSession],
        step_retries: int,
    ) -> None:
        self.viewport_px = opened.viewport_px
        self.secrets = set(opened.secrets)
        self._server = server
        self._path = f"/sessions/{opened.id}"
        self._images = images
        self._open_sessions = open_sessions
        self._step_retries = step_retries
        open_sessions.add(self)
        self._seen = ""
        """Hash of the last screenshot, which is stored in the sink."""
        self._lost: ServerError | None = None

    async def observe(self, view: View | None = None) -> Observation:
        asked = {} if view is None else {"view": view.kind, **view.model_dump(exclude={"kind"})}
        content = await self._call("GET", "/observation", params={"have": self._seen, **asked})
        line, _, image = content.partition(b"\n")
        observation = Observation.model_validate_json(line)
        shot = observation.screenshot
        if shot.sha != self._seen:
            stored = await asyncio.to_thread(self._images.put, image, shot.width, shot.height, shot.mime)
            if stored != shot:
                raise ServerError(f"{self._server.url}: the screenshot's {len(image)} bytes do not match its hash")
            self._seen = shot.sha
        return observation

    async def act(self, calls: Sequence[ToolCall]) -> ActResult:
        body = json.dumps({"calls": [{"name": call.name, "arguments": call.arguments} for call in calls]})
        headers = {"Content-Type": "application/json"}
        result = RESULT.validate_json(await self._call("POST", "/act", content=body, headers=headers))
        self.secrets.update(result.secrets)
        return result

    async def snapshot(self) -> Snapshot:
        return SNAPSHOT.validate_json(await self._call("GET", "/snapshot"))

    async def read(self, scripts: Sequence[str], url: str = "") -> list[PageRead]:
        body = json.dumps({"scripts": list(scripts), "url": url})
        headers = {"Content-Type": "application/json"}
        return READS.validate_json(await self._call("POST", "/read", content=body, headers=headers))

    async def har(self) -> list[dict[str, Any]]:
        try:
            entries: list[dict[str, Any]] = json.loads(await self._call("GET", "/har"))
        except ServerError as error:
            if error.kind is ErrorKind.BAD_REQUEST:
                raise ConfigError(str(error)) from None
            raise
        return entries

    async def close(self) -> None:
        if self not in self._open_sessions:
            return
        self._open_sessions.remove(self)
        try:
            await self._server.request("DELETE", self._path, timeout=_CLOSE_TIMEOUT_S)
        except ServerError:
            pass  # it is gone with its server, or the server ends it when it is idle
        finally:
            self._server.own -= 1

    async def _call(self, method: str, path: str, **options: object) -> bytes:
        if self._lost is not None:
            raise ServerError(f"the session was lost before: {self._lost}")
        retries = self._step_retries
        while True:
            try:
                return (await self._server.request(method, self._path + path, **options)).content
            except ServerError as error:
                failed_by = (*_UNHEARD, *_CUT) if method == "GET" else _UNHEARD
                if not retries or not isinstance(error.__cause__, failed_by):
                    if error.kind in (None, ErrorKind.UNKNOWN_SESSION):
                        self._lost = error
                    raise
            retries -= 1
            await asyncio.sleep(_RETRY_AFTER_S)


class _Server:
    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.url = url
        self.own = 0
        """Number of sessions that this client has here or is opening."""
        self.down = ""
        """Why it takes no sessions, however many it has: it does not answer, or drains."""
        self._http = http
        self._others = self._most = 0
        """Number of sessions of other clients, and of places, as it reported."""

    @property
    def load(self) -> float:
        return (self._others + self.own) / self._most if self._most else 0.0

    @property
    def places(self) -> int:
        """Number of sessions that this client may have here: those that it has, and the free places."""
        return max(self.own, self._most - self._others)

    @property
    def trouble(self) -> str:
        """Why it cannot be asked for a session now; empty if it can."""
        full = f"full, {self._others + self.own} of {self._most} sessions are taken"
        return self.down or (full if self.load >= 1 else "")

    async def keep_checking(self) -> None:
        """Check its health for ever, and less often the longer it is down."""
        pause_s = _CHECK_EVERY_S
        while True:
            await asyncio.sleep(pause_s)
            await self.check()
            pause_s = min(2 * pause_s, _CHECK_AT_LEAST_EVERY_S) if self.down else _CHECK_EVERY_S

    async def check(self) -> None:
        try:
            response = await self._http.get(f"{self.url}/health", timeout=_CONNECT_TIMEOUT_S)
            health = Health.model_validate_json(response.content)
        except httpx.TransportError as error:
            self.down = f"unreachable, {_one_line(error)}"
        except ValidationError:
            self.down = f"HTTP {response.status_code}, and no webdojo browser service"
        else:
            self.down = "draining" if health.draining else ""
            self._others, self._most = health.sessions - self.own, health.max_sessions

    def refused(self, error: ServerError) -> None:
        """Remember why it took no session, until a session of this client ends or the next health check."""
        if error.kind is ErrorKind.FULL:
            self._most = max(self._most, 1)
            self._others = self._most - self.own
        else:
            self.down = str(error).removeprefix(f"{self.url}: ")

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Return a successful response; raises StartError or ServerError."""
        try:
            response = await self._http.request(method, f"{self.url}{path}", **options)
        except httpx.TransportError as error:
            raise ServerError(f"{self.url}: unreachable, {_one_line(error)}") from error
        if response.is_success:
            return response
        try:
            problem = ProblemBody.model_validate_json(response.content).error
        except ValidationError:  # a proxy or another server answered
            raise ServerError(f"{self.url}: HTTP {response.status_code}") from None
        message = f"{self.url}: {problem.message}"
        if problem.kind is ErrorKind.START_ERROR:
            raise StartError(message, problem.failure, problem.diagnostics)
        raise ServerError(message, problem.kind, problem.failure, problem.diagnostics)


def _checked(url: str) -> str:
    """Return the URL without a slash at its end; raise ConfigError if it cannot be a server's."""
    if not host_of(url) or urlsplit(url).query:
        raise ConfigError(f"{url!r} is no browser server's URL: write http://host:port")
    return url.rstrip("/")


def _one_line(error: httpx.TransportError) -> str:
    """Return the error as one line; some of httpx's errors have no text, only a type."""
    return " ".join(str(error).split()) or type(error).__name__
