"""The forward proxy through which a browser reaches the web, and which asks the guard about every connection.

It connects to the very address that the guard checked, so a name that resolves to another address a moment later gains
nothing. TLS passes through unread. Everything except http and https is refused, so that no page can speak to another
service of this machine. Invariant: a browser never shows a word of the proxy as if a site had said it. What is refused
or not reached gets no answer at all, with or without TLS, and the guard remembers why.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
import time
from typing import Self
from urllib.parse import unquote, urlsplit

from webdojo.browser.network.guard import Guard, Recent, Refused
from webdojo.errors import ConfigError

_HEAD_BYTES = 64 * 1024
_HEAD_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 15.0
_CHUNK = 64 * 1024
_BURST_S = 5.0
_HOP_BY_HOP = ("proxy-connection", "proxy-authorization", "connection", "keep-alive")


class RateLimit:
    """At most so many connections a second to each host, averaged over five seconds (a leaky bucket as a meter).

    So training does not overload the sites that it uses; 0 means no limit.
    """

    def __init__(self, per_second: float) -> None:
        self._interval = 1 / per_second if per_second else 0.0
        self._next: Recent[float] = Recent()
        """The time at which the booked connections of each host would all be made, at an even pace."""

    def delay(self, host: str) -> float:
        """Book a connection, and return the seconds to wait before making it."""
        now = time.monotonic()
        at = max(self._next.get(host, now), now)
        self._next[host] = at + self._interval
        return max(0.0, at - now - _BURST_S)


class GuardProxy:
    """A proxy on a free port of 127.0.0.1; an async context manager.

    Args:
        upstream: the URL of another proxy to go through; that one resolves names, so the guard checks names only.
        per_second: connections to one host; more have to wait (`RateLimit`).
    """

    def __init__(self, guard: Guard, upstream: str = "", per_second: float = 0) -> None:
        self._guard = guard
        self._rate = RateLimit(per_second)
        self._upstream = _read_upstream(upstream) if upstream else None
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # one side is gone, or the proxy ends; asyncio prints a traceback for a handler that was cancelled
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_TIMEOUT_S):
            head = await reader.readuntil(b"\r\n\r\n")
        request, *headers = head[:-4].decode("latin-1").split("\r\n")
        method, _, rest = request.partition(" ")
        target, _, version = rest.rpartition(" ")
        tunnel = method == "CONNECT"
        try:
            parts = urlsplit(f"//{target}" if tunnel else target)
            if (not tunnel and parts.scheme != "http") or not parts.hostname:
                raise Refused("only http and https are allowed")
            await asyncio.sleep(self._rate.delay(parts.hostname))
            upstream, to_host = await self._reach(parts.hostname, parts.port or 80)
        except (Refused, ValueError, ConnectionError):
            return
        try:
            kept = [line for line in headers if line.partition(":")[0].strip().lower() not in _HOP_BY_HOP]
            if self._upstream is not None:
                to_host.write(_head(request, *kept, *self._upstream[2]))
            elif tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
                to_host.write(_head(f"{method} {path} {version}", *kept))
            # Copy bytes both ways until the host closes its side.
            asking = asyncio.create_task(_pump(reader, to_host))
            try:
                await _pump(upstream, writer)
            finally:
                asking.cancel()
                with contextlib.suppress(asyncio.CancelledError, OSError):
                    await asking
        finally:
            to_host.close()

    async def _reach(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        with self._guard.reaching(host, port):
            if self._upstream is not None:
                self._guard.check(host)
                proxy, proxy_port, _ = self._upstream
                return await _connect([proxy], proxy_port, "the proxy does not answer")
            try:
                return await _connect(await self._guard.resolve(host, port), port, "the host does not answer")
            except socket.gaierror:
                raise ConnectionError("the host has no address") from None


def _read_upstream(url: str) -> tuple[str, int, list[str]]:
    """Parse `http://user:password@host:port`: host, port, and the header that logs in, if there is a user name."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        host, port = None, 0
    if host is None or parts.scheme != "http":
        shown = url.rpartition("@")[2]  # without a password
        raise ConfigError(f"browser.proxy is {shown!r}: write http://host:port or http://user:${{NAME}}@host:port")
    if parts.username is None:
        return host, port, []
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return host, port, [f"Proxy-Authorization: Basic {base64.b64encode(login.encode()).decode()}"]


def _head(request: str, *headers: str) -> bytes:
    return "\r\n".join([request, *headers, "Connection: close", "", ""]).encode("latin-1")


async def _connect(
    addresses: list[str], port: int, otherwise: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first address that answers; raise ConnectionError with the message `otherwise` if none does."""
    for address in addresses:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CONNECT_TIMEOUT_S):
                return await asyncio.open_connection(address, port)
    raise ConnectionError(otherwise)


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(_CHUNK):
        target.write(data)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()
