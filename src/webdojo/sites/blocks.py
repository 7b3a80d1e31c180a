"""The blocks that pages of a catalogue site are made of; how a block looks is up to its template and the site's look.

Each block has a template of its name in `templates/blocks/`, for the full-size and the small layout.
A kind of site may bring further blocks: a dataclass here or in its folder, and a template.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from webdojo.sites.catalog import Attribute
from webdojo.sites.design.look import Palette


@dataclass(frozen=True)
class Block:
    """A part of a page."""

    template: ClassVar[str]
    """Its file in `templates/blocks/`; if it has none, the one of its class's name."""

    def __init_subclass__(cls) -> None:
        cls.template = vars(cls).get("template", cls.__name__.lower())

    @property
    def all_cards(self) -> Iterable[Card]:
        """The cards of things that it shows."""
        return ()


@dataclass(frozen=True)
class Hero(Block):
    """The head of a home page."""

    title: str
    text: str
    picture: Callable[[Palette], str] | None = None
    """SVG in the colours of a palette."""


@dataclass(frozen=True)
class Heading(Block):
    """A page's heading, with the way back to where it belongs."""

    title: str
    lead: str = ""
    crumbs: tuple[tuple[str, str], ...] = ()
    """Text and address of each page above this one."""


@dataclass(frozen=True)
class Offer:
    """An entry of the menu that a right click on a thing opens: a form with one button."""

    text: str
    action: str
    """Where the form is sent."""
    confirm: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Card:
    """One thing in a list: its link, and what the list says about it."""

    name: str
    href: str
    picture: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    """Label and value."""
    text: str = ""
    slug: str = ""
    offers: tuple[Offer, ...] = ()
    apart: bool = False
    """Its link opens a tab of its own."""

    @property
    def menu(self) -> str:
        """Its offers for `site.js`, as JSON."""
        return json.dumps([(offer.text, offer.action, offer.confirm, dict(offer.values)) for offer in self.offers])


@dataclass(frozen=True)
class Cards(Block):
    """A list of things."""

    cards: tuple[Card, ...]
    title: str = ""
    role: str = ""
    """`ways`: the cards lead to the sections of the site."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What all cards tell, as the heads of a table; nothing if they do not tell the same."""
        heads = {tuple(label for label, _ in card.facts) for card in self.cards}
        return heads.pop() if len(heads) == 1 else ()

    @property
    def all_cards(self) -> Iterable[Card]:
        return (card for card in self.cards if card.slug)


@dataclass(frozen=True)
class Choice:
    """One value of a filter."""

    text: str
    value: str


@dataclass(frozen=True)
class Filters(Block):
    """Controls that narrow and order the list at a path."""

    path: str
    query: Mapping[str, str]
    groups: tuple[tuple[str, str, tuple[Choice, ...]], ...]
    """Title, key in the query, choices."""


@dataclass(frozen=True)
class Pager(Block):
    """The way to the other pages of a list."""

    path: str
    query: Mapping[str, str]
    page: int
    pages: int


@dataclass(frozen=True)
class Details(Block):
    """An entity: picture, label and value of its attributes, text."""

    facts: tuple[tuple[str, str], ...]
    texts: tuple[str, ...] = ()
    picture: str = ""


@dataclass(frozen=True)
class Post:
    """One thing that somebody said."""

    author: str
    text: str
    note: str = ""


@dataclass(frozen=True)
class Posts(Block):
    """Things that people said."""

    title: str
    posts: tuple[Post, ...]


@dataclass(frozen=True)
class Field:
    """One control of a form. The form comes back with an error if a required one is empty."""

    key: str
    label: str
    widget: str = "text"
    """`text`, `textarea`, `rich` (text that can be made bold), `email`, `number`, `range`, `date` and `time` (native),
    `calendar` (drawn by the page), `color`, `select`, `suggest` (a text that must be one of the options, which are
    offered while one types), `radio`, `checkbox`, `checks` (several of the options), `agree` (a box to tick that tells
    nothing), `file` (which no agent has) or `prompt` (the browser asks for it when the form is sent)."""
    options: tuple[str, ...] = ()
    """Its values, or for text, which can be anything, those that goals ask for."""
    required: bool = True
    least: int = 0
    most: int = 100
    hint: str = ""
    rule: tuple[str, str] = ("", "")
    """A pattern that the value must match, and what the error says otherwise: `must be 5 digits`."""
    default: str = ""
    """Its value at first; `{name}` in it stands for the name of the entity."""

    @property
    def askable(self) -> bool:
        """Goals may ask for a value of this field."""
        return self.widget not in ("agree", "file", "prompt")

    def show(self, value: str) -> str:
        """A value as texts write it: dates in words, several options with `and`."""
        if self.widget == "checks":
            return " and ".join(value.rsplit(", ", 1))
        return Attribute(self.key, self.label, "date").show(value) if self.widget in ("date", "calendar") else value


@dataclass(frozen=True)
class Form(Block):
    """Controls and a button that sends them to `action`."""

    action: str
    button: str
    fields: tuple[Field, ...] = ()
    title: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    confirm: str = ""
    """What the browser asks before it is sent; empty: nothing."""


@dataclass(frozen=True)
class Frame(Block):
    """Another page in a frame of this one; on full pages the frame is as high as that page."""

    title: str
    path: str
    host: str = ""
    """Host of another site, without a port; empty: this site."""


@dataclass(frozen=True)
class Steps(Block):
    """The current position on the way through several pages."""

    steps: tuple[tuple[str, str], ...]
    """Title, and the address once the step can be opened."""
    current: int


@dataclass(frozen=True)
class Notice(Block):
    """What has happened, and links to go on with."""

    title: str
    text: str
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Lines(Block):
    """A table; a cell that is a (text, address) pair is a link."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""


@dataclass(frozen=True)
class Late(Block):
    """A part of the page that comes by itself after some seconds, from another path."""

    text: str
    """What is shown until then."""
    path: str
    seconds: float = 4.0


@dataclass(frozen=True)
class Board(Block):
    """Cards in columns; a card dragged to another column is sent as `card` and `column` to `action`."""

    action: str
    columns: tuple[tuple[str, tuple[Card, ...]], ...]
    """Name and cards of each column."""

    @property
    def all_cards(self) -> Iterable[Card]:
        return (card for _, cards in self.columns for card in cards)
