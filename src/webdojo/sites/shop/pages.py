"""A shop's pages and what its forms do.

| path | page |
|---|---|
| `/` | home: categories and search |
| `/c/<category>` | list; query: color, max, stock=1, sort=price, page |
| `/p/<product>` | product |
| `/added/<product>` | what follows a POST to `/cart/add` |
| `/cart` | cart; POST `/cart/remove` takes a line out |
| `/search?q=` | products whose name holds every word of q |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.sites.compact import Row
from webdojo.sites.full import shop_view
from webdojo.sites.shop import cart, compact
from webdojo.sites.shop.content import Product, ShopContent, make_content, make_large_content
from webdojo.sites.site import Overlay, Page, Redirect, Request, href
from webdojo.sites.sized import SizedSite


class Shop(SizedSite):
    """One shop."""

    kind = "shop"

    @cached_property
    def content(self) -> ShopContent:
        return make_large_content(self.seed) if self.large else make_content(self.seed)

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        parts = request.path.strip("/").split("/")
        if request.method == "POST":
            return self._change(request, overlay)
        match parts:
            case [""]:
                categories = self.content.categories.values()
                picks = [c.products[self.seed % len(c.products)] for c in categories][:3]
                return Page("home", self.look.heading, {"picks": picks}, (), _card_facts(picks))
            case ["c", slug] if slug in self.content.categories:
                return self._list(slug, request.values)
            case ["p", slug] if slug in self.content.products:
                return self._product(self.content.products[slug])
            case ["added", slug] if slug in self.content.products:
                return Page("added", self.look.words["added"], {"product": self.content.products[slug]})
            case ["cart"]:
                return self._cart(overlay)
            case ["search"]:
                return self._search(request.values)
        return Page("missing", "Page not found", status=404)

    def compact(self, page: Page, overlay: Overlay) -> list[Row]:
        return compact.rows(self, page, overlay)

    def view(self, page: Page) -> dict[str, Any]:
        return shop_view(self, page)

    def paths(self) -> Iterator[str]:
        yield "/"
        yield "/cart"
        for slug, category in self.content.categories.items():
            for sort in ("", "price"):
                for page in range(1, self.pages(len(category.products)) + 1):
                    yield href(f"/c/{slug}", page=page, sort=sort)
                for filters in self.filters():
                    for page in range(1, self.pages(len(self.matching(slug, filters))) + 1):
                        yield href(f"/c/{slug}", page=page, sort=sort, **filters)
            yield href("/search", q=category.noun.lower())
        for slug, product in self.content.products.items():
            yield f"/p/{slug}"
            yield f"/added/{slug}"
            yield href("/search", q=product.name.lower())
        for adjective in sorted({p.name.split()[0] for p in self.content.products.values()}):
            yield href("/search", q=adjective.lower())

    def way_to(self, path: str) -> tuple[str, str]:
        words = self.look.words
        parts = urlsplit(path)
        query = dict(parse_qsl(parts.query))
        match parts.path.strip("/").split("/"):
            case ["c", slug]:
                if "page" in query:
                    return href(parts.path, **{**query, "page": int(query["page"]) - 1}), words["next"]
                for key in ("sort", "stock", "max", "color"):
                    if key in query:
                        value = query.pop(key)
                        label = {
                            "sort": words["cheap"], "stock": words["stock"], "max": f"{words['under']} ${value}",
                            "color": value.title(),
                        }[key]  # fmt: skip
                        return href(parts.path, **query), label
                return "/", self.content.categories[slug].name
            case ["p", slug]:
                product = self.content.products[slug]
                place = self.content.categories[product.category].products.index(product) // self.per_page
                return href(f"/c/{product.category}", page=place + 1), product.name
            case ["cart"]:
                return "/", words["cart"]
        return "/", words["home"]

    def reason(self, path: str) -> str:
        match urlsplit(path).path.strip("/").split("/"):
            case ["p", slug]:
                product = self.content.products[slug]
                return f"{product.name} is a {product.noun}."
        return ""

    def cart_count(self, overlay: Overlay) -> int:
        """How many things are in a session's cart."""
        return sum(cart.amounts(overlay).values())

    def filters(self) -> list[dict[str, str]]:
        """Each single filter as query values."""
        limits = [{"max": str(limit)} for limit in self.content.limits]
        return [*limits, {"stock": "1"}, *({"color": color.lower()} for color in self.content.colors)]

    def matching(self, category: str, values: dict[str, str]) -> list[Product]:
        """Products of a category under the filters and in the order of a query."""
        found = list(self.content.categories[category].products)
        if values.get("color"):
            found = [p for p in found if p.color.lower() == values["color"].lower()]
        if values.get("max", "").isdigit():
            found = [p for p in found if p.price < int(values["max"])]
        if values.get("stock") == "1":
            found = [p for p in found if p.stock > 0]
        if values.get("sort") == "price":
            found.sort(key=lambda p: p.price)
        return found

    def _list(self, slug: str, values: dict[str, str]) -> Page:
        category = self.content.categories[slug]
        found = self.matching(slug, values)
        items, page, pages = self.paged(found, values)
        query = {k: values[k] for k in ("color", "max", "stock", "sort") if values.get(k)}
        data = {
            "category": category, "items": items, "page": page, "pages": pages, "query": query, "count": len(found),
            "path": f"/c/{slug}",
        }  # fmt: skip
        shows = [f"{p.slug}.Price" for p in items]
        if "color" in query:
            shows += [f"{p.slug}.Color" for p in items]
        return Page("list", category.name, data, tuple(shows), _card_facts(items))

    def _product(self, product: Product) -> Page:
        category = self.content.categories[product.category]
        others = [p for p in category.products if p != product]
        start = sum(map(ord, product.slug)) % len(others)
        related = (others + others)[start : start + 3]
        shows = [f"{product.slug}.{label}" for label in product.facts()]
        if self.look.compact.related:
            shows += [f"{p.slug}.Price" for p in related[: compact.RELATED]]
        data = {"product": product, "category": category, "related": related}
        return Page("product", product.name, data, tuple(shows), _card_facts(related))

    def _search(self, values: dict[str, str]) -> Page:
        text = values.get("q", "")
        wanted = text.lower().split()
        found = [p for p in self.content.products.values() if wanted and all(w in p.name.lower() for w in wanted)]
        items, page, pages = self.paged(found, values)
        data = {
            "q": text, "items": items, "page": page, "pages": pages, "count": len(found), "query": {"q": text},
            "path": "/search",
        }  # fmt: skip
        shows = tuple(f"{p.slug}.Price" for p in items)
        return Page("search", self.look.words["results"], data, shows, _card_facts(items))

    def _cart(self, overlay: Overlay) -> Page:
        lines = [(self.content.products[slug], amount) for slug, amount in cart.amounts(overlay).items()]
        total = sum(product.price * amount for product, amount in lines)
        shows = tuple(f"{product.slug}.Price" for product, _ in lines)
        return Page("cart", self.look.words["cart"], {"lines": lines, "total": total}, shows)

    def _change(self, request: Request, overlay: Overlay) -> Page | Redirect:
        slug = request.values.get("item", "")
        product = self.content.products.get(slug)
        if request.path == "/cart/add" and product is not None and product.stock > 0:
            cart.put(overlay, slug)
            return Redirect(f"/added/{slug}")
        if request.path == "/cart/remove":
            cart.take_out(overlay, slug)
            return Redirect("/cart")
        return Page("missing", "Page not found", status=404)


def _card_facts(products: Sequence[Product]) -> tuple[str, ...]:
    """What full-size cards tell: the price in words, the colour by their picture."""
    return tuple(f"{p.slug}.{label}" for p in products for label in ("Price", "Color"))
