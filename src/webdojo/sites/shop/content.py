"""What a shop sells: a pure function of its seed. A full-size shop has all that the compact one has, and more."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from webdojo.sites.catalog import Attribute, Collection, Entity, Value
from webdojo.sites.content.drawing import counted, entity
from webdojo.sites.content.words import ADJECTIVES, BRANDS, COLORS, SHOP_NOUNS, SIZES, plural

CATEGORIES, LARGE_CATEGORIES = 5, 8
IN_CATEGORY, IN_LARGE_CATEGORY = 12, 30
PRICES, LARGE_PRICES = 100, 200
"""Prices are below."""
_LIMITS = ((20, 40), (20, 50), (30, 50), (30, 60), (40, 70))
_CATEGORY = Attribute("category", "Category", filter="is", phrase="in the category {value}")
_COLOR = Attribute("color", "Color", filter="is", phrase="in {value}")
_PRICE = Attribute("price", "Price", "number", "$", True, "under", "cheap", "cheapest", "under {value}")
_STARS = Attribute("stars", "Stars", "number")
_STOCK = Attribute("stock", "Stock", "number", filter="min", phrase="in stock", control="In stock")

COMPACT_PRODUCT = (_CATEGORY, _PRICE, Attribute("size", "Size"), _COLOR, _STARS, _STOCK)
PRODUCT = (
    _CATEGORY,
    _PRICE,
    replace(_COLOR, listed=True),
    Attribute("size", "Size", filter="is", phrase="of size {value}"),
    counted("stars", "Stars", listed=True),
    _STOCK,
    Attribute("maker", "Maker", filter="is", phrase="made by {value}"),
    Attribute("weight", "Weight", "number", "g", False, "", "Lightest first", "lightest"),
    Attribute("launched", "Launched", "number", noun="launch year"),
    Attribute("wished", "Wish list", asked=False),
)


def products(seed: int, compact: bool) -> Collection:
    """Draw the products of a shop; the larger one has others after them in their category."""
    rng = random.Random(f"shop-{seed}-content")
    nouns = rng.sample(SHOP_NOUNS, CATEGORIES)
    colors = tuple(rng.sample(COLORS, 4))
    limits: dict[str, Sequence[Value]] = {"color": colors, "price": rng.choice(_LIMITS), "stock": (1,)}
    shelves = {noun: _products(noun, [], IN_CATEGORY, PRICES, limits, rng) for noun in nouns}
    if not compact:
        rng = random.Random(f"shop-{seed}-large")
        others = [noun for noun in SHOP_NOUNS if noun not in shelves]
        for noun in (*shelves, *rng.sample(others, LARGE_CATEGORIES - CATEGORIES)):
            known = shelves.get(noun, [])
            shelves[noun] = known + _products(noun, known, IN_LARGE_CATEGORY, LARGE_PRICES, limits, rng)
        makers = rng.sample(BRANDS, 6)
        shelves = {noun: [_described(product, makers, rng) for product in shelf] for noun, shelf in shelves.items()}
        limits |= {"price": (*limits["price"], 100, 150), "stars": (2, 3, 4)}
    entities = tuple(product for shelf in shelves.values() for product in shelf)
    attributes = COMPACT_PRODUCT if compact else PRODUCT
    return Collection("products", "Products", "product", "products", attributes, entities, limits)


def _products(
    noun: str, known: list[Entity], count: int, below: int, limits: dict[str, Sequence[Value]], rng: random.Random
) -> list[Entity]:
    """New products that make `count` of a noun together with the known ones.

    Names and prices, in whole dollars, differ; at least two are under each limit, and two of each colour are there.
    """
    lowest, count = int(limits["price"][0]), count - len(known)
    taken = {product.values["price"] for product in known}
    prices = rng.sample([price for price in range(5, lowest) if price not in taken], 2)
    prices += rng.sample([price for price in range(lowest, below) if price not in taken], count - 2)
    rng.shuffle(prices)
    colors = [*limits["color"], *limits["color"], *rng.choices(limits["color"], k=count - 2 * len(limits["color"]))]
    rng.shuffle(colors)
    names = {product.name for product in known}
    adjectives = rng.sample([each for each in ADJECTIVES if f"{each} {noun}" not in names], count)
    made = []
    for adjective, price, color in zip(adjectives, prices, colors, strict=True):
        stock = 0 if rng.random() < 0.15 else rng.randint(1, 99)
        size, stars = rng.choice(SIZES), rng.randint(1, 5)
        facts: dict[str, Value] = {"price": price, "size": size, "color": color, "stars": stars, "stock": stock}
        made.append(entity(f"{adjective} {noun}", category=plural(noun), **facts))
    return made


def _described(product: Entity, makers: list[str], rng: random.Random) -> Entity:
    """A product with what only the full-size layout tells."""
    maker, weight, launched = rng.choice(makers), rng.randint(80, 9800), rng.randint(2012, 2026)
    return replace(product, values={**product.values, "maker": maker, "weight": weight, "launched": launched})
