"""Serves the pages of MiniWoB++ and keeps, for each visit, how its episode ended.

A visit belongs to the address of the first page that it is served, and the first end of an episode on that
page counts: neither a reload nor an easier page can improve it. Nothing here reaches the network.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from webdojo.sites.perturbations.schedule import NO_PERTURBATIONS, Perturbations
from webdojo.sites.serving.server import SESSION_HEADER, LocalServer
from webdojo.tasks.miniwob import HOST, pages_folder

_CORE = '<script src="../core/core.js"></script>'


@dataclass
class _Episode:
    """State of a visit; plain JSON."""

    page: str
    """Path and query, as served."""
    utterance: str = ""
    """What the page asks for."""
    done: bool = False
    raw_reward: float = 0.0
    """The page's own verdict, -1..1, without its discount for time."""
    reason: str = ""


class _Report(BaseModel):
    """What `episode.js` sends when an episode begins (`utterance`) and when it ends (`raw_reward`)."""

    model_config = ConfigDict(extra="forbid")

    page: str
    utterance: str | None = None
    raw_reward: float | None = None
    reason: str = ""


class MiniwobServer(LocalServer):
    """A context manager that serves MiniWoB++ on 127.0.0.1 from a separate thread; port 0 takes a free one."""

    def __init__(self, port: int = 0) -> None:
        self._folder = pages_folder()
        self._script = f"<script>\n{files('webdojo.sites.miniwob').joinpath('episode.js').read_text()}</script>"
        self._episodes: dict[str, _Episode] = {}
        self._lock = threading.Lock()
        routes = [
            Route("/miniwob/{name}.html", self._page),
            Route("/loading", _loading),
            Route("/report", self._report, methods=["POST"]),
            Mount("/", StaticFiles(directory=self._folder)),
        ]
        super().__init__(Starlette(routes=routes), port)

    @property
    def hosts(self) -> dict[str, str]:
        """For `BrowserPool`: where the pages' host is served."""
        return {f"{HOST}:80": f"127.0.0.1:{self.port}"}

    def headers(
        self, session_id: str, layout: str = "auto", perturbations: Perturbations = NO_PERTURBATIONS
    ) -> dict[str, str]:
        """Headers that a browser context must send; the pages have one layout, and nothing goes wrong on them."""
        return {SESSION_HEADER: session_id}

    def state(self, session_id: str) -> dict[str, Any]:
        """`{"miniwob.localhost": {page, utterance, done, raw_reward, reason}}`; empty before the first page."""
        with self._lock:
            episode = self._episodes.get(session_id)
            return {} if episode is None else {HOST: asdict(episode)}

    def end(self, session_id: str) -> None:
        """Forget a session; unknown ones are ignored."""
        with self._lock:
            self._episodes.pop(session_id, None)

    async def _page(self, request: Request) -> Response:
        name = request.path_params["name"]
        file = self._folder / "miniwob" / f"{name}.html"
        if not file.is_file():
            return PlainTextResponse(f"MiniWoB++ has no page {name!r}\n", status_code=404)
        session = request.headers.get(SESSION_HEADER)
        if session is not None:
            address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            with self._lock:
                self._episodes.setdefault(session, _Episode(address))
        html = file.read_text(encoding="utf-8")
        assert _CORE in html, f"{file} does not load core.js as all pages of MiniWoB++ do"
        return HTMLResponse(html.replace(_CORE, _CORE + self._script, 1), headers={"Cache-Control": "no-store"})

    async def _report(self, request: Request) -> Response:
        report = _Report.model_validate_json(await request.body())
        with self._lock:
            episode = self._episodes.get(request.headers.get(SESSION_HEADER, ""))
            if episode is not None and report.page == episode.page and not episode.done:
                if report.utterance is not None and not episode.utterance:
                    episode.utterance = report.utterance
                if report.raw_reward is not None:
                    episode.done, episode.raw_reward, episode.reason = True, report.raw_reward, report.reason
        return Response(status_code=204)


def episode_over(state: dict[str, Any]) -> bool:
    """Whether the page of a visit has ended its episode, according to the visit's state."""
    return bool(state.get(HOST, {}).get("done"))


async def _loading(request: Request) -> Response:
    """No answer until the page hangs up; see `episode.js`."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response(status_code=204)
