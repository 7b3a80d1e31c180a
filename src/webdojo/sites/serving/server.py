"""Serves every embedded site from one local port, with state that belongs to sessions.

A request names its session, layout and perturbations in headers that the browser context sends; without a
session header (a person with a browser) a cookie stands in. The state of a session is created on
its first request and freed by `end`. Nothing here reaches the network.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
import time
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from webdojo.errors import SiteError
from webdojo.sites import HOSTS, LAYOUTS
from webdojo.sites.design.render import render
from webdojo.sites.kinds import load_site, parse_host
from webdojo.sites.pages import CatalogSite
from webdojo.sites.perturbations.notices import DroppedConnection, ServedPage, replacement
from webdojo.sites.perturbations.popups import in_other_layout, perturb_page
from webdojo.sites.perturbations.schedule import (
    NO_PERTURBATIONS,
    PERTURBATIONS_HEADER,
    Perturbations,
    PerturbationState,
    parse_perturbations,
)
from webdojo.sites.serving.index import index_page
from webdojo.sites.site import Overlay, Redirect, Request

SESSION_HEADER = "X-Webdojo-Session"
LAYOUT_HEADER = "X-Webdojo-Layout"
_COOKIE = "webdojo_session"
LOOPBACK = "127.0.0.1"
_EVERY = "0.0.0.0"
BACKLOG = 2048
"""Connections that wait to be accepted, as uvicorn has them."""


class LocalServer:
    """A context manager that serves an ASGI app on a port of this machine, in a separate thread.

    Port 0 takes a free one. The host is an IPv4 address of this machine, or `0.0.0.0` for all of them.
    """

    def __init__(self, app: ASGIApp, port: int = 0, host: str = LOOPBACK) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
            # At once: SO_REUSEADDR lets two sockets bind a port on which neither listens yet.
            self._socket.listen(BACKLOG)
        except OSError as error:
            self._socket.close()
            raise SiteError(
                f"port {port} of {host} cannot be used for the sites ({error.strerror}); pick another"
            ) from None
        address, self.port = self._socket.getsockname()
        self.address = f"{LOOPBACK if address == _EVERY else address}:{self.port}"
        """Host and port at which this machine reaches the server."""
        config = uvicorn.Config(
            app, http="h11", log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True, name="sites")

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    async def hang_up(self, client: tuple[str, int]) -> None:
        for connection in list(self._server.server_state.connections):
            if isinstance(connection, H11Protocol) and connection.client == client:
                connection.transport.close()
        await asyncio.sleep(0.01)  # so that the answer which follows finds nobody

    def __exit__(self, *error: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


class SiteServer(LocalServer):
    """A context manager that serves all sites; perturbations and layout are for requests whose headers name none."""

    def __init__(
        self,
        port: int = 0,
        perturbations: Perturbations = NO_PERTURBATIONS,
        host: str = LOOPBACK,
        layout: str = "auto",
    ) -> None:
        if layout not in LAYOUTS:
            raise SiteError(f"unknown layout {layout!r}; layouts are {', '.join(LAYOUTS)}")
        self._perturbations, self._layout = perturbations, layout
        self._overlays: dict[str, dict[str, Overlay]] = {}
        self._lock = threading.Lock()
        static = StaticFiles(directory=Path(__file__).parent.parent / "static")
        routes = [Mount("/static", static), Route("/{path:path}", self._serve, methods=["GET", "POST"])]
        super().__init__(_close_after_answer(Starlette(routes=routes), always=not perturbations.off), port, host)

    @property
    def hosts(self) -> dict[str, str]:
        """For `BrowserPool`: where the sites' hosts are served, so that `http://<host>/` needs no port."""
        return {HOSTS: self.address}

    def headers(
        self, session_id: str, layout: str = "auto", perturbations: Perturbations = NO_PERTURBATIONS
    ) -> dict[str, str]:
        """Headers that a browser context must send with every request."""
        if layout not in LAYOUTS:
            raise SiteError(f"unknown layout {layout!r}; layouts are {', '.join(LAYOUTS)}")
        own = {SESSION_HEADER: session_id, LAYOUT_HEADER: layout}
        return own if perturbations.off else {**own, PERTURBATIONS_HEADER: str(perturbations)}

    def state(self, session_id: str) -> dict[str, Any]:
        """What a session changed and saw, by host: `{"shop-17.localhost": Overlay.snapshot()}`."""
        with self._lock:
            return {host: overlay.snapshot() for host, overlay in self._overlays.get(session_id, {}).items()}

    def end(self, session_id: str) -> None:
        """Forget a session; unknown ones are ignored."""
        with self._lock:
            self._overlays.pop(session_id, None)

    async def _serve(self, http: HttpRequest) -> Response:
        if http.url.path == "/" and http.url.hostname in (LOOPBACK, "localhost"):
            return HTMLResponse(index_page(self.port))
        try:
            kind, seed = parse_host(http.headers.get("host", ""))
        except SiteError as error:
            return PlainTextResponse(f"{error}\n", status_code=404)
        session = http.headers.get(SESSION_HEADER) or http.cookies.get(_COOKIE) or secrets.token_hex(8)
        layout = http.headers.get(LAYOUT_HEADER, self._layout)
        if layout not in LAYOUTS:
            return PlainTextResponse(f"unknown layout {layout!r}; layouts are {', '.join(LAYOUTS)}\n", status_code=400)
        try:
            asked = http.headers.get(PERTURBATIONS_HEADER)
            perturbations = self._perturbations if asked is None else parse_perturbations(asked)
        except SiteError as error:
            return PlainTextResponse(f"{error}\n", status_code=400)
        site, size = load_site(kind, seed, layout), "auto" if layout == "auto" else "compact"
        address = http.url.path + (f"?{http.url.query}" if http.url.query else "")
        encoded = (await http.body()).decode(errors="replace") if http.method == "POST" else http.url.query
        values: dict[str, str] = {}
        for key, value in parse_qsl(encoded):
            values[key] = f"{values[key]}, {value}" if key in values else value
        with self._lock:
            overlay = self._overlays.setdefault(session, {}).setdefault(site.host, Overlay())
            if overlay.perturbations is None and not perturbations.off:
                overlay.perturbations = PerturbationState(perturbations, site.host)
            notice = http.url.path.startswith("/-/")  # scripts and frames ask for these, too
            part = not notice and http.headers.get("sec-fetch-dest", "document") != "document"
            from_here = urlsplit(http.headers.get("referer", ""))
            came = from_here.path if from_here.hostname == site.host else ""
            reply = _respond(site, Request(http.method, http.url.path, values), overlay, address, size, part, came)
        if isinstance(reply, Redirect):
            return RedirectResponse(reply.path, status_code=303)
        if isinstance(reply, DroppedConnection):
            if http.client is not None:
                await self.hang_up(http.client)
            return Response(status_code=204)  # nobody is there to get it
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        response = HTMLResponse(reply.html, status_code=reply.status, headers={"Cache-Control": "no-store"})
        if reply.refresh:
            response.headers["Refresh"] = reply.refresh
        if SESSION_HEADER not in http.headers:
            response.set_cookie(_COOKIE, session, httponly=True, samesite="lax")
        return response


def _respond(
    site: CatalogSite, request: Request, overlay: Overlay, address: str, layout: str, part: bool, came: str
) -> ServedPage | Redirect | DroppedConnection:
    """The answer to a request under the session's perturbations, which leave alone what scripts ask for: a `part`.

    `came` is the path of the page of this host that led here; empty: none did.
    """
    perturbations, path = overlay.perturbations, request.path
    if came not in ("", path):  # a page that is asked for again came from where it came before
        overlay.came[address] = came
    if perturbations is not None:
        if not part and (early := replacement(perturbations, site, request, address, layout)) is not None:
            return early
        site = in_other_layout(site, perturbations.layout_seed())
    reply = site.respond(request, overlay)
    if isinstance(reply, Redirect):
        return reply
    overlay.visited.append(address)
    if overlay.came.get(address):
        overlay.followed.add((overlay.came[address], address))
    overlay.seen.update(reply.facts)
    html, delay_s = render(site, reply, overlay, layout), 0.0
    if perturbations is not None and not part:
        html, delay_s = perturb_page(html, site, perturbations, address, layout)
    return ServedPage(html, reply.status, delay_s)


def _close_after_answer(app: ASGIApp, always: bool) -> ASGIApp:
    """The app, with connections that end after one answer for sessions with perturbations; `always`: for every one.

    If a connection that Chromium used before closes without an answer, it silently sends the request again. A dropped
    connection is seen only on a fresh one.
    """

    async def closing(scope: Scope, receive: Receive, send: Send) -> None:
        async def last(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["connection"] = "close"
            await send(message)

        ends = scope["type"] == "http" and (always or PERTURBATIONS_HEADER in Headers(scope=scope))
        await app(scope, receive, last if ends else send)

    return closing
