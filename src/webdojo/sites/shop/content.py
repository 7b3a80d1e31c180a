"""What a shop sells: a pure function of its seed, the same in every layout."""

from __future__ import annotations

import random
from dataclasses import dataclass

from webdojo.sites import words

CATEGORIES = 5
PRODUCTS_PER_CATEGORY = 12


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
    """Draw categories and products."""
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
        products = []
        for adjective, price, color in zip(
            rng.sample(words.ADJECTIVES, PRODUCTS_PER_CATEGORY), prices, color_deck, strict=True
        ):
            name = f"{adjective} {noun}"
            stock = 0 if rng.random() < 0.15 else rng.randint(1, 99)
            products.append(
                Product(
                    words.slug(name),
                    name,
                    noun,
                    category,
                    price,
                    rng.choice(words.SIZES),
                    color,
                    rng.randint(1, 5),
                    stock,
                )
            )
        categories[category] = Category(category, words.plural(noun), noun, tuple(products))
    everything = {p.slug: p for c in categories.values() for p in c.products}
    return ShopContent(categories, everything, colors, limits)
