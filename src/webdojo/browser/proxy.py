"""The forward proxy through which a browser reaches the web: every connection passes the guard.

It connects to the very address that the guard checked, so a name that resolves to something else a
moment later gains nothing. TLS passes through unread. A refused host is answered with 403, and so
is everything but http: no page can speak to another service of this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from webdojo.browser.guard import Guard, Refused

_HEAD_BYTES = 64 * 1024
_HEAD_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 15.0
_CHUNK = 64 * 1024
_HOP_BY_HOP = ("proxy-connection", "proxy-authorization", "connection", "keep-alive")


class GuardProxy:
    """Serves on a free port of 127.0.0.1 inside `async with`."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # one side is gone
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
        host = ""
        try:
            parts = urlsplit(f"//{target}" if tunnel else target)
            if (not tunnel and parts.scheme != "http") or not parts.hostname:
                raise Refused("only http and https are allowed")
            host, port = parts.hostname, parts.port or 80
            addresses = await self._guard.resolve(host, port)
        except (Refused, ValueError) as refused:
            await _answer(writer, 403, "Forbidden", str(refused))
            return
        except OSError:
            await self._unreachable(writer, host, "the host has no address")
            return
        try:
            upstream, to_host = await _connect(addresses, port)
        except (OSError, TimeoutError):
            await self._unreachable(writer, host, "the host does not answer")
            return
        try:
            if tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
                kept = [line for line in headers if line.partition(":")[0].strip().lower() not in _HOP_BY_HOP]
                lines = [f"{method} {path} {version}", *kept, "Connection: close"]
                to_host.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
            await _join(reader, writer, upstream, to_host)
        finally:
            to_host.close()

    async def _unreachable(self, writer: asyncio.StreamWriter, host: str, reason: str) -> None:
        self._guard.failed(host, reason)
        await _answer(writer, 502, "Bad Gateway", reason)


async def _connect(addresses: list[str], port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first address that takes one."""
    for number, address in enumerate(addresses, 1):
        try:
            async with asyncio.timeout(_CONNECT_TIMEOUT_S):
                return await asyncio.open_connection(address, port)
        except (OSError, TimeoutError):
            if number == len(addresses):
                raise
    raise OSError("no address")


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    upstream: asyncio.StreamReader,
    to_host: asyncio.StreamWriter,
) -> None:
    """Carry bytes both ways until the host has said everything."""
    asking = asyncio.create_task(_pump(reader, to_host))
    try:
        await _pump(upstream, writer)
    finally:
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await asking


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(_CHUNK):
        target.write(data)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()


async def _answer(writer: asyncio.StreamWriter, status: int, phrase: str, reason: str) -> None:
    body = f"webdojo: {reason}\n".encode()
    head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
    await writer.drain()
