"""Lays perturbations over a finished page: cookie walls, pop-ups, chat bubbles, adverts, and numbers that drift.

The HTML of the site stays as it is; everything is put in at `<body>`, `<main>` and their ends, in the
colours of the site. In the compact layout it keeps to the grid. A pop-up is a form that posts to
`ANSWER`; its handler sends the answer without leaving the page.
"""

from __future__ import annotations

import random
import re
import textwrap
from copy import copy
from dataclasses import dataclass, replace

from webdojo.sites.compact import COLUMN_PX, COLUMNS, ROW_PX, Cell, Row, centered
from webdojo.sites.design.look import Look, Palette, make_look
from webdojo.sites.design.render import fill
from webdojo.sites.pages import CatalogSite
from webdojo.sites.perturbations import texts
from webdojo.sites.perturbations.notices import ANSWER, OFFER, deal
from webdojo.sites.perturbations.schedule import Event, PerturbationState

_CROSS = {"compact": "X", "auto": "×"}
_CROSS_COLUMNS = 4
_SCREEN_ROWS = 10
"""How many rows the compact viewport shows."""
_PLACES = {
    Event.COOKIE_WALL: ("center", "top", "bottom", "corner"),
    Event.NEWSLETTER: ("center", "bottom", "corner", "top"),
    Event.CHAT_BUBBLE: ("right", "left"),
}


@dataclass(frozen=True)
class Choice:
    """A button of a pop-up."""

    label: str
    name: str = "answer"
    """`answer` ends the pop-up; `join` signs up first."""
    quiet: bool = False


@dataclass(frozen=True)
class Panel:
    """A pop-up before it is drawn."""

    event: Event
    title: str
    text: str
    choices: tuple[Choice, ...]
    place: str
    back: str
    ink: str
    cross: bool = False
    field: str = ""
    """Label of a field for an address."""
    modal: bool = True
    """Nothing beneath it can be clicked."""


def in_other_layout(site: CatalogSite, seed: int) -> CatalogSite:
    """The same site with layout, navigation and places of search, filters and buttons drawn anew; seed 0 is its own.

    Wording, colours and the length of lists stay, because tasks speak of them.
    """
    if seed == 0:
        return site
    look, other = site.look, make_look(site.kind, seed)
    full = replace(other.full, font=look.full.font, heading_font=look.full.heading_font)
    changed = copy(site)
    changed.look = replace(look, full=full, compact=replace(other.compact, font=look.compact.font))
    return changed


def perturb_page(
    html: str, site: CatalogSite, state: PerturbationState, address: str, layout: str
) -> tuple[str, float]:
    """The page with its pop-up, advert and drift laid over, and how many seconds it is held back."""
    look, page = site.look.on(layout), state.page
    event, has_advert, drifts, delay_s = state.serve()
    if drifts:
        rng = state.rng(Event.DRIFT)
        text, top = rng.choice(texts.DRIFTS), rng.random() < 0.5
        number = state.rng(Event.DRIFT, page).randint(2, 99)
        html = _put(html, fill(f"perturbations/drift-{layout}.html", text=text.format(n=number)), top, layout)
    if has_advert:
        rng = state.rng(Event.ADVERT, page)
        headline, text, label = rng.choice(texts.ADVERTS)
        back, ink = _colors(look.palette, rng)
        advert = fill(
            f"perturbations/advert-{layout}.html", headline=headline, text=f"{text} {deal(state)}", label=label,
            look=look, back=back, ink=ink, href=f"{OFFER}?page={page}",
        )  # fmt: skip
        html = _put(html, advert, rng.random() < 0.5, layout)
    if event is not None:
        panel = make_panel(look, state.rng(event), event)
        values = {"panel": panel, "look": look, "action": ANSWER, "next": address, "cross": _CROSS[layout]}
        if layout == "compact":
            rows = compact_rows(panel)
            values |= {"rows": rows, **_position_px(panel, rows)}
        html = html.replace("</body>", fill(f"perturbations/popup-{layout}.html", **values) + "</body>", 1)
    return html, delay_s


def make_panel(look: Look, rng: random.Random, event: Event) -> Panel:
    """Draw the texts, place and colours of a pop-up."""
    back, ink = _colors(look.palette, rng)
    place, cross = rng.choice(_PLACES[event]), rng.random() < 0.5
    swapped, quiet = rng.random() < 0.5, rng.random() < 0.6
    if event is Event.CHAT_BUBBLE:
        title, text = rng.choice(texts.CHATS)
        return Panel(event, title, text, (), place, back, ink, cross=True, modal=False)
    if event is Event.COOKIE_WALL:
        title, text, yes, no = rng.choice(texts.COOKIES)
        choices, field = [Choice(yes), Choice(no, quiet=quiet)], ""
        cross = False
    else:
        title, text, yes, no = rng.choice(texts.NEWSLETTERS)
        choices, field = [Choice(yes, "join"), Choice(no, quiet=quiet)], rng.choice(("Your email", "Email", "Address"))
        cross = cross and len(title) <= COLUMNS - _CROSS_COLUMNS
        if cross and rng.random() < 0.5:
            choices = choices[:1]
    if swapped:
        choices.reverse()
    return Panel(event, title, text, tuple(choices), place, back, ink, cross, field)


def compact_rows(panel: Panel) -> list[Row]:
    """The pop-up on the grid of the compact layout; a chat bubble is one short row."""
    close = Cell("button", _CROSS["compact"], _CROSS_COLUMNS, pad=1, name="answer", value="close")
    if panel.event is Event.CHAT_BUBBLE:
        return [Row((Cell("text", panel.title, len(panel.title) + 2, pad=1), close))]
    head = Cell("text", panel.title, COLUMNS - _CROSS_COLUMNS if panel.cross else COLUMNS)
    rows = [Row((head, close) if panel.cross else (head,))]
    rows += [Row((Cell("text", line, COLUMNS),)) for line in textwrap.wrap(panel.text, COLUMNS)]
    if panel.field:
        rows.append(Row((Cell("field", panel.field, COLUMNS, pad=1, name="email"),)))
    half = COLUMNS // 2
    side = all(len(choice.label) <= half for choice in panel.choices)
    width = half if side and len(panel.choices) == 2 else COLUMNS
    cells = [
        centered(Cell("button", c.label, width, name=c.name, value=c.label, style="quiet" if c.quiet else "button"))
        for c in panel.choices
    ]
    return [*rows, Row(tuple(cells))] if width == half else [*rows, *(Row((cell,)) for cell in cells)]


def _position_px(panel: Panel, rows: list[Row]) -> dict[str, int]:
    columns = max(sum(cell.columns for cell in row.cells) for row in rows)
    left = COLUMNS - columns if panel.place == "right" else 0
    free = _SCREEN_ROWS - len(rows)
    top = {"top": 0, "center": free // 2}.get(panel.place, free)
    return {"left_px": left * COLUMN_PX, "top_px": top * ROW_PX, "width_px": columns * COLUMN_PX}


def _put(html: str, piece: str, top: bool, layout: str) -> str:
    """Put a block at the top or the end of what the page holds."""
    opening, closing = (r"<main\b[^>]*>", "</main>") if layout == "auto" else (r"<body\b[^>]*>", "</body>")
    if top:
        return re.sub(opening, lambda match: match[0] + piece, html, count=1)
    return html.replace(closing, piece + closing, 1)


def _colors(palette: Palette, rng: random.Random) -> tuple[str, str]:
    return rng.choice(
        (
            (palette.page, palette.page_ink),
            (palette.title, palette.title_ink),
            (palette.header, palette.header_ink),
            (palette.page_ink, palette.page),
        )
    )
