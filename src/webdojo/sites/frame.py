"""What the compact pages of every kind have in common: the header, list items, facts and the search field.

Where they stand and how they read follows from the site's look.
"""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.sites.compact import COLUMNS, Cell, Row, centered, choice_row, link_row, search_row, text_row
from webdojo.sites.design.look import Look

_ABREAST = (4, 2, 1)
"""Numbers of equal blocks that a row can have."""


def frame(look: Look, body: Sequence[Row], wanted: str, corner: tuple[str, str] | None) -> list[Row]:
    """Header, search and navigation around a page's body.

    Args:
        wanted: what was searched for.
        corner: text and address of the link to the cart.
    """
    compact = look.compact
    band = [Row(style="band")] if compact.band else []
    search = search_row(look.words["search"], look.words["go"], wanted, compact.go_left)
    searches = ([search], []) if compact.search == "top" else ([], [search])
    above, below = _navigation(look, corner)
    return [*above, *band, *searches[0], *body, *searches[1], *below]


def _navigation(look: Look, corner: tuple[str, str] | None) -> tuple[list[Row], list[Row]]:
    brand = Cell("link", look.brand_text, COLUMNS, pad=look.compact.indent, href="/", style="header")
    home = look.words["home"]
    if look.compact.nav == "top" and corner is None:
        return [Row((brand,), tag="header", style="header")], []
    if look.compact.nav == "top" and corner is not None:
        text, to = corner
        width = len(text) + 1
        left = Cell("link", look.brand_text, COLUMNS - width, pad=look.compact.indent, href="/", style="header")
        return [
            Row((left, Cell("link", text, width, pad=1, href=to, style="header")), tag="header", style="header")
        ], []
    choices = [(home, "/")] + ([corner] if corner else [])
    width = COLUMNS // len(choices)
    cells = tuple(centered(Cell("link", text, width, href=to, style="header")) for text, to in choices)
    return [Row((centered(brand),), tag="header", style="header")], [Row(cells, tag="nav", style="header")]


def item_rows(look: Look, items: Sequence[tuple[str, str, str]]) -> list[Row]:
    """Full-row links; each item is (name, href, number or nothing)."""
    out = []
    mark = look.compact.marker
    for name, to, number in items:
        text, note = name, ""
        if number and look.compact.price == "right":
            note = number
        elif number and look.compact.price == "left":
            text = f"{number:<5}{name}"
        elif number:
            text = f"{name} {number}"
        room = COLUMNS - len(text) - len(note) - (1 if note else 0)
        if mark and room >= 2:
            text = f"{mark} {text}"
        out.append(link_row(text, to, note=note, style=f"item {look.compact.rows}"))
    return out


def fact_row(look: Look, label: str, value: str) -> Row:
    """A label and its value: `Height 420`, or with the value at the right edge."""
    if look.compact.near:
        return text_row(f"{label} {value}", indent=look.compact.indent, style="fact")
    return text_row(label, indent=look.compact.indent, note=value, style="fact")


def choice_rows(choices: Sequence[tuple[str, str, bool]]) -> list[Row]:
    """Equal blocks, as many side by side as leave a gap between their texts; each is (text, href, is it active)."""
    longest = max(len(text) for text, _, _ in choices)
    abreast = next(n for n in _ABREAST if n == 1 or (n <= len(choices) and longest < COLUMNS // n))
    return [choice_row(choices[i : i + abreast]) for i in range(0, len(choices), abreast)]
