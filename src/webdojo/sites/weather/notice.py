"""Pages that weather serves in the place of a site's own: errors, checks, ended sessions, outages, offers."""

from __future__ import annotations

from dataclasses import dataclass

from webdojo.sites.compact import COLUMNS, Form, Row, action_row, link_row, paragraph, text_row, title_row
from webdojo.sites.render import compact_css, fill
from webdojo.sites.site import Site
from webdojo.sites.weather import wording
from webdojo.sites.weather.forecast import Event
from webdojo.sites.weather.sky import TICK, Sky

ANSWER = "/-/answer"
"""Forms of weather post `event`, `answer` and `next`, the page to go to, to this path of their site."""
OFFER = "/-/offer"
"""Where adverts lead."""


@dataclass(frozen=True)
class Notice:
    """One such page: a title, a text, and one button or link."""

    title: str
    text: str
    status: int
    label: str = ""
    """Of the button or link; empty: the page has none."""
    href: str = ""
    """Where a link leads; empty where there is a button."""
    event: str = ""
    answer: str = ""
    """What the button posts."""
    box: str = ""
    """A box to tick that stands above the button."""
    ticked: bool = False
    refresh_s: float = 0.0
    """After so many seconds the browser asks for the page again by itself; 0: it does not."""


def make_notice(sky: Sky, event: Event, address: str) -> Notice:
    """The page that comes instead of the one asked for, `address`."""
    rng = sky.forecast.rng(event)
    if event is Event.SESSION_EXPIRED:
        title, text, label = rng.choice(wording.EXPIRIES)
        return Notice(title, text, 200, label, event=event, answer=label)
    if event in (Event.BOT_CHECK, Event.BOT_WALL):
        title, text, box, label = rng.choice(wording.CHECKS)
        if sky.rejected:
            text = wording.FAILED_CHECKS[sky.rejected % len(wording.FAILED_CHECKS)]
        return Notice(title, text, 403, label, event=event, answer=label, box=box, ticked=sky.ticked)
    if event is Event.PLEASE_WAIT:
        title, text = rng.choice(wording.WAITS)
        return Notice(title, text, 200, refresh_s=round(rng.uniform(3, 5), 1))
    if event is Event.OUTAGE:
        title, text = rng.choice(wording.OUTAGES)
        return Notice(title, text, 503, rng.choice(wording.RETRIES), href=address)
    status = rng.choice(list(wording.ERRORS))
    title, text = rng.choice(wording.ERRORS[status])
    return Notice(title, text, status, rng.choice(wording.RETRIES), href=address)


def make_offer(sky: Sky, page: str) -> Notice:
    """The page behind an advert of a page."""
    number = int(page) if page.isdecimal() and len(page) < 5 else 1
    headline, text, _ = sky.forecast.rng(Event.ADVERT, number).choice(wording.ADVERTS)
    return Notice(headline, f"{text} {deal(sky)}", 200, wording.OFFER_BACK, href="/")


def deal(sky: Sky) -> str:
    """Price and stock of what an advert offers, as they are at this moment of the session."""
    rng = sky.forecast.rng(Event.DRIFT, sky.page)
    return rng.choice(wording.DEALS).format(price=rng.randint(5, 199), left=rng.randint(2, 30))


def draw_notice(notice: Notice, site: Site, address: str, layout: str) -> str:
    """HTML of the page in a layout of `render.LAYOUTS`."""
    if layout == "compact":
        css = compact_css(site.kind, site.seed)
        return fill("compact.html", title=notice.title, look=site.look, css=css, rows=_rows(notice, site, address))
    return fill("weather/notice.html", notice=notice, look=site.look, next=address, action=ANSWER, tick=TICK)


def _rows(notice: Notice, site: Site, address: str) -> list[Row]:
    compact = site.look.compact
    rows = [text_row(site.look.brand_text, indent=compact.indent, style="header")]
    rows += [title_row(notice.title, compact.title), *paragraph(notice.text, compact.indent)]
    if notice.href:
        return [*rows, link_row(notice.label, notice.href)]
    if notice.box:
        tick = Form(ANSWER, "post", _posted(notice.event, TICK, address))
        rows.append(action_row(f"[{'x' if notice.ticked else ' '}] {notice.box}"[:COLUMNS], "full", tick))
    if notice.label and (notice.ticked or not notice.box):
        rows.append(
            action_row(
                notice.label, compact.button, Form(ANSWER, "post", _posted(notice.event, notice.answer, address))
            )
        )
    return rows


def _posted(event: str, answer: str, address: str) -> tuple[tuple[str, str], ...]:
    return (("event", event), ("answer", answer), ("next", address))
