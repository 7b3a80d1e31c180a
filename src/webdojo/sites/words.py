"""The words that sites are made of.

Names of things are an adjective and a noun of at most 13 letters together; a noun's plural is the
category (or topic) that its things are in. The compact layout uses only these words and digits, so
the whole vocabulary stays near 200 words; `compact_vocabulary()` lists it.
"""

from __future__ import annotations


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ADJECTIVES = _split(
    "Quiet Bold Royal Soft Grand Misty Sunny Iron Stone Silver Velvet Wild Noble Lucky Happy Frosty Ocean Lunar "
    "Solar Rustic Modern Simple Fancy Swift Brave Gentle Hidden Proud Calm Crisp Polar Desert Cedar Maple Coral "
    "Pearl Amber Copper Tiger Eagle"
)
"""Longest: 6 letters."""

SHOP_NOUNS = _split("Mug Lamp Chair Hat Clock Bowl Coat Desk Ring Vase Kite Drum Tent Rug Sofa Boot")
WIKI_NOUNS = _split(
    "River Hill Lake Castle Bridge Tower Forest Island Valley Garden Temple Harbor Canyon Museum Palace Bay"
)

BRANDS = _split(
    "Nova Acme Orbit Pixel Zest Luma Vega Fable Juno Atlas Echo Bloom Comet Delta Ember Folio Glint Haven Ivory Jolt "
    "Karma Lotus Mango Quill"
)

COLORS = _split("Red Blue Gold Pink Gray Teal")
SIZES = _split("Small Medium Large")
REGIONS = _split("North South East West")

WIKI_NUMBERS = {
    "River": ("Length", "Depth"),
    "Hill": ("Height", "Width"),
    "Lake": ("Depth", "Width"),
    "Castle": ("Height", "Rooms"),
    "Bridge": ("Length", "Height"),
    "Tower": ("Height", "Rooms"),
    "Forest": ("Width", "Length"),
    "Island": ("Length", "Width"),
    "Valley": ("Depth", "Length"),
    "Garden": ("Width", "Length"),
    "Temple": ("Height", "Rooms"),
    "Harbor": ("Depth", "Width"),
    "Canyon": ("Depth", "Length"),
    "Museum": ("Rooms", "Height"),
    "Palace": ("Rooms", "Width"),
    "Bay": ("Depth", "Width"),
}
"""The two numeric facts, besides the year, that an article about a noun has."""

SYNONYMS: dict[str, tuple[str, ...]] = {
    "cart": ("Cart", "Basket", "Bag"),
    "add": ("Add to {cart}", "Buy"),
    "home": ("Home",),
    "search": ("Search", "Find"),
    "go": ("Go", "Search", "Find"),
    "next": ("Next", "More"),
    "prev": ("Prev", "Back"),
    "remove": ("Remove", "Delete"),
    "cheap": ("Sort by price", "Low price first", "Cheap first"),
    "oldest": ("Sort by year", "Oldest first"),
    "stock": ("In stock",),
    "under": ("Under",),
    "related": ("See also", "Related", "More to see"),
    "added": ("Added", "In your {cart}"),
    "empty": ("Empty", "No items"),
    "none": ("No results",),
    "total": ("Total",),
    "sold": ("Sold out",),
    "all": ("All", "Show all"),
    "results": ("Results",),
}
"""Wordings of each control; a site's seed picks one of each. `{cart}` is the site's word for its cart."""

SHOP_LABELS = ("Price", "Size", "Color", "Stars", "Stock")
WIKI_LABELS = ("Year", "Region", "Length", "Depth", "Height", "Width", "Rooms")
WIKI_TEXT = (
    "Found in the {region}.",
    "Known since {year}.",
    "In the {region} since {year}.",
    "A {noun} in the {region}.",
)

SHOP_HEADINGS = ("Shop", "Items", "Welcome")
WIKI_HEADINGS = ("Topics", "Wiki", "Welcome")


def plural(noun: str) -> str:
    """Category name of a noun."""
    return noun + "s"


def slug(name: str) -> str:
    """A name as it stands in a URL: `Quiet River` is `quiet-river`."""
    return name.lower().replace(" ", "-")


def compact_vocabulary() -> list[str]:
    """Every word that a compact page can show, brands in capitals and digits left out, sorted."""
    carts = SYNONYMS["cart"]
    phrases = [option.format(cart=cart) for options in SYNONYMS.values() for option in options for cart in carts]
    phrases += [text.format(region=r, year="", noun="") for text in WIKI_TEXT for r in REGIONS]
    phrases += [*SHOP_LABELS, *WIKI_LABELS, *SHOP_HEADINGS, *WIKI_HEADINGS, *COLORS, *SIZES, *ADJECTIVES, *BRANDS]
    phrases += ["of", "page", "not", "found"]
    for noun in (*SHOP_NOUNS, *WIKI_NOUNS):
        phrases += [noun, plural(noun)]
    return sorted({word.strip(".") for phrase in phrases for word in phrase.split()} - {""})
