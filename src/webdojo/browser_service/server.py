"""The browser service over HTTP, with one route for each operation and one shape for all errors, until a signal.

A request whose client disconnects is cancelled, and a session that was opened for a client that has disconnected is
closed, so that no disconnected client keeps a slot or a place.

SIGTERM or Ctrl-C begins a drain: the server takes no new sessions, `/health` answers 503, and calls on open sessions go
on. The process ends when the last session has ended, after `serve.drain_timeout_s`, or at a second signal.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import socket
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict
from http import HTTPStatus
from types import FrameType
from typing import Annotated, Any, TypeVar

import uvicorn
from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from webdojo.browser.config import BrowserConfig
from webdojo.browser.interface import ActResult, PageRead
from webdojo.browser.page.snapshot import Snapshot
from webdojo.browser_service import wire
from webdojo.browser_service.service import SessionService
from webdojo.browser_service.wire import TOKEN_VARIABLE, ErrorKind, Refused, host_of, is_loopback
from webdojo.errors import BrowserError, ConfigError, Failure, StartError, WebdojoError
from webdojo.types import View, ViewKind
from webdojo.version import __version__

_ABOUT = (
    "Isolated sessions in real Chromium. `POST /sessions` opens one; then observe and act in turns; `DELETE` ends it. "
    "`webdojo.browser_service.client.RemotePool` speaks this protocol."
)
_OBSERVATION = (
    "A line of JSON (`webdojo.types.Observation`), then the bytes of the encoded screenshot. "
    "The bytes are left out if the screenshot is the one that the query names in `have`."
)
_BINARY = {"type": "string", "format": "binary"}
_LATER = {"Retry-After": "1"}
_HEADERS = {ErrorKind.FULL: _LATER, ErrorKind.DRAINING: _LATER, ErrorKind.UNAUTHORIZED: {"WWW-Authenticate": "Bearer"}}

KEEP_ALIVE_S = 75
"""Longer than clients keep idle connections, so that no request meets a connection that just closed."""
_STOP_TIMEOUT_S = 5

OPEN_PATHS = frozenset({"/health", "/docs", "/openapi.json"})
"""Paths that need no token, because they tell nothing about sessions; probes and people read them."""
_FROM_PAGES = ("origin", "referer", "sec-fetch-site")

_T = TypeVar("_T")


async def serve(
    config: BrowserConfig,
    *,
    host: str,
    port: int,
    token: str,
    hosts: Mapping[str, str],
    on_listening: Callable[[str], None],
) -> None:
    """Serve sessions until a signal, on a free port where `port` is 0; `on_listening` is told the URL."""
    if not token and not is_loopback(host):
        raise ConfigError(
            f"--host {host} can be reached from other machines, and there is no token: "
            f"set {TOKEN_VARIABLE} in the environment, or leave --host out to serve this machine only"
        )
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.create_server(address[:2], family=family)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror}; pick others with --host and --port"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    with listening:
        async with SessionService(config, hosts) as service:
            on_listening(f"http://{shown}:{listening.getsockname()[1]}")
            await DrainingServer(service, token).serve([listening])


def read_hosts(options: Sequence[str]) -> dict[str, str]:
    """Parse `PATTERN=ADDRESS` options into what `BrowserPool` takes."""
    hosts = {}
    for option in options:
        pattern, _, address = option.partition("=")
        if not pattern or not address or set(option) & set(", ;"):
            raise ConfigError(f"--hosts {option!r} must look like PATTERN=ADDRESS, e.g. *.localhost:80=10.0.0.5:4000")
        hosts[pattern] = address
    return hosts


class DrainingServer(uvicorn.Server):
    """A uvicorn server whose first stop signal begins a drain."""

    def __init__(self, service: SessionService, token: str) -> None:
        super().__init__(
            uvicorn.Config(
                create_app(service, token),
                lifespan="off",
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=_STOP_TIMEOUT_S,
            )
        )
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._service.health.draining:
            self.should_exit = True
        else:
            self._service.drain()

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._service.drained


def create_app(service: SessionService, token: str) -> FastAPI:
    async def handle(request: Request, error: Exception) -> Response:
        if isinstance(error, Refused) and error.kind is not ErrorKind.UNKNOWN_SESSION:
            service.metrics.refused.labels(error.kind).inc()
        return _error_response(request, error)

    handled = (Refused, BrowserError, RequestValidationError, HTTPException, _ClientGone, Exception)
    app = FastAPI(
        title="webdojo browser service",
        description=_ABOUT,
        version=__version__,
        redoc_url=None,
        dependencies=[Depends(HTTPBearer(auto_error=False, description="What `check_access` checks."))],
        exception_handlers=dict.fromkeys(handled, handle),
    )

    def guarded(inner: ASGIApp) -> ASGIApp:
        """Refuse requests without access before anything else reads them."""

        async def guard(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":  # there are no web sockets here
                return
            request = Request(scope)
            try:
                check_access(token, scope["path"], request.headers)
            except Refused as error:
                response = await handle(request, error)
                await response(scope, receive, send)
            else:
                await inner(scope, receive, send)

        return guard

    app.add_middleware(guarded)

    @app.post("/sessions", status_code=201, responses=_problems(424, 429, 502, 503))
    async def open_session(body: wire.OpenRequest, request: Request) -> wire.Opened:
        """Open a session at a URL, ready to be observed."""
        opened = await _while_connected(request, service.open(body))
        if await request.is_disconnected():
            await service.close(opened.id)
        return opened

    @app.get(
        "/sessions/{session_id}/observation",
        response_class=Response,
        responses=_problems(404, 502)
        | {200: {"description": _OBSERVATION, "content": {wire.OBSERVATION_MIME: {"schema": _BINARY}}}},
    )
    async def observe(
        session_id: str,
        request: Request,
        have: str = Query(default="", description="SHA-256, in hex, of the screenshot that the client has."),
        view: Annotated[ViewKind | None, Query(description="Numbers the controls, for calls with `element`.")] = None,
        max_tokens: int = Query(default=4096, ge=16, le=1_000_000, description="Of the view's text, about."),
        whole_page: bool = Query(default=False, description="The view's text has what is out of view, too."),
    ) -> Response:
        """See the active tab as it is now."""
        asked = View(kind=view, max_tokens=max_tokens, whole_page=whole_page) if view is not None else None
        observation, image = await _while_connected(request, service.observe(session_id, have, asked))
        line = wire.pack(observation.model_dump(mode="json"))
        return Response(line + b"\n" + image, media_type=wire.OBSERVATION_MIME)

    @app.post("/sessions/{session_id}/act", response_model=ActResult, responses=_problems(404, 502))
    async def act(session_id: str, body: wire.ActRequest, request: Request) -> Response:
        """Execute tool calls in order; `done`, or a call that times out, ends the turn."""
        result = await _while_connected(request, service.act(session_id, body.calls))
        return _json(wire.RESULT.dump_python(result))

    @app.get("/sessions/{session_id}/snapshot", response_model=Snapshot, responses=_problems(404, 502))
    async def snapshot(session_id: str, request: Request) -> Response:
        """Read the active tab element by element, for text observations."""
        seen = await _while_connected(request, service.snapshot(session_id))
        return _json(asdict(seen))

    @app.post("/sessions/{session_id}/read", response_model=list[PageRead], responses=_problems(404, 424, 502))
    async def read(session_id: str, body: wire.ReadRequest, request: Request) -> Response:
        """Run scripts that only read, in the active tab or in a new one that closes afterwards."""
        found = await _while_connected(request, service.read(session_id, body.scripts, body.url))
        return _json(wire.READS.dump_python(found))

    @app.get("/sessions/{session_id}/har", response_model=list[dict[str, Any]], responses=_problems(404, 502))
    async def har(session_id: str, request: Request) -> Response:
        """What its pages have asked the network for, as entries of an HTTP archive; for `browser.record_har`."""
        return _json(await _while_connected(request, service.har(session_id)))

    @app.delete("/sessions/{session_id}", status_code=204, responses=_problems(404))
    async def close_session(session_id: str) -> None:
        """End a session and forget its cookies and storage."""
        await service.close(session_id)

    @app.get("/health", responses={503: {"model": wire.Health, "description": "The server drains."}})
    async def health(response: Response) -> wire.Health:
        """Whether the server takes new sessions, and how many it has; needs no token."""
        response.status_code = 503 if service.health.draining else 200
        return service.health

    @app.get("/metrics", response_class=Response, responses=_problems() | {200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Metrics for Prometheus."""
        return Response(generate_latest(service.metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return app


def check_access(token: str, path: str, headers: Mapping[str, str]) -> None:
    """Raise Refused unless a holder of the server's token asks, or a program on this machine, but never a web page.

    Without a token, the server listens on loopback only and refuses requests that a web page could have made: a page
    cannot leave out certain headers, and a DNS name that was rebound to this machine shows in the Host header.
    """
    if token:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        known = scheme.lower() == "bearer" and hmac.compare_digest(given.encode("latin-1"), token.encode())
        if not known and path not in OPEN_PATHS:
            message = f"send the server's token: Authorization: Bearer ${TOKEN_VARIABLE}"
            raise Refused(ErrorKind.UNAUTHORIZED, message)
        return
    host = headers.get("host", "")
    if not is_loopback(host_of(f"http://{host}")):
        message = f"the Host header is {host!r}, but this server answers for loopback names only"
        raise Refused(ErrorKind.FORBIDDEN, message)
    sign = next((name for name in _FROM_PAGES if name in headers), None)
    if sign is not None and path not in OPEN_PATHS:
        raise Refused(ErrorKind.FORBIDDEN, f"a web page asks ({sign} header), and pages have no access without a token")


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries of the errors of a route, including those that every route may give."""
    return {
        status: {"model": wire.ProblemBody, "description": HTTPStatus(status).phrase}
        for status in sorted({401, 403, 422, *statuses})
    }


def _error_response(request: Request, error: Exception) -> Response:
    match error:
        case Refused():
            return _problem(error.kind, str(error), headers=_HEADERS.get(error.kind))
        case BrowserError():
            kind = ErrorKind.BROWSER_ERROR
            if isinstance(error, StartError):
                kind = ErrorKind.START_ERROR
            elif error.failure is Failure.PAGE_UNREACHABLE:
                kind = ErrorKind.PAGE_ERROR
            return _problem(kind, str(error), failure=error.failure, diagnostics=error.diagnostics)
        case RequestValidationError():
            faults = (f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors())
            return _problem(ErrorKind.BAD_REQUEST, "; ".join(faults))
        case HTTPException():
            kind = ErrorKind.NOT_FOUND if error.status_code == 404 else ErrorKind.BAD_REQUEST
            # FastAPI gives 400 for a body that is not JSON; here it is a bad request like others.
            status = kind.status if error.status_code == 400 else error.status_code
            return _problem(kind, f"{request.method} {request.url.path}: {error.detail}", status, error.headers)
        case _ClientGone():
            return Response()
        case _:
            return _problem(ErrorKind.INTERNAL, f"{type(error).__name__}; the server's log says more")


def _problem(
    kind: ErrorKind, message: str, status: int | None = None, headers: Mapping[str, str] | None = None, **cause: Any
) -> Response:
    body = wire.ProblemBody(error=wire.Problem(kind=kind, message=message, **cause))
    return _json(body.model_dump(exclude_defaults=True), status or kind.status, headers)


def _json(record: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(wire.pack(record), status, headers, media_type="application/json")


class _ClientGone(Exception):
    """The client disconnected, so nobody waits for the response."""


async def _while_connected(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """Do work for a client; if the client disconnects, cancel it and raise _ClientGone."""
    working, disconnected = asyncio.create_task(work), asyncio.create_task(_until_disconnected(request))
    try:
        await asyncio.wait({working, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise _ClientGone
    finally:
        disconnected.cancel()
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError, WebdojoError):
            await working


async def _until_disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
