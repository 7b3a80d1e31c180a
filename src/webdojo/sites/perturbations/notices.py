"""What comes in the place of a site's own page: errors, checks, ended sessions, outages, offers, lost connections."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from webdojo.sites.compact import COLUMNS, Form, Row, action_row, link_row, paragraph, text_row, title_row
from webdojo.sites.design.render import compact_page, fill
from webdojo.sites.pages import CatalogSite
from webdojo.sites.perturbations import texts
from webdojo.sites.perturbations.schedule import TICK, Event, PerturbationState
from webdojo.sites.site import Redirect, Request

ANSWER = "/-/answer"
"""The forms of perturbations post `event`, `answer` and `next`, the page to go to, to this path of their site."""
OFFER = "/-/offer"
"""Where adverts lead."""


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


@dataclass(frozen=True)
class Notice:
    """One such page: a title, a text, and one button or link."""

    title: str
    text: str
    status: int
    label: str = ""
    """What the button or link says; empty: the page has none."""
    href: str = ""
    """Where a link leads; empty if there is a button."""
    event: str = ""
    """What the button answers, with its label."""
    box: str = ""
    """A box to tick that stands above the button."""
    ticked: bool = False
    refresh_s: float = 0.0
    """Seconds after which the browser asks for the page again by itself; 0: it does not."""


def replacement(
    state: PerturbationState, site: CatalogSite, request: Request, address: str, layout: str
) -> DroppedConnection | ServedPage | Redirect | None:
    """What a session gets in the place of the site's answer; None: the site answers.

    Only pages that are asked for by GET can fail: a form that is sent always arrives.
    """
    if request.method == "POST":
        if request.path != ANSWER:
            return None
        values = request.values
        state.answer(values.get("event", ""), values.get("answer", values.get("join", "")))
        return Redirect(_own_path(values.get("next", "/")))
    if request.path == OFFER:
        return _served(_offer(state, request.values.get("page", "")), site, address, layout)
    event = state.replacement()
    if event is None:
        return None
    if event is Event.DROPPED:
        return DroppedConnection()
    return _served(_notice(state, event, address), site, address, layout)


def _own_path(path: str) -> str:
    """A path of the same site; anything else is home."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\", "/-/")) else "/"


def _notice(state: PerturbationState, event: Event, address: str) -> Notice:
    """The page that comes instead of the one asked for, `address`."""
    rng = state.rng(event)
    if event is Event.SESSION_EXPIRED:
        title, text, label = rng.choice(texts.EXPIRIES)
        return Notice(title, text, 200, label, event=event)
    if event in (Event.BOT_CHECK, Event.BOT_WALL):
        title, text, box, label = rng.choice(texts.CHECKS)
        if state.rejected:
            text = texts.FAILED_CHECKS[state.rejected % len(texts.FAILED_CHECKS)]
        return Notice(title, text, 403, label, event=event, box=box, ticked=state.ticked)
    if event is Event.PLEASE_WAIT:
        title, text = rng.choice(texts.WAITS)
        return Notice(title, text, 200, refresh_s=round(rng.uniform(3, 5), 1))
    if event is Event.OUTAGE:
        title, text = rng.choice(texts.OUTAGES)
        return Notice(title, text, 503, rng.choice(texts.RETRIES), href=address)
    status = rng.choice(list(texts.ERRORS))
    title, text = rng.choice(texts.ERRORS[status])
    return Notice(title, text, status, rng.choice(texts.RETRIES), href=address)


def _offer(state: PerturbationState, page: str) -> Notice:
    number = int(page) if page.isdecimal() and len(page) < 5 else 1
    headline, text, _ = state.rng(Event.ADVERT, number).choice(texts.ADVERTS)
    return Notice(headline, f"{text} {deal(state)}", 200, texts.OFFER_BACK, href="/")


def deal(state: PerturbationState) -> str:
    """Price and stock of what an advert offers, as they are at this moment of the session."""
    rng = state.rng(Event.DRIFT, state.page)
    return rng.choice(texts.DEALS).format(price=rng.randint(5, 199), left=rng.randint(2, 30))


def _served(notice: Notice, site: CatalogSite, address: str, layout: str) -> ServedPage:
    if layout == "compact":
        html = compact_page(site, notice.title, _rows(notice, site, address))
    else:
        look = site.look.on(layout)
        html = fill("perturbations/notice.html", notice=notice, look=look, next=address, action=ANSWER, tick=TICK)
    refresh = f"{notice.refresh_s}; url={quote(address, safe='/?&=+%')}" if notice.refresh_s else ""
    return ServedPage(html, notice.status, refresh=refresh)


def _rows(notice: Notice, site: CatalogSite, address: str) -> list[Row]:
    compact = site.look.compact
    rows = [text_row(site.look.brand_text, indent=compact.indent, style="header")]
    rows += [title_row(notice.title, compact.title), *paragraph(notice.text, compact.indent)]
    if notice.href:
        return [*rows, link_row(notice.label, notice.href)]
    if notice.box:
        tick = Form(ANSWER, "post", _posted(notice.event, TICK, address))
        rows.append(action_row(f"[{'x' if notice.ticked else ' '}] {notice.box}"[:COLUMNS], "full", tick))
    if notice.label and (notice.ticked or not notice.box):
        answer = Form(ANSWER, "post", _posted(notice.event, notice.label, address))
        rows.append(action_row(notice.label, compact.button, answer))
    return rows


def _posted(event: str, answer: str, address: str) -> tuple[tuple[str, str], ...]:
    return (("event", event), ("answer", answer), ("next", address))
