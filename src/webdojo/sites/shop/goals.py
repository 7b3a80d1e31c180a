"""Goals on shops, by difficulty: 1 one page, 2 one thing, 3 a filter or a change, 4 two facts at once.

Every goal also asks that the cart holds exactly what the goal says, and nothing else.
"""

from __future__ import annotations

import random
from typing import Any

from webdojo.sites.goal import Goal, done, open_result_goal, place, search_goal, second_page_goal, visit
from webdojo.sites.shop.content import Category, Product
from webdojo.sites.shop.pages import Shop
from webdojo.sites.site import href
from webdojo.sites.verdict import number, text

READABLE = ("Size", "Color", "Stars", "Stock")


def draw_goal(shop: Shop, difficulty: int, rng: random.Random) -> Goal:
    """Draw a goal of a difficulty of 1..4."""
    makers = {
        1: (_open_cart, _open_category, _open_category, _search),
        2: (_open_product, _open_product, _open_result, _price, _second_page),
        3: (_filter, _filter, _open_cheapest, _add, _add, _read, _read),
        4: (_add_two, _add_cheapest, _add_cheapest_color, _compare),
    }[difficulty]
    return rng.choice(makers)(shop, rng)


def _category(shop: Shop, rng: random.Random) -> Category:
    return rng.choice(list(shop.content.categories.values()))


def _product(shop: Shop, rng: random.Random) -> Product:
    """A product in stock, mostly from the first page of its category."""
    first = shop.look.per_page if rng.random() < 0.7 else None
    return rng.choice([p for p in _category(shop, rng).products[:first] if p.stock > 0] or _in_stock(shop))


def _in_stock(shop: Shop) -> list[Product]:
    return [p for p in shop.content.products.values() if p.stock > 0]


def _page(path: str, **query: str) -> dict[str, Any]:
    return {"url": place(path, **query), "cart": {}}


def _open_cart(shop: Shop, rng: random.Random) -> Goal:
    cart = shop.look.words["cart"]
    return Goal("cart", 1, "", {"cart": cart}, _page("/cart"), [visit("/cart"), done(f"This is the {cart}.")])


def _open_category(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    path = f"/c/{c.slug}"
    return Goal("category", 1, c.slug, {"nouns": c.name}, _page(path), [visit(path), done(f"This is {c.name}.")])


def _search(shop: Shop, rng: random.Random) -> Goal:
    return search_goal(_product(shop, rng).name, cart={})


def _open_product(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    path = f"/p/{p.slug}"
    return Goal("open", 2, p.slug, {"name": p.name}, _page(path), [visit(path), done(f"This is {p.name}.")])


def _open_result(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    return open_result_goal(p.name, p.slug, f"/p/{p.slug}", cart={})


def _price(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    places = shop.content.categories[p.category].products.index(p) // shop.look.per_page
    where = href(f"/c/{p.category}", page=places + 1)
    evaluator = {"answer": number(p.price), "seen": [f"{p.slug}.Price"], "cart": {}}
    plan = [visit(where), done(f"Price of {p.name} is ${p.price}.", str(p.price))]
    return Goal("price", 2, p.slug, {"name": p.name}, evaluator, plan)


def _second_page(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    return second_page_goal(c.name, c.slug, f"/c/{c.slug}", cart={})


def _filter(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    path = f"/c/{c.slug}"
    query = rng.choice(shop.filters())
    key, value = next(iter(query.items()))
    name = {"color": "color", "max": "under", "stock": "stock"}[key]
    shown = {"color": value.title(), "max": f"Under ${value}", "stock": shop.look.words["stock"]}[key]
    fields = {"nouns": c.name, "color": value.title(), "limit": value}
    plan = [visit(href(path, **query)), done(f"{c.name} are {shown}.")]
    return Goal(name, 3, f"{c.slug}-{value}", fields, _page(path, **query), plan)


def _open_cheapest(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    best = min(c.products, key=lambda p: p.price)
    path = f"/p/{best.slug}"
    plan = [
        visit(href(f"/c/{c.slug}", sort="price"), f"{best.name} is first."),
        visit(path),
        done(f"This is {best.name}."),
    ]
    return Goal("cheapest", 3, c.slug, {"noun": c.noun}, _page(path), plan)


def _add(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    fields = {"name": p.name, "cart": shop.look.words["cart"]}
    return Goal("add", 3, p.slug, fields, {"cart": {p.slug: 1}}, [_put(p), done(f"{_cart(shop)} has {p.name}.")])


def _read(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    label = rng.choice(READABLE)
    value = p.facts()[label]
    answer = number(int(value)) if value.isdigit() else text(value)
    evaluator = {"answer": answer, "seen": [f"{p.slug}.{label}"], "cart": {}}
    plan = [visit(f"/p/{p.slug}"), done(f"{label} is {value}.", value)]
    return Goal("read", 3, f"{p.slug}-{label}", {"name": p.name, "label": label}, evaluator, plan)


def _add_two(shop: Shop, rng: random.Random) -> Goal:
    a, b = _product(shop, rng), _product(shop, rng)
    while a == b:
        b = _product(shop, rng)
    fields = {"a": a.name, "b": b.name, "cart": shop.look.words["cart"]}
    plan = [_put(a), _put(b), done(f"{_cart(shop)} has {a.name} and {b.name}.")]
    return Goal("add_two", 4, f"{a.slug}-{b.slug}", fields, {"cart": {a.slug: 1, b.slug: 1}}, plan)


def _add_cheapest(shop: Shop, rng: random.Random) -> Goal:
    best = rng.choice(
        [p for p in map(_cheapest, shop.content.categories.values()) if p.stock > 0] or [_product(shop, rng)]
    )
    if best != _cheapest(shop.content.categories[best.category]):
        return _add_two(shop, rng)
    fields = {"noun": best.noun, "cart": shop.look.words["cart"]}
    first = visit(href(f"/c/{best.category}", sort="price"), f"{best.name} is first.")
    plan = [first, _put(best), done(f"{_cart(shop)} has {best.name}.")]
    return Goal("add_cheapest", 4, best.category, fields, {"cart": {best.slug: 1}}, plan)


def _add_cheapest_color(shop: Shop, rng: random.Random) -> Goal:
    c, color = _category(shop, rng), rng.choice(shop.content.colors)
    best = min((p for p in c.products if p.color == color), key=lambda p: p.price)
    if best.stock == 0:
        return _add_two(shop, rng)
    fields = {"noun": c.noun, "color": color, "cart": shop.look.words["cart"]}
    first = visit(href(f"/c/{c.slug}", color=color.lower(), sort="price"), f"{best.name} is first.")
    plan = [first, _put(best), done(f"{_cart(shop)} has {best.name}.")]
    return Goal("add_cheapest_color", 4, f"{c.slug}-{color}", fields, {"cart": {best.slug: 1}}, plan)


def _compare(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    a, b = rng.sample(c.products[: shop.look.per_page], 2)
    if a.stock == b.stock:
        return _add_two(shop, rng)
    high = max(a.stock, b.stock)
    evaluator = {"answer": number(high), "seen": [f"{a.slug}.Stock", f"{b.slug}.Stock"], "cart": {}}
    plan = [
        visit(f"/p/{a.slug}", f"Stock of {a.name} is {a.stock}."),
        visit(f"/p/{b.slug}"),
        done(f"Stock is {a.stock} and {b.stock}. {high} is higher.", str(high)),
    ]
    return Goal("compare", 4, f"{a.slug}-{b.slug}", {"a": a.name, "b": b.name, "label": "Stock"}, evaluator, plan)


def _put(product: Product) -> dict[str, str]:
    return {"do": "add", "item": product.slug, "name": product.name}


def _cart(shop: Shop) -> str:
    return f"The {shop.look.words['cart']}"


def _cheapest(category: Category) -> Product:
    return min(category.products, key=lambda p: p.price)
