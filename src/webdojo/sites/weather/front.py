"""What the server asks before a site answers: does weather come instead, or are these its own paths?"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from webdojo.sites.site import Redirect, Request, Site
from webdojo.sites.weather.forecast import Event
from webdojo.sites.weather.notice import ANSWER, OFFER, draw_notice, make_notice, make_offer
from webdojo.sites.weather.sky import Sky


@dataclass(frozen=True)
class Dropped:
    """The connection closes without an answer."""


@dataclass(frozen=True)
class Served:
    """A finished page."""

    html: str
    status: int
    delay_s: float = 0.0
    """How long it is held back."""
    refresh: str = ""
    """What its `Refresh` header says; empty: it has none."""


def instead(sky: Sky, site: Site, request: Request, address: str, layout: str) -> Dropped | Served | Redirect | None:
    """What a session gets in the place of the site's answer; None: the site answers.

    Only pages that are asked for by GET can fail: a form that is sent always arrives.

    Args:
        address: path with query of the request.
    """
    if request.method == "POST":
        if request.path != ANSWER:
            return None
        values = request.values
        sky.answer(values.get("event", ""), values.get("answer", values.get("join", "")))
        return Redirect(_own_path(values.get("next", "/")))
    if request.path == OFFER:
        return Served(draw_notice(make_offer(sky, request.values.get("page", "")), site, address, layout), 200)
    event = sky.instead()
    if event is None:
        return None
    if event is Event.DROPPED:
        return Dropped()
    notice = make_notice(sky, event, address)
    refresh = f"{notice.refresh_s}; url={quote(address, safe='/?&=+%')}" if notice.refresh_s else ""
    return Served(draw_notice(notice, site, address, layout), notice.status, refresh=refresh)


def _own_path(path: str) -> str:
    """A path of the same site; anything else is home."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\", "/-/")) else "/"
