"""How a site looks and what it calls its controls: a pure function of (kind, seed).

Colours are drawn at random and redrawn until every text stands out from its background (WCAG
contrast of 6 or more), so a look can be strange but never unreadable. Full pages show them less saturated, and as light
as they were drawn.
"""

from __future__ import annotations

import colorsys
import random
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, TypeVar

from webdojo.sites.content import words

T = TypeVar("T")
Rgb = tuple[float, float, float]
MIN_CONTRAST = 6.0
MAX_SATURATION = 0.5
"""Of the colours of full pages, 0..1."""


def one_of(*options: Any) -> Any:
    """A field of a look that is one of these; what stands there twice is drawn twice as often."""
    return field(metadata={"draw": lambda rng: rng.choice(options)})


def chance(of: float) -> Any:
    """A field of a look that is true with this chance."""
    return field(metadata={"draw": lambda rng: rng.random() < of})


def draw(look: type[T], rng: random.Random, **given: Any) -> T:
    """Draw the fields of a look in their order, but for those given."""
    for each in fields(look):  # type: ignore[arg-type]
        if each.name not in given:
            given[each.name] = each.metadata["draw"](rng)
    return look(**given)


@dataclass(frozen=True)
class Palette:
    """Colours as `#rrggbb`; each `x_ink` is the text colour on `x`."""

    page: str
    page_ink: str
    alt: str
    link: str
    header: str
    header_ink: str
    button: str
    button_ink: str
    title: str
    title_ink: str
    field: str
    field_ink: str
    line: str
    accent: str
    dark: bool


FAMILIES = ("classic", "sidebar", "magazine", "minimal", "boxed", "banner", "dense", "split")
SANS = (
    "'Helvetica Neue', Arial, sans-serif",
    "Verdana, 'DejaVu Sans', sans-serif",
    "'Trebuchet MS', sans-serif",
    "system-ui, sans-serif",
)
SERIF = (
    "Georgia, 'DejaVu Serif', serif",
    "'Times New Roman', 'Liberation Serif', serif",
    "Palatino, 'DejaVu Serif', serif",
)
MONO = "'Courier New', 'Liberation Mono', monospace"
ARTS = ("circles", "bars", "waves", "rings", "tiles", "hills", "mark")
"""Forms of `pictures.emblem`."""
SCENES = ("hills", "city", "rings", "stripes", "leaves")
"""Forms of `pictures.scene`."""
_MODES = ("white", "white", "light", "light", "tint", "dark", "dark")


@dataclass(frozen=True)
class CompactLook:
    """Choices of the 320-pixel layout (`compact.py`)."""

    font: str = one_of("jetbrains-mono-latin-700-normal", "ibm-plex-mono-latin-600-normal")
    nav: str = one_of("top", "top", "bottom")
    """`top`: brand and cart in one row above; `bottom`: brand above, home and cart below."""
    search: str = one_of("top", "top", "bottom")
    filters: str = one_of("above", "below", "below")
    """Where they stand to the list."""
    price: str = one_of("right", "right", "left", "after")
    """Where a list row shows its number; `left` and `after` of the name."""
    marker: str = one_of("", "", "-", ">", "*")
    rows: str = one_of("plain", "striped", "ruled", "boxed")
    button: str = one_of("full", "tall", "block")
    title: str = one_of("left", "center", "inverted")
    band: bool = chance(0.3)
    """A coloured strip without text under the header."""
    indent: int = one_of(0, 1)
    """Empty columns left of running text."""
    related: bool = chance(0.5)
    button_first: bool = chance(0.4)
    """The add button comes before the attributes."""
    go_left: bool = chance(0.25)
    """The search button stands left of its field."""
    near: bool = chance(0.3)
    """A fact's value stands next to its label, not at the right edge."""


@dataclass(frozen=True)
class FullLook:
    """Choices of the full-size layout (`templates/`)."""

    family: str
    """One of `FAMILIES`."""
    nav: str = one_of("bar", "pills", "underline")
    font: str = one_of(*SANS, *SANS, *SERIF)
    heading_font: str = one_of(*SANS, *SERIF, *SERIF, MONO)
    radius_px: int = one_of(0, 0, 4, 8, 16, 24)
    density: str = one_of("airy", "normal", "tight")
    card: str = one_of("outline", "flat", "raised", "bare")
    picture: str = one_of("wide", "square", "round")
    shadow: bool = chance(0.5)
    upper: bool = chance(0.3)


@dataclass(frozen=True)
class Look:
    """Everything about a site that is not its content."""

    brand: str
    brand_text: str
    """The brand as the header shows it, perhaps in capitals."""
    heading: str
    palette: Palette
    words: dict[str, str]
    per_page: int
    """Things on one page of a list of the compact layout."""
    compact: CompactLook
    full: FullLook

    def on(self, layout: str) -> Look:
        """The look as a layout shows it."""
        return self if layout == "compact" else replace(self, palette=muted(self.palette))


@dataclass(frozen=True, kw_only=True)
class CatalogLook:
    """Choices for sites whose pages are made of blocks (`pages.py`)."""

    words: dict[str, str]
    """How the site words a control, by the plain word."""
    per_page: int = one_of(8, 10, 12)
    cards: str = one_of("grid", "grid", "rows", "table")
    filters: str = one_of("links", "form")
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
    """Where the filters stand to the list."""
    art: str = one_of(*ARTS)
    facts: str = one_of("inline", "lines", "chips")
    columns: int = one_of(2, 3, 3, 4)
    ground: str = one_of("plain", "plain", "plain", "wash", "dots", "rule")
    """Background of the page."""
    forms: str = one_of("plain", "panel", "pair")
    footer: str = one_of("line", "columns", "center")
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


def make_look(kind: str, seed: int) -> Look:
    rng = random.Random(f"{kind}-{seed}-look")
    brand = rng.choice(words.BRANDS)
    cart = rng.choice(words.SYNONYMS["cart"])
    wording = {key: rng.choice(options).format(cart=cart) for key, options in words.SYNONYMS.items()} | {"cart": cart}
    if wording["go"] != "Go":
        wording["search"] = wording["go"]
    if wording["add"] != "Buy":
        wording["add"] = f"Add to {cart.lower()}"
    if wording["added"] != "Added":
        wording["added"] = f"In your {cart.lower()}"
    return Look(
        brand=brand,
        brand_text=brand.upper() if rng.random() < 0.4 else brand,
        heading=rng.choice(words.SHOP_HEADINGS if kind == "shop" else words.WIKI_HEADINGS),
        palette=make_palette(rng),
        words=wording,
        per_page=rng.choice((5, 6)),
        compact=draw(CompactLook, rng),
        full=draw(FullLook, rng, family=FAMILIES[seed % len(FAMILIES)] if rng.random() < 0.5 else rng.choice(FAMILIES)),
    )


def make_catalog_look(kind: str, seed: int) -> CatalogLook:
    rng = random.Random(f"{kind}-{seed}-catalog")
    return draw(CatalogLook, rng, words={plain: rng.choice(options) for plain, options in words.WORDINGS.items()})


def make_palette(rng: random.Random, mode: str = "") -> Palette:
    """Draw readable colours: `light`, `tint` and `dark` pages are equally likely; `white` ones only if asked for."""
    hue, second = rng.random(), rng.random()
    mode = mode or rng.choice(("light", "tint", "dark"))
    page = {
        "white": lambda: hsl(hue, rng.uniform(0, 0.2), rng.uniform(0.97, 1)),
        "light": lambda: hsl(hue, rng.uniform(0, 0.7), rng.uniform(0.94, 1)),
        "tint": lambda: hsl(hue, rng.uniform(0.3, 0.9), rng.uniform(0.8, 0.9)),
        "dark": lambda: hsl(hue, rng.uniform(0.1, 0.6), rng.uniform(0.05, 0.15)),
    }[mode]()
    dark = mode == "dark"
    page_ink = hsl(second, rng.uniform(0, 0.4), rng.uniform(0.9, 1) if dark else rng.uniform(0, 0.12))
    alt = _shift(page, 0.07 if dark else -0.07)
    link = _readable(rng, second, page, alt)
    header = _solid(rng, rng.choice((hue, second, rng.random())))
    button = _solid(rng, rng.choice((second, rng.random())))
    title = rng.choice((page, alt, header, _solid(rng, hue)))
    field = rng.choice(("#ffffff", "#ffffff", to_hex(_shift(page, 0.1 if dark else 0.04))))
    return Palette(
        page=to_hex(page),
        page_ink=to_hex(page_ink),
        alt=to_hex(alt),
        link=to_hex(link),
        header=to_hex(header),
        header_ink=_ink(header),
        button=to_hex(button),
        button_ink=_ink(button),
        title=to_hex(title),
        title_ink=_ink(title),
        field=field,
        field_ink=_ink(_rgb(field)),
        line=to_hex(_shift(page, 0.3 if dark else -0.3)),
        accent=to_hex(hsl(second, 0.7, 0.6 if dark else 0.45)),
        dark=dark,
    )


@lru_cache(maxsize=512)
def muted(palette: Palette) -> Palette:
    """The palette with no colour that is garish."""
    colors: dict[str, Any] = {name: _muted(color) for name, color in vars(palette).items() if name != "dark"}
    return replace(palette, **colors)


def contrast(a: str, b: str) -> float:
    """WCAG contrast of two `#rrggbb` colours, 1..21."""
    high, low = sorted((_luminance(_rgb(a)), _luminance(_rgb(b))), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _solid(rng: random.Random, hue: float) -> Rgb:
    """A strong colour on which black or white text is readable."""
    while True:
        color = hsl(hue, rng.uniform(0.3, 1), rng.uniform(0.1, 0.85))
        if contrast(to_hex(color), _ink(color)) >= MIN_CONTRAST:
            return color
        hue = (hue + rng.uniform(-0.1, 0.1)) % 1


def _muted(color: str) -> str:
    """The colour at `MAX_SATURATION` if it has more; its luminance stays, and so does its contrast to all others."""
    hue, _, saturation = colorsys.rgb_to_hls(*_rgb(color))
    if saturation <= MAX_SATURATION:
        return color
    low, high = 0.0, 1.0
    for _ in range(10):
        light = (low + high) / 2
        darker = _luminance(hsl(hue, MAX_SATURATION, light)) < _luminance(_rgb(color))
        low, high = (light, high) if darker else (low, light)
    return to_hex(hsl(hue, MAX_SATURATION, high))


def _readable(rng: random.Random, hue: float, *backs: Rgb) -> Rgb:
    """A text colour that stands out from all of `backs`."""
    for _ in range(30):
        color = hsl(hue, rng.uniform(0.2, 1), rng.random())
        if all(contrast(to_hex(color), to_hex(back)) >= MIN_CONTRAST for back in backs):
            return color
    return _rgb(_ink(backs[0]))


def _ink(back: Rgb) -> str:
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, to_hex(back)))


def _shift(color: Rgb, by: float) -> Rgb:
    hue, light, saturation = colorsys.rgb_to_hls(*color)
    return colorsys.hls_to_rgb(hue, min(1.0, max(0.0, light + by)), saturation)


def hsl(hue: float, saturation: float, light: float) -> Rgb:
    return colorsys.hls_to_rgb(hue % 1, light, saturation)


def to_hex(color: Rgb) -> str:
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in color)


def _rgb(color: str) -> Rgb:
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _luminance(color: Rgb) -> float:
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
