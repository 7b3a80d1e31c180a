"""Goals on shops, by difficulty: 1 one page, 2 one thing, 3 a filter or a change, 4 two facts at once.

A goal has as many facts as its difficulty; each is needed, whatever way leads to the goal. Large shops
have none that one link of the home page leads to, so that hardly a random click reaches a goal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from webdojo.sites.goal import (
    Fact,
    Goal,
    any_view,
    done,
    end_fact,
    fact,
    narrowed_facts,
    one_page_fact,
    open_result_goal,
    page_facts,
    page_goal,
    place,
    search_goal,
    visit,
)
from webdojo.sites.shop.cart import line
from webdojo.sites.shop.content import Category, Product
from webdojo.sites.shop.pages import Shop
from webdojo.sites.site import href
from webdojo.sites.verdict.answers import among, number, scalar, shown

_Maker = Callable[[Shop, random.Random], Goal]

READABLE = ("Size", "Color", "Stars", "Stock")


def draw_goal(shop: Shop, difficulty: int, rng: random.Random) -> Goal:
    """Draw a goal of a difficulty of 1..4."""
    if shop.large:
        easy: dict[int, tuple[_Maker, ...]] = {
            1: (_open_product, _open_product, _search),
            2: (_open_result, _price, _page),
        }
    else:
        easy = {
            1: (_open_cart, _open_category, _open_category, _search),
            2: (_open_product, _open_product, _open_result, _price, _page),
        }
    makers = {
        **easy,
        3: (_filter, _filter, _open_cheapest, _add, _add, _read, _read),
        4: (_add_two, _add_cheapest, _add_cheapest_color, _compare),
    }
    return rng.choice(makers[difficulty])(shop, rng)


def _category(shop: Shop, rng: random.Random) -> Category:
    return rng.choice(list(shop.content.categories.values()))


def _product(shop: Shop, rng: random.Random) -> Product:
    """A product in stock; in a small shop mostly from the first page of its category."""
    first = shop.per_page if not shop.large and rng.random() < 0.7 else None
    return rng.choice([p for p in _category(shop, rng).products[:first] if p.stock > 0] or _in_stock(shop))


def _in_stock(shop: Shop) -> list[Product]:
    return [p for p in shop.content.products.values() if p.stock > 0]


def _open_cart(shop: Shop, rng: random.Random) -> Goal:
    cart = shop.look.words["cart"]
    end = fact(f"The {cart} is shown at the end", url=place("/cart"))
    return Goal("cart", "", {"cart": cart}, (end,), [visit("/cart"), done(f"This is the {cart}.")])


def _open_category(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    path = f"/c/{c.slug}"
    end = fact(f"The list of {c.name} is shown at the end", url=place(path))
    return Goal("category", c.slug, {"nouns": c.name}, (end,), [visit(path), done(f"This is {c.name}.")])


def _search(shop: Shop, rng: random.Random) -> Goal:
    return search_goal(_product(shop, rng).name)


def _open_product(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    path = f"/p/{p.slug}"
    plan = [visit(path), done(f"This is {p.name}.")]
    facts = (end_fact(p.name, path),) if shop.large else page_facts(p.name, path)
    return Goal("open", p.slug, {"name": p.name}, facts, plan)


def _open_result(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    return open_result_goal(p.name, p.slug, f"/p/{p.slug}")


def _price(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    places = shop.content.categories[p.category].products.index(p) // shop.per_page
    where = href(f"/c/{p.category}", page=places + 1)
    facts = (_seen(p, "Price"), fact(f"The answer is {p.price}", answer=number(p.price)))
    plan = [visit(where), done(f"Price of {p.name} is ${p.price}.", str(p.price))]
    return Goal("price", p.slug, {"name": p.name}, facts, plan)


def _page(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    page = rng.randint(2, shop.pages(len(c.products))) if shop.large else 2
    return page_goal(c.name, f"{c.slug}-{page}" if shop.large else c.slug, f"/c/{c.slug}", page)


def _filter(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    path = f"/c/{c.slug}"
    query = rng.choice(shop.filters())
    key, value = next(iter(query.items()))
    name = {"color": "color", "max": "under", "stock": "stock"}[key]
    choice = {"color": value.title(), "max": f"Under ${value}", "stock": shop.look.words["stock"]}[key]
    fields = {"nouns": c.name, "color": value.title(), "limit": value}
    plan = [visit(href(path, **query)), done(f"{c.name} are {choice}.")]
    return Goal(name, f"{c.slug}-{value}", fields, narrowed_facts(c.name, choice, path, **query), plan)


def _open_cheapest(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    best = min(c.products, key=lambda p: p.price)
    path = f"/p/{best.slug}"
    plan = [
        visit(href(f"/c/{c.slug}", sort="price"), f"{best.name} is first."),
        visit(path),
        done(f"This is {best.name}."),
    ]
    facts = (
        one_page_fact(f"one of the {c.name}", (f"/p/{p.slug}" for p in c.products)),
        *page_facts(f"the cheapest one, {best.name},", path),
    )
    return Goal("cheapest", c.slug, {"noun": c.noun}, facts, plan)


def _add(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    fields = {"name": p.name, "cart": shop.look.words["cart"]}
    facts = (_found(p), _in_cart(shop, p.name, [p]), _once_in_cart(shop, p))
    plan = [_put(p), done(f"{_cart(shop)} has {p.name}.")]
    return Goal("add", p.slug, fields, facts, plan, {line(p.slug): 1})


def _read(shop: Shop, rng: random.Random) -> Goal:
    p = _product(shop, rng)
    label = rng.choice(READABLE)
    value = p.facts()[label]
    category = shop.content.categories[p.category]
    known = among(dict.fromkeys(scalar(other.facts()[label]) for other in category.products))
    facts = (
        _seen(p, label),
        fact(f"The answer is the {label} of one of the {category.name}", answer=known),
        fact(f"The answer is {value}", answer=shown(value)),
    )
    plan = [visit(f"/p/{p.slug}"), done(f"{label} is {value}.", value)]
    return Goal("read", f"{p.slug}-{label}", {"name": p.name, "label": label}, facts, plan)


def _add_two(shop: Shop, rng: random.Random) -> Goal:
    a, b = _product(shop, rng), _product(shop, rng)
    while a == b:
        b = _product(shop, rng)
    fields = {"a": a.name, "b": b.name, "cart": shop.look.words["cart"]}
    plan = [_put(a), _put(b), done(f"{_cart(shop)} has {a.name} and {b.name}.")]
    facts = (_found(a), _once_in_cart(shop, a), _found(b), _once_in_cart(shop, b))
    return Goal("add_two", f"{a.slug}-{b.slug}", fields, facts, plan, {line(a.slug): 1, line(b.slug): 1})


def _add_cheapest(shop: Shop, rng: random.Random) -> Goal:
    best = rng.choice(
        [p for p in map(_cheapest, shop.content.categories.values()) if p.stock > 0] or [_product(shop, rng)]
    )
    if best != _cheapest(shop.content.categories[best.category]):
        return _add_two(shop, rng)
    fields = {"noun": best.noun, "cart": shop.look.words["cart"]}
    first = visit(href(f"/c/{best.category}", sort="price"), f"{best.name} is first.")
    plan = [first, _put(best), done(f"{_cart(shop)} has {best.name}.")]
    category = shop.content.categories[best.category]
    facts = (
        one_page_fact(f"one of the {category.name}", (f"/p/{p.slug}" for p in category.products)),
        _in_cart(shop, f"One of the {category.name}", category.products),
        _in_cart(shop, f"The cheapest one, {best.name},", [best]),
        _once_in_cart(shop, best),
    )
    return Goal("add_cheapest", best.category, fields, facts, plan, {line(best.slug): 1})


def _add_cheapest_color(shop: Shop, rng: random.Random) -> Goal:
    c, color = _category(shop, rng), rng.choice(shop.content.colors)
    best = min((p for p in c.products if p.color == color), key=lambda p: p.price)
    if best.stock == 0:
        return _add_two(shop, rng)
    fields = {"noun": c.noun, "color": color, "cart": shop.look.words["cart"]}
    first = visit(href(f"/c/{c.slug}", color=color.lower(), sort="price"), f"{best.name} is first.")
    plan = [first, _put(best), done(f"{_cart(shop)} has {best.name}.")]
    facts = (
        _in_cart(shop, f"One of the {c.name}", c.products),
        _in_cart(shop, f"One of the {color} {c.name}", (p for p in c.products if p.color == color)),
        _in_cart(shop, f"The cheapest one, {best.name},", [best]),
        _once_in_cart(shop, best),
    )
    return Goal("add_cheapest_color", f"{c.slug}-{color}", fields, facts, plan, {line(best.slug): 1})


def _compare(shop: Shop, rng: random.Random) -> Goal:
    c = _category(shop, rng)
    a, b = rng.sample(c.products[: shop.per_page], 2)
    if a.stock == b.stock:
        return _add_two(shop, rng)
    high = max(a.stock, b.stock)
    facts = (
        _seen(a, "Stock"),
        _seen(b, "Stock"),
        fact("The answer is the Stock of one of them", answer=among([a.stock, b.stock])),
        fact(f"The answer is {high}, the higher", answer=number(high)),
    )
    plan = [
        visit(f"/p/{a.slug}", f"Stock of {a.name} is {a.stock}."),
        visit(f"/p/{b.slug}"),
        done(f"Stock is {a.stock} and {b.stock}. {high} is higher.", str(high)),
    ]
    return Goal("compare", f"{a.slug}-{b.slug}", {"a": a.name, "b": b.name, "label": "Stock"}, facts, plan)


def _seen(product: Product, label: str) -> Fact:
    return fact(f"The {label} of {product.name} was shown", seen=[f"{product.slug}.{label}"])


def _found(product: Product) -> Fact:
    return fact(f"The page of {product.name} was shown", visited=[any_view(f"/p/{product.slug}")])


def _in_cart(shop: Shop, what: str, products: Iterable[Product]) -> Fact:
    """One of these products is in the cart, in any amount."""
    lines: list[dict[str, Any]] = [{"state": {line(p.slug): {"type": "any"}}} for p in products]
    return fact(f"{what} is in the {shop.look.words['cart']}", one_of=lines)


def _once_in_cart(shop: Shop, product: Product) -> Fact:
    return fact(f"Just one {product.name} is in the {shop.look.words['cart']}", state={line(product.slug): 1})


def _put(product: Product) -> dict[str, str]:
    return {"do": "add", "item": product.slug, "name": product.name}


def _cart(shop: Shop) -> str:
    return f"The {shop.look.words['cart']}"


def _cheapest(category: Category) -> Product:
    return min(category.products, key=lambda p: p.price)
