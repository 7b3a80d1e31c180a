"""Sessions on browser servers, with the interface of the local pool.

A session stays on one server until it ends; only new sessions go to another server. No request that could have an
effect is ever sent twice. Screenshots arrive as bytes, are stored under the same hash as those of a local browser, and
are not sent again while the screen stays the same.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from typing import Self
from urllib.parse import urlsplit

import httpx

from webdojo.browser.config import StorageState
from webdojo.browser.interface import ActResult
from webdojo.browser.page.snapshot import Snapshot
from webdojo.browser_service.remote import RemoteServer, ServerError
from webdojo.browser_service.wire import ErrorKind, Opened, unpack_observation, unpack_result, unpack_snapshot
from webdojo.errors import BrowserError, ConfigError, Failure, StartError
from webdojo.types import ImageSink, Observation, ToolCall, View

_CONNECT_TIMEOUT_S = 5.0
_CLOSE_TIMEOUT_S = 15.0
_KEEP_ALIVE_S = 30.0
"""Shorter than servers keep idle connections."""
_POLL_S = 0.05
_CHECK_EVERY_S = 2.0
_CHECK_AT_LEAST_EVERY_S = 30.0


class RemotePool:
    """Sessions on many servers, the least loaded first; an async context manager.

    Args:
        servers: their URLs, such as `http://10.0.0.7:8400`.
        images: where screenshots are stored.
        token: the WEBDOJO_BROWSER_TOKEN of the servers.
        acquire_timeout_s: how long `open` looks for a server with a free place.
        call_timeout_s: how long any single call may take, its time in the server's queue included.

    Raises:
        ConfigError: there is no server, or a URL that cannot be a server's.
    """

    def __init__(
        self,
        servers: Sequence[str],
        images: ImageSink,
        token: str = "",
        *,
        acquire_timeout_s: float = 60,
        call_timeout_s: float = 300,
    ) -> None:
        if not servers:
            raise ConfigError("no browser server is given: name at least one, such as http://10.0.0.7:8400")
        urls = [_checked(url) for url in servers]
        self._images = images
        self._acquire_timeout_s = acquire_timeout_s
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(call_timeout_s, connect=_CONNECT_TIMEOUT_S),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=_KEEP_ALIVE_S),
            trust_env=False,
        )
        self._servers = [RemoteServer(url, self._http) for url in urls]
        self._line = asyncio.Lock()
        """Held by the caller that looks for a free server; first come, first served."""
        self._checks: list[asyncio.Task[None]] = []
        self._open: set[RemoteSession] = set()

    async def __aenter__(self) -> Self:
        await asyncio.gather(*(server.check() for server in self._servers))
        self._checks = [asyncio.create_task(_keep_checking(server)) for server in self._servers]
        return self

    async def __aexit__(self, *error: object) -> None:
        for task in self._checks:
            task.cancel()
        await asyncio.gather(*(session.close() for session in self._open))
        await self._http.aclose()

    @property
    def places(self) -> int:
        """How many sessions this client may have at once: its own, and the free places of its servers.

        There is no limit if no server takes sessions, so that `open` is called and reports why.
        """
        taking = [server.places for server in self._servers if server.takes_sessions]
        return sum(taking) if taking else sys.maxsize

    async def open(
        self, start_url: str, headers: dict[str, str] | None = None, storage_state: StorageState | None = None
    ) -> RemoteSession:
        """See `interface.Pool.open`; the server must be able to reach `start_url`.

        Raises:
            StartError: the start URL is refused, or cannot be reached from the server.
            BrowserError: a server failed, or none had a free place in time; the message gives the reason of each.
        """
        deadline = asyncio.get_running_loop().time() + self._acquire_timeout_s
        body = {"start_url": start_url, "headers": headers or {}, "storage_state": storage_state}
        while True:
            server = await self._free_server(deadline)
            try:
                opened = await server.request("POST", "/sessions", json=body)
            except ServerError as error:
                server.own -= 1
                if error.kind is ErrorKind.BAD_REQUEST:
                    raise StartError(str(error)) from None
                if error.kind not in (ErrorKind.FULL, ErrorKind.DRAINING, None):
                    raise
                server.refused(error)
            except BaseException:
                server.own -= 1
                raise
            else:
                session = RemoteSession(server, Opened.model_validate_json(opened.content), self._images, self._open)
                self._open.add(session)
                return session

    async def _free_server(self, deadline: float) -> RemoteServer:
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
    """A session on a server; `RemotePool.open` makes one."""

    def __init__(
        self, server: RemoteServer, opened: Opened, images: ImageSink, open_sessions: set[RemoteSession]
    ) -> None:
        self.viewport_px = opened.viewport_px
        self._server = server
        self._path = f"/sessions/{opened.id}"
        self._images = images
        self._open_sessions = open_sessions
        self._seen = ""
        """Hash of the last screenshot, which is stored in the sink."""
        self._lost: ServerError | None = None
        self._closed = False

    async def observe(self, view: View | None = None) -> Observation:
        """See `interface.Session.observe`."""
        asked = {} if view is None else {"view": view.kind, **view.model_dump(exclude={"kind"})}
        response = await self._call("GET", "/observation", params={"have": self._seen, **asked})
        observation, image = unpack_observation(response.content)
        shot = observation.screenshot
        if shot.sha != self._seen:
            stored = await asyncio.to_thread(self._images.put, image, shot.width, shot.height, shot.mime)
            if stored != shot:
                raise BrowserError(
                    f"{self._server.url}: the screenshot's {len(image)} bytes do not match its hash",
                    Failure.SERVER_LOST,
                )
            self._seen = shot.sha
        return observation

    async def act(self, calls: Sequence[ToolCall]) -> ActResult:
        """See `interface.Session.act`; the calls are never sent twice."""
        body = json.dumps({"calls": [{"name": call.name, "arguments": call.arguments} for call in calls]})
        headers = {"Content-Type": "application/json"}
        response = await self._call("POST", "/act", content=body, headers=headers)
        return unpack_result(response.content)

    async def snapshot(self) -> Snapshot:
        """See `interface.Session.snapshot`."""
        return unpack_snapshot((await self._call("GET", "/snapshot")).content)

    async def close(self) -> None:
        """See `interface.Session.close`."""
        if self._closed:
            return
        self._closed = True
        try:
            await self._server.request("DELETE", self._path, timeout=_CLOSE_TIMEOUT_S)
        except ServerError:
            pass  # it is gone with its server, or the server ends it when it is idle
        finally:
            self._server.own -= 1
            self._open_sessions.discard(self)

    async def _call(self, method: str, path: str, **options: object) -> httpx.Response:
        if self._lost is not None:
            raise BrowserError(f"the session was lost before: {self._lost}", Failure.SERVER_LOST)
        try:
            return await self._server.request(method, self._path + path, **options)
        except ServerError as error:
            if error.kind in (None, ErrorKind.UNKNOWN_SESSION):
                self._lost = error
            raise


def _checked(url: str) -> str:
    """Return the URL without a slash at its end; raise ConfigError if it cannot be a server's."""
    try:
        parts = urlsplit(url)
        names_server = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query
        _ = parts.port
    except ValueError:
        names_server = False
    if not names_server:
        raise ConfigError(f"{url!r} is no browser server's URL: write http://host:port")
    return url.rstrip("/")


async def _keep_checking(server: RemoteServer) -> None:
    """Check the health of a server for ever, and less often the longer it fails."""
    pause_s = _CHECK_EVERY_S
    while True:
        await asyncio.sleep(pause_s)
        healthy = await server.check()
        pause_s = _CHECK_EVERY_S if healthy else min(2 * pause_s, _CHECK_AT_LEAST_EVERY_S)
