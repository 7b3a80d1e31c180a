"""The world of a shop from a seed: goods, customers, orders and reviews as plain records.

The ids of records are those that they have in the database. Worlds that train and held-out ones share no name of a
product or a person, no number of an order and no text of a review: brands, family names, numbers and words that reviews
are made of are divided between them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, TypeVar

from webdojo.sites import HELDOUT_SEED, host_of
from webdojo.sites.content.drawing import distinct
from webdojo.sites.content.people import FIRST_NAMES, LAST_NAMES, towns
from webdojo.sites.content.words import ADJECTIVES, BRANDS, SHOP_NOUNS, slug

T = TypeVar("T")

CATEGORIES, PRODUCTS, CUSTOMERS, ORDERS, REVIEWS = 8, 160, 60, 120, 140
TODAY = date(2026, 11, 2)
PASSWORD = "webdojo-17"
STATES = ("Pending", "Processing", "Shipped", "Complete", "Cancelled")
COLOURS = ("Red", "Blue", "Gold", "Pink", "Grey", "Teal", "Green", "White")
MATERIALS = ("Oak", "Steel", "Glass", "Wool", "Linen", "Clay", "Leather", "Bamboo")
FOR_MODERATION, APPROVED, REJECTED = 0, 1, 2
"""The states of a review in the database."""
_TITLES = {
    False: (
        "Would buy again",
        "As described",
        "A good gift",
        "Better than expected",
        "Not for me",
        "Fair for its price",
    ),
    True: ("Very pleased", "Does its job", "Nice to look at", "A small let-down", "Worth every penny", "So-so"),
}
_BODIES = {
    False: (
        "It arrived two days early and was packed well.",
        "The colour is a little darker than in the picture.",
        "My parents liked it so much that I ordered another one.",
        "One corner was scratched, but the shop was quick to help.",
        "I have used it every day since spring and it still looks new.",
    ),
    True: (
        "Delivery took a week, which was fine with me.",
        "It feels solid and has a good weight to it.",
        "We put it in the hall, where every guest asks about it.",
        "I expected it to be larger, so do read the measures.",
        "After three months the finish begins to wear off.",
    ),
}


def make_world(seed: int) -> dict[str, Any]:
    """The records of a seed, as plain JSON."""
    heldout = seed >= HELDOUT_SEED
    rng = random.Random(f"oscar-{seed}")
    nouns = rng.sample(SHOP_NOUNS, CATEGORIES)
    categories = [{"id": at, "name": f"{noun}s"} for at, noun in enumerate(nouns, 1)]
    brands = _half(BRANDS, heldout)
    titles = distinct(
        PRODUCTS, lambda: (f"{rng.choice(brands)} {rng.choice(ADJECTIVES)}", rng.randrange(CATEGORIES)), lambda it: it
    )
    products = [_product(rng, at, f"{start} {nouns[group]}", group + 1) for at, (start, group) in enumerate(titles, 1)]
    people = _people(rng, heldout)
    orders = [_order(rng, at, 100_000 + 2 * seed % 800_000 + heldout, products) for at in range(1, ORDERS + 1)]
    reviews = _reviews(rng, heldout, products, people)
    return {
        "seed": seed,
        "host": host_of("oscar", seed),
        "today": TODAY.isoformat(),
        "password": PASSWORD,
        "partner": f"{rng.choice(brands)} Warehouse",
        "staff": {"id": 1, "first": "Sam", "last": "Keeper", "email": "staff@shop.example"},
        "customers": people,
        "categories": categories,
        "products": products,
        "orders": orders,
        "reviews": reviews,
    }


def _half(things: Sequence[T], heldout: bool) -> list[T]:
    """Every second one: those of worlds that train, or of held-out ones."""
    return list(things[heldout::2])


def _day(rng: random.Random, days: int) -> str:
    return (TODAY - timedelta(days=rng.randint(1, days))).isoformat()


def _product(rng: random.Random, id: int, title: str, category: int) -> dict[str, Any]:
    colour, material = rng.choice(COLOURS), rng.choice(MATERIALS)
    return {
        "id": id,
        "upc": f"{rng.randrange(10**8, 10**9)}",
        "title": title,
        "slug": slug(title),
        "category": category,
        "price": f"{rng.randint(500, 19_999) / 100:.2f}",
        "stock": rng.choice((0, 2, 3, 4, *range(6, 90))),
        "color": colour,
        "material": material,
        "weight": rng.randrange(150, 9_000, 10),
        "description": f"<p>Made of {material.lower()}, in {colour.lower()}, and checked by hand.</p>",
    }


def _people(rng: random.Random, heldout: bool) -> list[dict[str, Any]]:
    last_names = _half(sorted(set(LAST_NAMES)), heldout)
    names = distinct(CUSTOMERS, lambda: (rng.choice(FIRST_NAMES), rng.choice(last_names)), lambda it: it[1])
    places = towns(rng, 20)
    return [
        {
            "id": id,
            "first": first,
            "last": last,
            "email": f"{slug(first)}.{slug(last)}@mail.example",
            "address": {
                "street": f"{rng.randint(1, 120)} {rng.choice(ADJECTIVES)} Street",
                "town": rng.choice(places),
                "postcode": f"N{rng.randint(1, 9)} {rng.randint(1, 9)}{rng.choice('AB')}{rng.choice('DEFGH')}",
            },
        }
        for id, (first, last) in enumerate(names, 2)
    ]


def _order(rng: random.Random, id: int, first: int, products: list[dict[str, Any]]) -> dict[str, Any]:
    """An order; the first customer, whom some tasks are about, has one in ten."""
    chosen = rng.sample(products, rng.choice((1, 1, 2, 3)))
    return {
        "id": id,
        "number": str(first * 10 + 1_000 * id),
        "customer": 2 if id % 10 == 0 else rng.randint(3, CUSTOMERS + 1),
        "date": (TODAY - timedelta(days=2 * (ORDERS - id) + 1)).isoformat(),
        "status": rng.choice(STATES),
        "lines": [{"product": product["id"], "quantity": rng.randint(1, 4)} for product in chosen],
    }


def _reviews(
    rng: random.Random, heldout: bool, products: list[dict[str, Any]], people: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Reviews by customers other than the first; nobody has reviewed the same product twice."""
    pairs = distinct(REVIEWS, lambda: (rng.choice(products)["id"], rng.choice(people[1:])["id"]))
    return [
        {
            "id": id,
            "product": product,
            "customer": customer,
            "score": rng.randint(1, 5),
            "title": rng.choice(_TITLES[heldout]),
            "body": rng.choice(_BODIES[heldout]),
            "status": rng.choices((APPROVED, FOR_MODERATION), (4, 1))[0],
            "date": _day(rng, 500),
        }
        for id, (product, customer) in enumerate(pairs, 1)
    ]
