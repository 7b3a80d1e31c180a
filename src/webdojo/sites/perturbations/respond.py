"""What the server asks before a site answers: does something else come instead, or is this a path of perturbations?

If a connection that Chromium used before closes without an answer, it silently sends the request again. A dropped
connection is seen only on a fresh one, so a session with perturbations uses each connection once.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webdojo.sites.perturbations.notices import ANSWER, OFFER, draw_notice, make_notice, make_offer
from webdojo.sites.perturbations.schedule import PERTURBATIONS_HEADER, Event
from webdojo.sites.perturbations.state import PerturbationState
from webdojo.sites.site import Redirect, Request, Site


@dataclass(frozen=True)
class DroppedConnection:
    """The connection closes without an answer."""


@dataclass(frozen=True)
class ServedPage:
    """A finished page."""

    html: str
    status: int
    delay_s: float = 0.0
    """How long it is held back."""
    refresh: str = ""
    """What its `Refresh` header says; empty: it has none."""


def replacement(
    state: PerturbationState, site: Site, request: Request, address: str, layout: str
) -> DroppedConnection | ServedPage | Redirect | None:
    """What a session gets in the place of the site's answer; None: the site answers.

    Only pages that are asked for by GET can fail: a form that is sent always arrives.

    Args:
        address: path with query of the request.
    """
    if request.method == "POST":
        if request.path != ANSWER:
            return None
        values = request.values
        state.answer(values.get("event", ""), values.get("answer", values.get("join", "")))
        return Redirect(_own_path(values.get("next", "/")))
    if request.path == OFFER:
        return ServedPage(draw_notice(make_offer(state, request.values.get("page", "")), site, address, layout), 200)
    event = state.replacement()
    if event is None:
        return None
    if event is Event.DROPPED:
        return DroppedConnection()
    notice = make_notice(state, event, address)
    refresh = f"{notice.refresh_s}; url={quote(address, safe='/?&=+%')}" if notice.refresh_s else ""
    return ServedPage(draw_notice(notice, site, address, layout), notice.status, refresh=refresh)


def _own_path(path: str) -> str:
    """A path of the same site; anything else is home."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\", "/-/")) else "/"


def close_after_answer(app: ASGIApp, always: bool = False) -> ASGIApp:
    """The app, with connections that end after one answer for sessions with perturbations; `always`: for every one."""

    async def closing(scope: Scope, receive: Receive, send: Send) -> None:
        async def last(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["connection"] = "close"
            await send(message)

        ends = scope["type"] == "http" and (always or PERTURBATIONS_HEADER in Headers(scope=scope))
        await app(scope, receive, last if ends else send)

    return closing
