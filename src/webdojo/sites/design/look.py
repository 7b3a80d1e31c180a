"""How a site looks and what it calls its controls: a pure function of (kind, seed).

Colours are drawn at random and redrawn until every text stands out from its background (WCAG
contrast of 6 or more), so a look can be strange but never unreadable.
"""

from __future__ import annotations

import colorsys
import random
from dataclasses import dataclass

from webdojo.sites.content import words

Rgb = tuple[float, float, float]
MIN_CONTRAST = 6.0


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


@dataclass(frozen=True)
class CompactLook:
    """Choices of the 320-pixel layout (`compact.py`)."""

    font: str
    nav: str
    """`top`: brand and cart in one row above; `bottom`: brand above, home and cart below."""
    search: str
    """`top` or `bottom` of the page."""
    filters: str
    """`above` or `below` the list."""
    price: str
    """Where a list row shows its number: `right`, `left` of the name, or `after` it."""
    marker: str
    rows: str
    """`plain`, `striped`, `ruled` or `boxed` list rows."""
    button: str
    """`full`, `tall` or `block`."""
    title: str
    """`left`, `center`, `inverted`."""
    band: bool
    """A coloured strip without text under the header."""
    indent: int
    """Empty columns left of running text: 0 or 1."""
    related: bool
    button_first: bool
    """The add button comes before the attributes."""
    go_left: bool
    """The search button stands left of its field."""
    near: bool
    """A fact's value stands next to its label, not at the right edge."""


@dataclass(frozen=True)
class FullLook:
    """Choices of the full-size layout (`templates/`)."""

    family: str
    nav: str
    font: str
    heading_font: str
    radius_px: int
    density: str
    card: str
    picture: str
    shadow: bool
    upper: bool


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
MONO = ("'Courier New', 'Liberation Mono', monospace",)


def make_look(kind: str, seed: int) -> Look:
    """Draw the look of a site."""
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
        compact=CompactLook(
            font=rng.choice(("jetbrains-mono-latin-700-normal", "ibm-plex-mono-latin-600-normal")),
            nav=rng.choice(("top", "top", "bottom")),
            search=rng.choice(("top", "top", "bottom")),
            filters=rng.choice(("above", "below", "below")),
            price=rng.choice(("right", "right", "left", "after")),
            marker=rng.choice(("", "", "-", ">", "*")),
            rows=rng.choice(("plain", "striped", "ruled", "boxed")),
            button=rng.choice(("full", "tall", "block")),
            title=rng.choice(("left", "center", "inverted")),
            band=rng.random() < 0.3,
            indent=rng.choice((0, 1)),
            related=rng.random() < 0.5,
            button_first=rng.random() < 0.4,
            go_left=rng.random() < 0.25,
            near=rng.random() < 0.3,
        ),
        full=FullLook(
            family=FAMILIES[seed % len(FAMILIES)] if rng.random() < 0.5 else rng.choice(FAMILIES),
            nav=rng.choice(("bar", "pills", "underline")),
            font=rng.choice((*SANS, *SANS, *SERIF)),
            heading_font=rng.choice((*SANS, *SERIF, *SERIF, *MONO)),
            radius_px=rng.choice((0, 0, 4, 8, 16, 24)),
            density=rng.choice(("airy", "normal", "tight")),
            card=rng.choice(("outline", "flat", "raised", "bare")),
            picture=rng.choice(("wide", "square", "round")),
            shadow=rng.random() < 0.5,
            upper=rng.random() < 0.3,
        ),
    )


def make_palette(rng: random.Random, mode: str = "") -> Palette:
    """Draw readable colours: `light`, `tint` and `dark` pages are equally likely; `white` ones only if asked for."""
    hue, second = rng.random(), rng.random()
    mode = mode or rng.choice(("light", "tint", "dark"))
    page = {
        "white": lambda: _hsl(hue, rng.uniform(0, 0.2), rng.uniform(0.97, 1)),
        "light": lambda: _hsl(hue, rng.uniform(0, 0.7), rng.uniform(0.94, 1)),
        "tint": lambda: _hsl(hue, rng.uniform(0.3, 0.9), rng.uniform(0.8, 0.9)),
        "dark": lambda: _hsl(hue, rng.uniform(0.1, 0.6), rng.uniform(0.05, 0.15)),
    }[mode]()
    dark = mode == "dark"
    page_ink = _hsl(second, rng.uniform(0, 0.4), rng.uniform(0.9, 1) if dark else rng.uniform(0, 0.12))
    alt = _shift(page, 0.07 if dark else -0.07)
    link = _readable(rng, second, page, alt)
    header = _solid(rng, rng.choice((hue, second, rng.random())))
    button = _solid(rng, rng.choice((second, rng.random())))
    title = rng.choice((page, alt, header, _solid(rng, hue)))
    field = rng.choice(("#ffffff", "#ffffff", _hex(_shift(page, 0.1 if dark else 0.04))))
    return Palette(
        page=_hex(page),
        page_ink=_hex(page_ink),
        alt=_hex(alt),
        link=_hex(link),
        header=_hex(header),
        header_ink=_ink(header),
        button=_hex(button),
        button_ink=_ink(button),
        title=_hex(title),
        title_ink=_ink(title),
        field=field,
        field_ink=_ink(_rgb(field)),
        line=_hex(_shift(page, 0.3 if dark else -0.3)),
        accent=_hex(_hsl(second, 0.7, 0.6 if dark else 0.45)),
        dark=dark,
    )


def contrast(a: str, b: str) -> float:
    """WCAG contrast of two `#rrggbb` colours, 1..21."""
    high, low = sorted((_luminance(_rgb(a)), _luminance(_rgb(b))), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _solid(rng: random.Random, hue: float) -> Rgb:
    """A strong colour on which black or white text is readable."""
    while True:
        color = _hsl(hue, rng.uniform(0.3, 1), rng.uniform(0.1, 0.85))
        if contrast(_hex(color), _ink(color)) >= MIN_CONTRAST:
            return color
        hue = (hue + rng.uniform(-0.1, 0.1)) % 1


def _readable(rng: random.Random, hue: float, *backs: Rgb) -> Rgb:
    """A text colour that stands out from all of `backs`."""
    for _ in range(30):
        color = _hsl(hue, rng.uniform(0.2, 1), rng.random())
        if all(contrast(_hex(color), _hex(back)) >= MIN_CONTRAST for back in backs):
            return color
    return _rgb(_ink(backs[0]))


def _ink(back: Rgb) -> str:
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, _hex(back)))


def _shift(color: Rgb, by: float) -> Rgb:
    hue, light, saturation = colorsys.rgb_to_hls(*color)
    return colorsys.hls_to_rgb(hue, min(1.0, max(0.0, light + by)), saturation)


def _hsl(hue: float, saturation: float, light: float) -> Rgb:
    return colorsys.hls_to_rgb(hue % 1, light, saturation)


def _hex(color: Rgb) -> str:
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in color)


def _rgb(color: str) -> Rgb:
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _luminance(color: Rgb) -> float:
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
