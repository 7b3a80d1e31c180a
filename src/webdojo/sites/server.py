"""Serves every embedded site from one local port, with state that belongs to sessions.

A request names its session, layout and weather in headers that the browser context sends; without a
session header (a person with a browser) a cookie stands in. The state of a session is created on
its first request and freed by `end`. Nothing here reaches the network.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from webdojo.errors import SiteError
from webdojo.sites import parse_host
from webdojo.sites.local import LOOPBACK, LocalServer
from webdojo.sites.render import LAYOUTS, render
from webdojo.sites.site import Overlay, Redirect, Request, Site, load_site
from webdojo.sites.weather.connection import WEATHER_HEADER, one_request_each
from webdojo.sites.weather.dress import dress, variant
from webdojo.sites.weather.forecast import CLEAR, Weather, parse_weather
from webdojo.sites.weather.front import Dropped, Served, instead
from webdojo.sites.weather.sky import Sky

SESSION_HEADER = "X-Webdojo-Session"
LAYOUT_HEADER = "X-Webdojo-Layout"
_COOKIE = "webdojo_session"

HOSTS = "*.localhost:80"
"""Pattern of the sites' names, as browsers ask for them."""


class SiteServer(LocalServer):
    """A context manager that serves all sites from a thread of its own.

    Args:
        port: 0 takes a free one.
        weather: of sessions that ask for none in their headers.
        host: see `LocalServer`.

    Raises:
        SiteError: the port is taken, or the address is not this machine's.
    """

    def __init__(self, port: int = 0, weather: Weather = CLEAR, host: str = LOOPBACK) -> None:
        self._weather = weather
        self._overlays: dict[str, dict[str, Overlay]] = {}
        self._lock = threading.Lock()
        static = StaticFiles(directory=Path(__file__).parent / "static")
        routes = [Mount("/static", static), Route("/{path:path}", self._serve, methods=["GET", "POST"])]
        super().__init__(one_request_each(Starlette(routes=routes), stormy=not weather.clear), port, host)

    @property
    def hosts(self) -> dict[str, str]:
        """For `BrowserPool`: where the sites' hosts are served, so that `http://<host>/` needs no port."""
        return {HOSTS: self.address}

    def headers(self, session_id: str, layout: str = "auto", weather: Weather = CLEAR) -> dict[str, str]:
        """Headers that a browser context must send with every request.

        Raises:
            SiteError: unknown layout.
        """
        if layout not in LAYOUTS:
            raise SiteError(f"unknown layout {layout!r}; layouts are {', '.join(LAYOUTS)}")
        own = {SESSION_HEADER: session_id, LAYOUT_HEADER: layout}
        return own if weather.clear else {**own, WEATHER_HEADER: str(weather)}

    def state(self, session_id: str) -> dict[str, Any]:
        """What a session changed and saw, by host: `{"shop-17.localhost": Overlay.snapshot()}`."""
        with self._lock:
            return {host: overlay.snapshot() for host, overlay in self._overlays.get(session_id, {}).items()}

    def end(self, session_id: str) -> None:
        """Forget a session; unknown ones are ignored."""
        with self._lock:
            self._overlays.pop(session_id, None)

    async def _serve(self, http: HttpRequest) -> Response:
        try:
            kind, seed = parse_host(http.headers.get("host", ""))
        except SiteError as error:
            return PlainTextResponse(f"{error}\n", status_code=404)
        session = http.headers.get(SESSION_HEADER) or http.cookies.get(_COOKIE) or secrets.token_hex(8)
        layout = http.headers.get(LAYOUT_HEADER, "auto")
        if layout not in LAYOUTS:
            return PlainTextResponse(f"unknown layout {layout!r}; layouts are {', '.join(LAYOUTS)}\n", status_code=400)
        try:
            asked = http.headers.get(WEATHER_HEADER)
            weather = self._weather if asked is None else parse_weather(asked)
        except SiteError as error:
            return PlainTextResponse(f"{error}\n", status_code=400)
        site = load_site(kind, seed, layout)
        address = http.url.path + (f"?{http.url.query}" if http.url.query else "")
        encoded = (await http.body()).decode(errors="replace") if http.method == "POST" else http.url.query
        values: dict[str, str] = {}
        for key, value in parse_qsl(encoded):
            values[key] = f"{values[key]}, {value}" if key in values else value
        with self._lock:
            overlay = self._overlays.setdefault(session, {}).setdefault(site.host, Overlay())
            if overlay.sky is None and not weather.clear:
                overlay.sky = Sky(weather, site.host)
            notice = http.url.path.startswith("/-/")  # scripts and frames ask for these, too
            part = not notice and http.headers.get("sec-fetch-dest", "document") != "document"
            reply = _respond(site, Request(http.method, http.url.path, values), overlay, address, layout, part)
        if isinstance(reply, Redirect):
            return RedirectResponse(reply.path, status_code=303)
        if isinstance(reply, Dropped):
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
    site: Site, request: Request, overlay: Overlay, address: str, layout: str, part: bool
) -> Served | Redirect | Dropped:
    """The answer to a request under the session's weather, which leaves alone what scripts ask for.

    Args:
        address: path with query of the request.
        part: a script on a page asks for more of it.
    """
    sky = overlay.sky
    if sky is not None:
        if not part and (early := instead(sky, site, request, address, layout)) is not None:
            return early
        site = variant(site, sky.variant())
    reply = site.respond(request, overlay)
    if isinstance(reply, Redirect):
        return reply
    overlay.visited.append(address)
    overlay.seen.update(reply.shows)
    html = render(site, reply, overlay, layout)
    if sky is None or part:
        return Served(html, reply.status)
    weather = sky.serve()
    return Served(dress(html, site, sky, weather, address, layout), reply.status, weather.delay_s)
