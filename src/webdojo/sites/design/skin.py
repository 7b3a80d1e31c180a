"""The further look of sites whose pages are made of blocks, beyond `look.py`: a pure function of (kind, seed)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from webdojo.sites.content import words
from webdojo.sites.design.look import Palette, chance, draw, make_palette, one_of
from webdojo.sites.design.pictures import ARTS, SCENES

_MODES = ("white", "white", "light", "light", "tint", "dark", "dark")


@dataclass(frozen=True, kw_only=True)
class CatalogLook:
    """Choices for sites whose pages are made of blocks (`pages.py`)."""

    words: dict[str, str]
    """How the site words a control, by the plain word."""
    per_page: int = one_of(8, 10, 12)
    cards: str = one_of("grid", "grid", "rows", "table")
    """How a list shows its things."""
    filters: str = one_of("links", "form")
    """`links`, or a `form` with a button."""
    labels: str = one_of("above", "beside")
    """Where they stand to the fields of a form."""
    pictures: bool = chance(0.6)
    more: bool = chance(0.25)
    """A list grows when its end is reached, instead of having pages."""
    sort_first: bool = chance(0.5)
    shuffle_fields: bool = chance(0.4)
    palette: Palette = field(metadata={"draw": lambda rng: make_palette(rng, rng.choice(_MODES))})
    home: str = one_of("sections", "picks", "rich", "plain")
    """What follows the head of the home page: `sections` and picks, `picks` and sections, `rich` with picks of all
    collections, or `plain` picks."""
    picks: int = one_of(3, 4, 6, 8)
    hero: str = one_of("band", "art", "split", "bare", "search")
    """`band`, `art` with text on it, `split` into text and picture, `bare` text, or a big `search`."""
    scene: str = one_of(*SCENES)
    tiles: str = one_of("boxes", "chips", "lines")
    """Ways to the sections."""
    details: str = one_of("beside", "boxes", "stripes", "aside")
    """Facts `beside` the picture, in `boxes`, in `stripes`, or with the picture `aside`."""
    side: str = one_of("above", "left", "left", "right")
    """Filters `above` the list, `left` or `right` of it."""
    art: str = one_of(*ARTS)
    facts: str = one_of("inline", "lines", "chips")
    """What a card says."""
    columns: int = one_of(2, 3, 3, 4)
    ground: str = one_of("plain", "plain", "plain", "wash", "dots", "rule")
    """Background of the page: `plain`, a `wash`, `dots`, or a `rule` at the left."""
    forms: str = one_of("plain", "panel", "pair")
    """`plain`, in a `panel`, or two in a row as a `pair`."""
    footer: str = one_of("line", "columns", "center")
    """A `line`, `columns` of links, or in the `center`."""
    menu: bool = chance(0.3)
    """The navigation opens when the mouse rests on it."""
    apart: bool = chance(0.4)
    """What a list shows opens in a new tab, on kinds of sites that have this."""
    sticky: bool = chance(0.3)
    """The header stays in view."""
    nested: bool = chance(0.5)
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
    return draw(CatalogLook, rng, words={plain: rng.choice(options) for plain, options in words.WORDINGS.items()})
