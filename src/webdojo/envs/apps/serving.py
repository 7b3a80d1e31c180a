"""Serves the visits to applications: a process each, all behind one port.

A visit is forked from a process that has loaded the application (`inside.py`), which takes milliseconds and shares its
memory, in a folder with a copy of the data. `Front` hands each connection to the visit that its first request names in
a header, or to the one that a person browses. What fails here is remembered for the visit, so that its episode ends as
`env_error` and never as the agent's failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from webdojo.envs.apps.application import LOGINS, Home
from webdojo.envs.apps.inside import PAGES
from webdojo.errors import SiteError

VISIT_HEADER = "X-Webdojo-Visit"
LOOPBACK = "127.0.0.1"
_HEAD_BYTES = 64 * 1024
_CHUNK = 64 * 1024
_HOST = re.compile(rb"^Host:[ \t]*([\w-]+)-\d+\.localhost[:\r]", re.IGNORECASE | re.MULTILINE)
_NAMED = re.compile(rb"^" + VISIT_HEADER.encode() + rb":[ \t]*([0-9a-z-]+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class ApplicationProcess:
    """The process that the visits of one application are forked from; its `log` has what they print."""

    def __init__(self, home: Home, log: Path) -> None:
        self._lock = threading.Lock()
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [*home.command, "serve"], cwd=home.base, text=True, bufsize=1,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        self._log = log
        self._answer()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, **order: str) -> dict[str, Any]:
        """Give an order of `inside.serve`, and wait for its answer.

        Raises:
            SiteError: the process has ended.
        """
        assert self._process.stdin is not None
        with self._lock:
            try:
                self._process.stdin.write(json.dumps(order) + "\n")
            except (BrokenPipeError, ValueError):
                return self._lost()
            return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else self._lost()  # type: ignore[no-any-return]

    def _lost(self) -> dict[str, Any]:
        said = self._log.read_text(errors="replace").strip().splitlines()[-3:]
        raise SiteError(f"the application's process has ended: {' / '.join(said)}")

    def close(self) -> None:
        """End it and all its visits."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@dataclass
class Stay:
    """One visit as it is served."""

    home: Home
    process: ApplicationProcess
    snapshot: Path
    folder: Path
    socket: str
    failed: str = ""
    """Why the application does not serve it any more."""

    def pages(self) -> Iterator[dict[str, Any]]:
        """The HTML pages that it was served so far, first to last (`inside.PAGES`)."""
        file = self.folder / PAGES
        if file.exists():
            with file.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)


class Front:
    """A context manager that serves visits on one port of this machine, from a thread of its own."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._stays: dict[str, Stay] = {}
        self._processes: dict[str, ApplicationProcess] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()
        self._opened = 0
        self._failed = ""
        self.browsed = ""
        """The visit of requests that name none."""

    def __enter__(self) -> Self:
        self._work = tempfile.TemporaryDirectory(prefix="webdojo-apps-")
        self._loop = asyncio.new_event_loop()
        listening = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(listening,), daemon=True, name="apps")
        self._thread.start()
        listening.wait()
        if self._failed:
            self.__exit__()
            raise SiteError(f"port {self._port} cannot be used for the applications ({self._failed}); pick another")
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes.values():
            process.close()
        self._processes.clear()
        if not self._failed:
            self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._work.cleanup()

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self._port}"

    def open(self, visit: str, home: Home, seed: int) -> Stay:
        """Begin a visit; blocks while data is copied, which is made first for a seed that was never used.

        What asks for a host of another application than that of the visit `ID` goes to the visit `ID/APPLICATION`,
        where there is one.
        """
        with self._guard:
            lock = self._locks.setdefault(home.application.name, threading.Lock())
            self._opened += 1
            folder = Path(self._work.name) / f"{self._opened}"
        with lock:
            snapshot = home.snapshot(seed)
            process = self._processes.get(home.application.name)
            if process is None or not process.alive:
                home.check()
                log = Path(self._work.name) / f"{home.application.name}.log"
                process = self._processes[home.application.name] = ApplicationProcess(home, log)
        shutil.copytree(snapshot, folder, ignore=shutil.ignore_patterns(LOGINS))
        stay = Stay(home, process, snapshot, folder, f"{folder}.socket")
        process.ask(start=visit, folder=str(folder), socket=stay.socket)
        self._stays[visit] = stay
        return stay

    def stay(self, visit: str) -> Stay:
        """A visit that goes on.

        Raises:
            SiteError: its application has crashed, or served it no page.
        """
        stay = self._stays[visit]
        if not stay.failed and not (stay.process.alive and stay.process.ask(alive=visit)["alive"]):
            stay.failed = "its process has ended"
        if stay.failed:
            raise SiteError(f"{stay.home.application.name} does not serve visit {visit} any more: {stay.failed}")
        return stay

    def end(self, visit: str) -> None:
        """End a visit and delete its data; unknown ones are ignored."""
        stay = self._stays.pop(visit, None)
        if stay is None:
            return
        if stay.process.alive:
            stay.process.ask(stop=visit)
        shutil.rmtree(stay.folder, ignore_errors=True)
        Path(stay.socket).unlink(missing_ok=True)

    def _serve(self, listening: threading.Event) -> None:
        try:
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(self._listen(listening))
        finally:
            self._loop.close()
            listening.set()

    async def _listen(self, listening: threading.Event) -> None:
        self._ended = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()
        try:
            server = await asyncio.start_server(self._accept, LOOPBACK, self._port, limit=_HEAD_BYTES)
        except OSError as error:
            self._failed = str(error.strerror)
            return
        self._port = server.sockets[0].getsockname()[1]
        listening.set()
        await self._ended.wait()
        server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                head = await reader.readuntil(b"\r\n\r\n")
                await self._pass_on(head, reader, writer)
        finally:
            self._open.discard(task)
            writer.close()

    async def _pass_on(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand a connection to the visit that its first request names, until either side ends it."""
        named, host = _NAMED.search(head), _HOST.search(head)
        visit = named[1].decode() if named else self.browsed
        stay = self._stays.get(f"{visit}/{host[1].decode().lower()}") if host else None
        stay = stay or self._stays.get(visit)
        if stay is None:
            writer.write(_page(404, "Not Found", "No visit to an application has this address."))
            return
        try:
            from_app, to_app = await asyncio.open_unix_connection(stay.socket)
        except OSError as error:
            stay.failed = f"it takes no connection ({error.strerror})"
            writer.write(_page(502, "Bad Gateway", "The application does not answer."))
            return
        to_app.write(head)
        sending = asyncio.ensure_future(_copy(reader, to_app))
        try:
            if not await _copy(from_app, writer):
                stay.failed = "it ended a connection without an answer"
                writer.write(_page(502, "Bad Gateway", "The application does not answer."))
        finally:
            sending.cancel()
            to_app.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    """Copy until the end; return the number of bytes."""
    count = 0
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(_CHUNK):
            count += len(data)
            writer.write(data)
            await writer.drain()
    return count


def _page(status: int, phrase: str, text: str) -> bytes:
    body = f"<!doctype html><title>{phrase}</title><p>{text}</p>".encode()
    head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body
