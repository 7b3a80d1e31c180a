"""The further look of sites whose pages are made of blocks, beyond `look.py`: a pure function of (kind, seed)."""

from __future__ import annotations

import random
from dataclasses import dataclass

from webdojo.sites.content import words
from webdojo.sites.design.look import Palette, make_palette
from webdojo.sites.design.pictures import ARTS, SCENES


@dataclass(frozen=True)
class CatalogLook:
    """Choices for sites whose pages are made of blocks (`pages.py`)."""

    words: dict[str, str]
    """How the site words a control, by the plain word."""
    per_page: int
    cards: str
    """`grid`, `rows` or `table`: how a list shows its things."""
    filters: str
    """`links`, or a `form` with a button."""
    labels: str
    """`above` or `beside` the fields of a form."""
    pictures: bool
    more: bool
    """A list grows when its end is reached, instead of having pages."""
    sort_first: bool
    shuffle_fields: bool
    palette: Palette
    home: str
    """What follows the head of the home page: `sections` and picks, `picks` and sections, `rich` with picks of all
    collections, or `plain` picks."""
    picks: int
    hero: str
    """`band`, `art` with text on it, `split` into text and picture, `bare` text, or a big `search`."""
    scene: str
    """One of `pictures.SCENES`."""
    tiles: str
    """Ways to the sections as `boxes`, `chips` or `lines`."""
    details: str
    """Facts `beside` the picture, in `boxes`, in `stripes`, or with the picture `aside`."""
    side: str
    """Filters `above` the list, `left` or `right` of it."""
    art: str
    """One of `pictures.ARTS`."""
    facts: str
    """What a card says, `inline`, in `lines` or as `chips`."""
    columns: int
    ground: str
    """Background of the page: `plain`, a `wash`, `dots`, or a `rule` at the left."""
    forms: str
    """`plain`, in a `panel`, or two in a row as a `pair`."""
    menu: bool
    """The navigation opens when the mouse rests on it."""
    footer: str
    """A `line`, `columns` of links, or in the `center`."""
    apart: bool
    """What a list shows opens in a new tab, on kinds of sites that have this."""
    sticky: bool
    """The header stays in view."""
    nested: bool
    """Long lists of filters scroll by themselves."""

    @property
    def classes(self) -> str:
        """The choices as class names for style sheets."""
        return (
            f"hero-{self.hero} tiles-{self.tiles} details-{self.details} side-{self.side} facts-{self.facts} "
            f"columns-{self.columns} ground-{self.ground} forms-{self.forms} footer-{self.footer}"
            f"{' sticky' if self.sticky else ''}{' nested' if self.nested else ''}"
        )


def make_catalog_look(kind: str, seed: int) -> CatalogLook:
    """Draw the rest of the look of a site whose pages are made of blocks."""
    rng = random.Random(f"{kind}-{seed}-catalog")
    return CatalogLook(
        words={plain: rng.choice(options) for plain, options in words.WORDINGS.items()},
        per_page=rng.choice((8, 10, 12)),
        cards=rng.choice(("grid", "grid", "rows", "table")),
        filters=rng.choice(("links", "form")),
        labels=rng.choice(("above", "beside")),
        pictures=rng.random() < 0.6,
        more=rng.random() < 0.25,
        sort_first=rng.random() < 0.5,
        shuffle_fields=rng.random() < 0.4,
        palette=make_palette(rng, rng.choice(("white", "white", "light", "light", "tint", "dark", "dark"))),
        home=rng.choice(("sections", "picks", "rich", "plain")),
        picks=rng.choice((3, 4, 6, 8)),
        hero=rng.choice(("band", "art", "split", "bare", "search")),
        scene=rng.choice(SCENES),
        tiles=rng.choice(("boxes", "chips", "lines")),
        details=rng.choice(("beside", "boxes", "stripes", "aside")),
        side=rng.choice(("above", "left", "left", "right")),
        art=rng.choice(ARTS),
        facts=rng.choice(("inline", "lines", "chips")),
        columns=rng.choice((2, 3, 3, 4)),
        ground=rng.choice(("plain", "plain", "plain", "wash", "dots", "rule")),
        forms=rng.choice(("plain", "panel", "pair")),
        footer=rng.choice(("line", "columns", "center")),
        menu=rng.random() < 0.3,
        apart=rng.random() < 0.4,
        sticky=rng.random() < 0.3,
        nested=rng.random() < 0.5,
    )
