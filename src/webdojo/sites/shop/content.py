"""What a shop sells: a pure function of its seed. A large shop has all that the small one has, and more."""

from __future__ import annotations

import random
from dataclasses import dataclass

from webdojo.sites.content import words

CATEGORIES = 5
PRODUCTS_PER_CATEGORY = 12
LARGE_CATEGORIES = 8
LARGE_PRODUCTS_PER_CATEGORY = 30
LARGE_PRICES = 200
"""Prices of large shops are below."""


@dataclass(frozen=True)
class Product:
    """One thing for sale. Prices are whole dollars, and differ within a category."""

    slug: str
    name: str
    noun: str
    category: str
    """Slug of the category."""
    price: int
    size: str
    color: str
    stars: int
    stock: int

    def facts(self) -> dict[str, str]:
        """Label to value, as pages show them."""
        return {
            "Price": f"${self.price}",
            "Size": self.size,
            "Color": self.color,
            "Stars": str(self.stars),
            "Stock": str(self.stock),
        }


@dataclass(frozen=True)
class Category:
    slug: str
    name: str
    noun: str
    products: tuple[Product, ...]


@dataclass(frozen=True)
class ShopContent:
    categories: dict[str, Category]
    products: dict[str, Product]
    colors: tuple[str, ...]
    """Four colours, in the order of the filter."""
    limits: tuple[int, int]
    """Price limits of the filter, in dollars: at least two products of each category are under each."""


def make_content(seed: int) -> ShopContent:
    """Draw the categories and products of a small shop."""
    rng = random.Random(f"shop-{seed}-content")
    nouns = rng.sample(words.SHOP_NOUNS, CATEGORIES)
    colors = tuple(rng.sample(words.COLORS, 4))
    limits = rng.choice(((20, 40), (20, 50), (30, 50), (30, 60), (40, 70)))
    categories = {}
    for noun in nouns:
        category = words.slug(words.plural(noun))
        under = rng.sample(range(5, limits[0]), 2)
        prices = under + rng.sample(range(limits[0], 100), PRODUCTS_PER_CATEGORY - 2)
        rng.shuffle(prices)
        color_deck = [*colors, *colors, *rng.choices(colors, k=PRODUCTS_PER_CATEGORY - 8)]
        rng.shuffle(color_deck)
        adjectives = rng.sample(words.ADJECTIVES, PRODUCTS_PER_CATEGORY)
        products = _products(noun, adjectives, prices, color_deck, rng)
        categories[category] = Category(category, words.plural(noun), noun, products)
    return ShopContent(categories, _by_slug(categories), colors, limits)


def make_large_content(seed: int) -> ShopContent:
    """Draw the categories and products of a large shop: those of the small one, and others after them."""
    small = make_content(seed)
    rng = random.Random(f"shop-{seed}-large")
    nouns = [category.noun for category in small.categories.values()]
    others = [noun for noun in words.SHOP_NOUNS if noun not in nouns]
    categories = {}
    for noun in (*nouns, *rng.sample(others, LARGE_CATEGORIES - CATEGORIES)):
        category = words.slug(words.plural(noun))
        known = small.categories[category].products if category in small.categories else ()
        count = LARGE_PRODUCTS_PER_CATEGORY - len(known)
        taken = {p.price for p in known}
        free = [price for price in range(5, LARGE_PRICES) if price not in taken]
        under = rng.sample([price for price in free if price < small.limits[0]], 2)
        prices = under + rng.sample([price for price in free if price >= small.limits[0]], count - 2)
        rng.shuffle(prices)
        adjectives = rng.sample([a for a in words.ADJECTIVES if f"{a} {noun}" not in {p.name for p in known}], count)
        colors = [*small.colors, *rng.choices(small.colors, k=count - len(small.colors))]
        rng.shuffle(colors)
        products = (*known, *_products(noun, adjectives, prices, colors, rng))
        categories[category] = Category(category, words.plural(noun), noun, products)
    return ShopContent(categories, _by_slug(categories), small.colors, small.limits)


def _products(
    noun: str, adjectives: list[str], prices: list[int], colors: list[str], rng: random.Random
) -> tuple[Product, ...]:
    products = []
    for adjective, price, color in zip(adjectives, prices, colors, strict=True):
        name = f"{adjective} {noun}"
        stock = 0 if rng.random() < 0.15 else rng.randint(1, 99)
        size, stars = rng.choice(words.SIZES), rng.randint(1, 5)
        category = words.slug(words.plural(noun))
        products.append(Product(words.slug(name), name, noun, category, price, size, color, stars, stock))
    return tuple(products)


def _by_slug(categories: dict[str, Category]) -> dict[str, Product]:
    return {product.slug: product for category in categories.values() for product in category.products}
