"""Runs trials: serves their pages, leads an environment through their steps, and judges what it showed and told.

The rule is the same for every environment: the session goes on, what the agent is told is true, and the next step
works (README.md). `test_gauntlet.py` runs webdojo's browser, `benchmarks/gauntlet.py` its peers as well.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from PIL import Image

from tests.browser.gauntlet.pages import (
    CanaryUntouched,
    Expect,
    FeedbackAtMost,
    FeedbackSaysAny,
    FeedbackSaysNone,
    Json,
    PageState,
    PictureSize,
    PixelNear,
    Response,
    ServerNeverSaw,
    ServerSaw,
    Step,
    Tabs,
    Trial,
    UrlEnds,
    placeholders,
    wait,
)

ADDRESSES = {"main": "127.0.0.1", "other": "127.0.0.2", "canary": "127.0.0.3"}
"""Where the servers listen: two sites that may be reached, and one that may not."""
STEP_S = 15.0
"""The longest that a step may take, its picture included."""
_STATE_S = 2.0
"""How long a page may take to come to the state that is expected."""


class Session(Protocol):
    """One session of an environment; coordinates are in pixels of the viewport."""

    async def do(self, step: Step) -> str:
        """Carry out a step; return what the agent is told."""

    async def picture(self) -> bytes:
        """Return what the agent is shown."""

    async def evaluate(self, expression: str) -> Json: ...

    async def address(self) -> str: ...

    async def tabs(self) -> int: ...

    async def close(self) -> None: ...


Open = Callable[[str], Awaitable[Session]]
"""Opens a session of an environment at an address."""


T = TypeVar("T")


@dataclass
class Outcome:
    """What became of a trial."""

    failures: list[str] = field(default_factory=list)
    lost: bool = False
    """Whether a session was lost, or never opened."""
    canary_hits: int = 0
    told: list[str] = field(default_factory=list)


@dataclass
class Servers:
    """The three servers of one trial."""

    trial: Trial
    origins: dict[str, str] = field(default_factory=dict)
    asked: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in ADDRESSES})
    touched: int = 0
    """Connections and packets to the canary."""
    packets: socket.socket = field(default_factory=lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    _answered: Counter[tuple[str, str]] = field(default_factory=Counter)

    def filled(self, text: str) -> str:
        """Return a text of a trial with the addresses of the servers in it."""
        host, _, port = self.origins["canary"].removeprefix("http://").partition(":")
        for mark, meant in placeholders(self.origins["main"], self.origins["other"], host, int(port)).items():
            text = text.replace(mark, meant)
        return text

    def count_packets(self) -> None:
        """Count what has come to the canary without a connection."""
        with suppress(BlockingIOError):
            while True:
                self.packets.recv(65536)
                self.touched += 1

    def answer(self, server: str, target: str) -> Response:
        path = urlsplit(target).path
        self.asked[server][path] += 1
        if server == "canary":
            return Response("canary", headers=(("Access-Control-Allow-Origin", "*"),))
        key = target if target in self.trial.files else path
        found = self.trial.files.get(key, Response("not here", 404))
        if isinstance(found, tuple):
            self._answered[server, key] += 1
            found = found[min(self._answered[server, key], len(found)) - 1]
        return found if isinstance(found, Response) else Response(found)


@contextmanager
def served(trial: Trial) -> Iterator[Servers]:
    servers = Servers(trial)
    running = []

    def start(name: str, kind: type[_Server], address: str, port: int = 0) -> int:
        server = kind((address, port), _handler(servers, name))
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        running.append(server)
        return server.server_port

    for name, address in ADDRESSES.items():
        servers.origins[name] = f"http://{address}:{start(name, _Server, address)}"
    port = int(servers.origins["canary"].rpartition(":")[2])
    with suppress(OSError):  # a machine without IPv6
        start("canary", _Server6, "::1", port)
    servers.packets.bind((ADDRESSES["canary"], port))
    servers.packets.setblocking(False)
    try:
        yield servers
    finally:
        servers.packets.close()
        for server in running:
            server.stopping.set()
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.stopping = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a browser that goes away in mid-answer is no news


class _Server6(_Server):
    address_family = socket.AF_INET6


def _handler(servers: Servers, name: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server: _Server

        def setup(self) -> None:
            super().setup()
            servers.touched += name == "canary"

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            said = servers.answer(name, self.path)
            stopping = self.server.stopping
            if said.delay_s:
                stopping.wait(said.delay_s)
            if said.hang:
                stopping.wait(120)
            if said.hang or said.drop or stopping.is_set():
                self.close_connection = True
                return
            body = _bytes(servers, said.body)
            self.send_response(said.status)
            for key, value in said.headers:
                self.send_header(key, servers.filled(value))
            if said.chunks:
                self.send_header("Transfer-Encoding", "chunked")
            else:
                given = [value for key, value in said.headers if key.lower() == "content-length"]
                if not given and said.status >= 200 and said.status not in (204, 304):
                    self.send_header("Content-Length", str(len(body)))
                self.close_connection = self.close_connection or bool(given and int(given[0]) > len(body))
            self.end_headers()
            if self.command == "HEAD":
                return
            if not said.chunks:
                self.wfile.write(body)
                return
            self._chunk(body)
            while True:
                for pause_s, piece in said.chunks:
                    if stopping.wait(pause_s):
                        return
                    self._chunk(_bytes(servers, piece))
                if not said.repeat_chunks:
                    self.wfile.write(b"0\r\n\r\n")
                    return

        def _chunk(self, data: bytes) -> None:
            if data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            pass

        do_GET = do_POST = do_HEAD = do_OPTIONS = do_PUT = _serve

    return Handler


def _bytes(servers: Servers, body: str | bytes) -> bytes:
    return servers.filled(body).encode() if isinstance(body, str) else body


@dataclass
class _Shown:
    """What a session told and showed after each step; the first picture is that of the start."""

    told: list[str] = field(default_factory=list)
    pictures: list[Image.Image] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    """Failed expectations of the page's state, address and tabs, which are asked for between the steps."""


async def attempt(trial: Trial, open_session: Open) -> Outcome:
    """Lead an environment through a trial, and say what did not hold."""
    outcome = Outcome()
    with served(trial) as servers:
        shown: dict[int, _Shown] = {}
        opened: list[Session] = []
        parts = [(1, trial.start, trial.steps)]
        if trial.second_session_steps is not None:
            parts.append((2, trial.second_session_start, trial.second_session_steps))
        try:
            for number, start, steps in parts:
                if number == 2 and not trial.first_session_stays_open:
                    await opened.pop().close()
                shown[number] = _Shown()
                async with asyncio.timeout(60):
                    session = await open_session(servers.filled(servers.origins["main"] + start))
                opened.append(session)
                await _lead(trial, number, session, steps, servers, shown[number])
        except Exception as error:  # whatever an environment raises, its session is over
            outcome.lost = True
            reason = (str(error).splitlines() or [""])[0][:200]
            at = f"session {max(shown)}, step {len(shown[max(shown)].told)}"
            outcome.failures.append(f"{at}: {type(error).__name__}: {reason}")
        finally:
            for session in opened:
                try:
                    async with asyncio.timeout(30):
                        await session.close()
                except Exception as error:
                    outcome.failures.append(f"close: {type(error).__name__}: {error}")
        if not outcome.lost:
            await asyncio.sleep(1)  # what is on its way to a server arrives
            servers.count_packets()
            for expected in trial.expects:
                outcome.failures += _check(expected, trial, servers, shown)
            outcome.failures += [each for part in shown.values() for each in part.facts]
        outcome.told = [text for part in shown.values() for text in part.told]
        outcome.canary_hits = servers.touched
    return outcome


async def _lead(
    trial: Trial, number: int, session: Session, steps: tuple[Step, ...], servers: Servers, shown: _Shown
) -> None:
    shown.pictures.append(Image.open(io.BytesIO(await _timely("the first picture", session.picture()))).convert("RGB"))
    await _look(trial, number, -1, session, servers, shown)
    for at, (name, arguments) in enumerate([*steps, wait(0.5)]):
        given = {key: servers.filled(value) if isinstance(value, str) else value for key, value in arguments.items()}
        limit_s = STEP_S + (arguments["seconds"] if name == "wait" else 0)
        began = time.monotonic()
        try:
            said = await _timely(f"step {at}", session.do((name, given)), limit_s)
        except TimeoutError:
            raise
        except Exception as error:  # it is what the agent is told, where the environment can still show a picture
            said = str(error)
        left_s = limit_s - (time.monotonic() - began)
        picture = Image.open(io.BytesIO(await _timely(f"the picture of step {at}", session.picture(), left_s)))
        picture.load()
        if at == len(steps):
            break
        shown.told.append(said)
        shown.pictures.append(picture.convert("RGB"))
        await _look(trial, number, at, session, servers, shown)
        if at == len(steps) - 1:
            await _look(trial, number, None, session, servers, shown)


async def _timely(what: str, work: Awaitable[T], limit_s: float = STEP_S) -> T:
    try:
        async with asyncio.timeout(max(limit_s, 0.1)):
            return await work
    except TimeoutError as error:
        raise TimeoutError(f"{what} took more than {limit_s:.0f} s; {error}") from None


async def _look(trial: Trial, number: int, at: int | None, session: Session, servers: Servers, shown: _Shown) -> None:
    """Check what holds of the page, its address and its tabs after a step."""
    for expected in trial.expects:
        if not isinstance(expected, PageState | UrlEnds | Tabs) or (expected.after, expected.session) != (at, number):
            continue
        wanted: object
        if isinstance(expected, PageState):
            end = time.monotonic() + _STATE_S
            while (found := await _value(session, servers.filled(expected.expression))) != expected.value:
                if time.monotonic() > end:
                    break
                await asyncio.sleep(0.1)
            wanted, good, what = expected.value, found == expected.value, expected.expression
        elif isinstance(expected, UrlEnds):
            found, wanted, what = await session.address(), servers.filled(expected.text), "address"
            good = str(found).endswith(str(wanted))
        else:
            found, wanted, what = await session.tabs(), (expected.least, expected.most), "tabs"
            good = expected.least <= int(str(found)) <= expected.most
        if not good:
            when = "at the end" if at is None else f"after step {at}"
            shown.facts.append(f"{when}: {what}: {json.dumps(found)[:120]}, not {json.dumps(wanted)[:120]}")


async def _value(session: Session, expression: str) -> Json:
    """Return the value of an expression in the page, or why there is none."""
    try:
        async with asyncio.timeout(_STATE_S):
            return await session.evaluate(expression)
    except Exception as error:
        return f"no answer: {type(error).__name__}: {error}"


def _check(expected: Expect, trial: Trial, servers: Servers, shown: dict[int, _Shown]) -> Iterator[str]:
    """Yield what is wrong with pictures, feedback and requests."""
    match expected:
        case PictureSize(width, height, after, session):
            size = _picture(shown[session], after).size
            if size != (width, height):
                yield f"the picture is {size[0]} x {size[1]}, not {width} x {height}"
        case PixelNear(x, y, rgb, tolerance, after, session):
            picture = _picture(shown[session], after)
            found = picture.getpixel((x, y)) if x < picture.width and y < picture.height else None
            if not isinstance(found, tuple) or any(
                abs(one - other) > tolerance for one, other in zip(found, rgb, strict=True)
            ):
                yield f"pixel ({x}, {y}) after step {after} is {found}, not {rgb}"
        case FeedbackSaysAny(texts, after, session):
            told = _told(shown[session], after)
            if not any(text in each for each in told for text in texts):
                yield f"{told} says none of {texts[:6]}"
        case FeedbackSaysNone(texts, after, session):
            for each in _told(shown[session], after):
                if wrong := [text for text in texts if text in each]:
                    yield f"{each[:160]!r} says {wrong[:3]}"
        case FeedbackAtMost(characters, after, session):
            if long := [each for each in _told(shown[session], after) if len(each) > characters]:
                yield f"feedback of {len(long[0])} characters"
        case ServerSaw(path, server, at_least):
            if servers.asked[server][path] < at_least:
                yield f"{server} was asked for {path} {servers.asked[server][path]} times, not {at_least}"
        case ServerNeverSaw(path, server):
            if servers.asked[server][path]:
                yield f"{server} was asked for {path}"
        case CanaryUntouched():
            if servers.touched:
                yield f"the canary was reached {servers.touched} times: {dict(servers.asked['canary'])}"
        case _:
            pass
    for part in shown.values():
        for each in part.told:
            if re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", each) or each.encode(errors="ignore").decode() != each:
                yield f"{each[:80]!r} has control characters"
        for picture in part.pictures:
            if picture.size != trial.viewport:
                yield f"a picture of {picture.size}"


def _picture(shown: _Shown, after: int | None) -> Image.Image:
    return shown.pictures[-1 if after is None else after + 1]


def _told(shown: _Shown, after: int | tuple[int, ...] | None) -> list[str]:
    places = (len(shown.told) - 1,) if after is None else (after,) if isinstance(after, int) else after
    return [shown.told[at].lower() for at in places]
