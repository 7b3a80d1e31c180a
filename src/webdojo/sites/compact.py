"""The compact layout: pages as rows of text on a grid, for models with small eyes.

The viewport is 320 x 320 CSS px. A row is 32 px tall and holds 20 characters of 16 px, so a row's
text never straddles two rows and a character never straddles two columns; a control is one cell at
least 4 characters wide. Everything is placed in columns here, and the template only writes it down. Where things
stand and how they read follows from the site's look.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from webdojo.sites.design.look import Look

COLUMNS = 20
ROW_PX = 32
COLUMN_PX = 16
_ABREAST = (4, 2, 1)
"""Numbers of equal blocks that a row can have."""


@dataclass(frozen=True)
class Cell:
    """A run of columns with at most one text in it.

    `kind` is `text`, `link`, `button` (of the row's form) or `field` (a text input of the row's
    form, whose `text` is the placeholder). `note` is a second text at the right end of the cell.
    """

    kind: str
    text: str
    columns: int
    pad: int = 0
    """Empty columns left of the text."""
    href: str = ""
    note: str = ""
    style: str = ""
    """CSS class: `header`, `button`, `title`, `active`, `link`, …"""
    name: str = ""
    """Form field name, and the accessible label of a field."""
    value: str = ""

    @property
    def gap(self) -> int:
        """Empty columns between text and note."""
        return self.columns - self.pad - len(self.text) - len(self.note)


@dataclass(frozen=True)
class Form:
    """The form that a row of controls belongs to."""

    action: str
    method: str = "get"
    hidden: tuple[tuple[str, str], ...] = ()
    role: str = ""


@dataclass(frozen=True)
class Row:
    """One row of the grid, or two where `tall`."""

    cells: tuple[Cell, ...] = field(default=())
    tag: str = "div"
    style: str = ""
    tall: bool = False
    form: Form | None = None

    def __post_init__(self) -> None:
        used = sum(cell.columns for cell in self.cells)
        assert used <= COLUMNS, f"{used} columns in a row of {COLUMNS}: {[c.text for c in self.cells]}"
        for cell in self.cells:
            assert cell.gap >= 0, f"{cell.text!r} and {cell.note!r} do not fit {cell.columns} columns"


def centered(cell: Cell) -> Cell:
    """The cell with its text as near to the middle as whole columns allow."""
    return replace(cell, pad=(cell.columns - len(cell.text)) // 2)


def text_row(text: str, *, indent: int = 0, note: str = "", style: str = "", tag: str = "div") -> Row:
    return Row((Cell("text", text, COLUMNS, pad=indent, note=note),), tag=tag, style=style)


def title_row(text: str, how: str, note: str = "") -> Row:
    """A heading; `how` is `left`, `center` or `inverted`."""
    cell = Cell("text", text, COLUMNS, note=note)
    if how == "center" and not note:
        cell = centered(cell)
    return Row((cell,), tag="h1", style="title inverted" if how == "inverted" else "title")


def link_row(text: str, href: str, *, indent: int = 0, note: str = "", style: str = "item") -> Row:
    return Row((Cell("link", text, COLUMNS, pad=indent, href=href, note=note),), style=style)


def paragraph(text: str, indent: int) -> list[Row]:
    return [text_row(line, indent=indent) for line in textwrap.wrap(text, COLUMNS - indent)]


def choice_row(choices: Sequence[tuple[str, str, bool]]) -> Row:
    """Equal blocks side by side; each choice is (text, href, is it active)."""
    width = COLUMNS // len(choices)
    cells = (Cell("link", text, width, href=to, style="active" if on else "choice") for text, to, on in choices)
    return Row(tuple(centered(cell) for cell in cells), tag="nav", style="choices")


def choice_rows(choices: Sequence[tuple[str, str, bool]]) -> list[Row]:
    """Equal blocks, as many side by side as leave a gap between their texts."""
    longest = max(len(text) for text, _, _ in choices)
    abreast = next(n for n in _ABREAST if n == 1 or (n <= len(choices) and longest < COLUMNS // n))
    return [choice_row(choices[i : i + abreast]) for i in range(0, len(choices), abreast)]


def action_row(text: str, how: str, form: Form) -> Row:
    """A form with one button; `how` is `full`, `tall` or `block`."""
    if how == "block":
        side = (COLUMNS - 2 - len(text)) // 2 if len(text) <= 14 else 0
        button = Cell("button", text, len(text) + 2, pad=1, style="button")
        return Row((Cell("text", "", side), button) if side else (button,), form=form)
    return Row((centered(Cell("button", text, COLUMNS, style="button")),), tall=how == "tall", form=form)


def item_rows(look: Look, items: Sequence[tuple[str, str, str]]) -> list[Row]:
    """Full-row links; each item is (name, href, number or nothing)."""
    out = []
    compact = look.compact
    for name, to, number in items:
        text, note = name, number if compact.price == "right" else ""
        if number and not note:
            text = f"{number:<5}{name}" if compact.price == "left" else f"{name} {number}"
        room = COLUMNS - len(text) - len(note) - (1 if note else 0)
        if compact.marker and room >= 2:
            text = f"{compact.marker} {text}"
        out.append(link_row(text, to, note=note, style=f"item {compact.rows}"))
    return out


def fact_row(look: Look, label: str, value: str) -> Row:
    """A label and its value: `Height 420`, or with the value at the right edge."""
    if look.compact.near:
        return text_row(f"{label} {value}", indent=look.compact.indent, style="fact")
    return text_row(label, indent=look.compact.indent, note=value, style="fact")


def frame(look: Look, body: Sequence[Row], wanted: str, corner: tuple[str, str] | None) -> list[Row]:
    """Header, search for what is `wanted`, and navigation around a page's body."""
    compact, words = look.compact, look.words
    brand = Cell("link", look.brand_text, COLUMNS, pad=compact.indent, href="/", style="header")
    header, below = [brand], []
    if compact.nav == "bottom":
        links = [(words["home"], "/"), *([corner] if corner else [])]
        width = COLUMNS // len(links)
        cells = [centered(Cell("link", text, width, href=to, style="header")) for text, to in links]
        header, below = [centered(brand)], [Row(tuple(cells), tag="nav", style="header")]
    elif corner is not None:
        text, to = corner
        width = len(text) + 1
        link = Cell("link", text, width, pad=1, href=to, style="header")
        header = [replace(brand, columns=COLUMNS - width), link]
    above = [Row(tuple(header), tag="header", style="header"), *([Row(style="band")] if compact.band else [])]
    width = max(4, len(words["go"]))
    go = centered(Cell("button", words["go"], width, style="button"))
    box = Cell("field", words["search"], COLUMNS - width, pad=1, name="q", value=wanted)
    search = Row((go, box) if compact.go_left else (box, go), form=Form("/search", role="search"))
    inner = [search, *body] if compact.search == "top" else [*body, search]
    return [*above, *inner, *below]
