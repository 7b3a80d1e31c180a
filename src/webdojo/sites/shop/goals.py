"""Goals that only compact shops have: with prices, filters and the cart."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from webdojo.sites import compact_goals as shared
from webdojo.sites.answers.values import number
from webdojo.sites.catalog import Entity
from webdojo.sites.content.words import slug
from webdojo.sites.goal import Fact, Goal, Plan, any_view, done, fact, place, visit
from webdojo.sites.sized import SizedSite

_NAMES = {"color": "color", "price": "under", "stock": "stock"}
"""Goals that narrow a list, by the filter."""


def open_cart(shop: SizedSite, rng: random.Random) -> Goal:
    cart = shop.look.words["cart"]
    end = fact(f"The {cart} is shown at the end", url=place("/cart"))
    return Goal("cart", "", {"cart": cart}, (end,), [visit("/cart"), done(f"This is the {cart}.")])


def price(shop: SizedSite, rng: random.Random) -> Goal:
    it = shared.draw_entity(shop, rng)
    dollars = int(it.values["price"])
    where = shop.way_to(shop.thing_path(it))[0]
    facts = (
        shared.seen_fact(it, shop.main.by_key["price"]),
        fact(
            f"The answer is {dollars}",
            answer={**number(dollars, "$"), "thing": f"/{shop.main.slug}/{it.slug}", "attribute": "price"},
        ),
    )
    plan = [visit(where), done(f"Price of {it.name} is ${dollars}.", str(dollars))]
    return Goal("price", it.slug, {"name": it.name}, facts, plan)


def narrow(shop: SizedSite, rng: random.Random) -> Goal:
    group, by = shared.draw_group(shop, rng), rng.choice(shop.filters())
    value = by.query[by.attribute.key]
    fields = {"color": value.title(), "limit": value}
    return shared.narrow(shop, _NAMES[by.attribute.key], group, by, by.label, fields)


def compare(shop: SizedSite, rng: random.Random) -> Goal:
    group = shop.groups[shared.draw_group(shop, rng)]
    a, b = rng.sample(group[: shop.per_page], 2)
    if a.values["stock"] == b.values["stock"]:
        return add_two(shop, rng)
    return shared.compare(shop, a, b, shop.main.by_key["stock"], f"{a.slug}-{b.slug}")


def add(shop: SizedSite, rng: random.Random) -> Goal:
    it = shared.draw_entity(shop, rng)
    facts = (_found(shop, it), _in_cart(shop, it.name, [it]), _once_in_cart(shop, it))
    return _bought(shop, "add", it.slug, {"name": it.name}, facts, [], it)


def add_two(shop: SizedSite, rng: random.Random) -> Goal:
    a, b = shared.draw_entity(shop, rng), shared.draw_entity(shop, rng)
    while a == b:
        b = shared.draw_entity(shop, rng)
    facts = (_found(shop, a), _once_in_cart(shop, a), _found(shop, b), _once_in_cart(shop, b))
    return _bought(shop, "add_two", f"{a.slug}-{b.slug}", {"a": a.name, "b": b.name}, facts, [], a, b)


def add_cheapest(shop: SizedSite, rng: random.Random) -> Goal:
    firsts = {group: shared.first_of(shop, entities) for group, entities in shop.groups.items()}
    best = rng.choice([each for each in firsts.values() if each.values["stock"]] or [shared.draw_entity(shop, rng)])
    group = str(best.values[shop.section])
    if best != firsts[group]:
        return add_two(shop, rng)
    facts = (
        shared.one_page_fact(shop, f"one of the {group}", shop.groups[group]),
        _in_cart(shop, f"One of the {group}", shop.groups[group]),
        _in_cart(shop, f"The cheapest one, {best.name},", [best]),
        _once_in_cart(shop, best),
    )
    first = [shared.sorted_list(shop, group, best)]
    return _bought(shop, "add_cheapest", slug(group), {"noun": shared.noun_of(best)}, facts, first, best)


def add_cheapest_color(shop: SizedSite, rng: random.Random) -> Goal:
    group, color = shared.draw_group(shop, rng), str(rng.choice(shop.main.limits["color"]))
    those = [each for each in shop.groups[group] if each.values["color"] == color]
    best = shared.first_of(shop, those)
    if best.values["stock"] == 0:
        return add_two(shop, rng)
    facts = (
        _in_cart(shop, f"One of the {group}", shop.groups[group]),
        _in_cart(shop, f"One of the {color} {group}", those),
        _in_cart(shop, f"The cheapest one, {best.name},", [best]),
        _once_in_cart(shop, best),
    )
    first = [shared.sorted_list(shop, group, best, color=color.lower())]
    fields = {"noun": shared.noun_of(best), "color": color}
    return _bought(shop, "add_cheapest_color", f"{slug(group)}-{color}", fields, facts, first, best)


def _bought(
    shop: SizedSite,
    name: str,
    key: str,
    fields: dict[str, str],
    facts: tuple[Fact, ...],
    first: Plan,
    *products: Entity,
) -> Goal:
    """A goal that ends with one of each product in the cart; `first` is how they are found."""
    cart = shop.look.words["cart"]
    put = [{"do": "add", "item": each.slug, "name": each.name} for each in products]
    plan = [*first, *put, done(f"The {cart} has {' and '.join(each.name for each in products)}.")]
    return Goal(name, key, {**fields, "cart": cart}, facts, plan, {f"cart/{each.slug}": 1 for each in products})


def _found(shop: SizedSite, product: Entity) -> Fact:
    return fact(f"The page of {product.name} was shown", visited=[any_view(shop.thing_path(product))])


def _in_cart(shop: SizedSite, what: str, products: Iterable[Entity]) -> Fact:
    """One of these products is in the cart, in any amount."""
    lines: list[dict[str, Any]] = [{"state": {f"cart/{each.slug}": {"type": "any"}}} for each in products]
    return fact(f"{what} is in the {shop.look.words['cart']}", one_of=lines)


def _once_in_cart(shop: SizedSite, product: Entity) -> Fact:
    return fact(f"Just one {product.name} is in the {shop.look.words['cart']}", state={f"cart/{product.slug}": 1})
