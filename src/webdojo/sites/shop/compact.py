"""A shop's pages in the compact layout; the look decides order, wording and shape of the blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webdojo.sites.compact import (
    COLUMNS,
    Cell,
    Form,
    Row,
    action_row,
    choice_row,
    link_row,
    search_row,
    text_row,
    title_row,
)
from webdojo.sites.frame import fact_row, frame, item_rows, pager_rows
from webdojo.sites.site import Overlay, Page, href

if TYPE_CHECKING:
    from webdojo.sites.shop.content import Product
    from webdojo.sites.shop.pages import Shop

RELATED = 2
"""Related products that a product page shows, where its look has any."""


def rows(shop: Shop, page: Page, overlay: Overlay) -> list[Row]:
    """All rows of a page, header and search included."""
    look = shop.look
    body = {
        "home": _home, "list": _list, "search": _search, "product": _product, "added": _added, "cart": _cart,
        "missing": _missing,
    }[page.name](shop, page)  # fmt: skip
    cart = (f"{look.words['cart']} {shop.cart_count(overlay)}", "/cart")
    search = search_row(look.words["search"], look.words["go"], page.data.get("q", ""), look.compact.go_left)
    return frame(look, body, search, cart)


def _home(shop: Shop, page: Page) -> list[Row]:
    return [title_row(page.title, shop.look.compact.title), *_categories(shop)]


def _categories(shop: Shop) -> list[Row]:
    return item_rows(shop.look, [(c.name, f"/c/{c.slug}", "") for c in shop.content.categories.values()])


def _products(shop: Shop, items: list[Product]) -> list[Row]:
    return item_rows(shop.look, [(p.name, f"/p/{p.slug}", f"${p.price}") for p in items])


def _list(shop: Shop, page: Page) -> list[Row]:
    look, data = shop.look, page.data
    title = title_row(page.title, look.compact.title, f"{data['page']} of {data['pages']}")
    found = _products(shop, data["items"]) or [text_row(look.words["none"], indent=look.compact.indent)]
    pager = pager_rows(look, data["path"], data["query"], data["page"], data["pages"])
    filters = _filters(shop, data["path"], data["query"])
    if look.compact.filters == "above":
        return [title, *filters, *found, *pager]
    return [title, *found, *pager, *filters]


def _filters(shop: Shop, path: str, query: dict[str, str]) -> list[Row]:
    """Blocks that switch a filter on, or off again where it is on."""

    def choice(text: str, key: str, value: str) -> tuple[str, str, bool]:
        on = query.get(key) == value
        return text, href(path, **{**query, key: "" if on else value}), on

    words = shop.look.words
    colors = [choice(color, "color", color.lower()) for color in shop.content.colors]
    limits = [choice(f"{words['under']} ${limit}", "max", str(limit)) for limit in shop.content.limits]
    return [
        choice_row([choice(words["cheap"], "sort", "price")]),
        choice_row(limits) if max(len(text) for text, _, _ in limits) <= COLUMNS // 2 else choice_row(limits[:1]),
        choice_row(colors),
        choice_row([choice(words["stock"], "stock", "1")]),
    ]


def _search(shop: Shop, page: Page) -> list[Row]:
    look, data = shop.look, page.data
    title = title_row(page.title, look.compact.title, str(data["count"]))
    found = _products(shop, data["items"]) or [text_row(look.words["none"], indent=look.compact.indent)]
    return [title, *found, *pager_rows(look, data["path"], data["query"], data["page"], data["pages"])]


def _product(shop: Shop, page: Page) -> list[Row]:
    look, product = shop.look, page.data["product"]
    facts = [fact_row(look, label, value) for label, value in product.facts().items()]
    if product.stock > 0:
        form = Form("/cart/add", "post", (("item", product.slug),))
        action = [action_row(look.words["add"], look.compact.button, form)]
    else:
        action = [text_row(look.words["sold"], indent=look.compact.indent, style="sold")]
    category = page.data["category"]
    out = [title_row(product.name, look.compact.title)]
    out += [*action, *facts] if look.compact.button_first else [*facts, *action]
    out += item_rows(look, [(category.name, f"/c/{category.slug}", "")])
    if look.compact.related:
        out += [text_row(look.words["related"], style="heading", tag="h2")]
        out += _products(shop, page.data["related"][:RELATED])
    return out


def _added(shop: Shop, page: Page) -> list[Row]:
    look, product = shop.look, page.data["product"]
    return [
        title_row(page.title, look.compact.title),
        text_row(product.name, indent=look.compact.indent),
        link_row(look.words["cart"], "/cart", style="item"),
        *_categories(shop),
    ]


def _cart(shop: Shop, page: Page) -> list[Row]:
    look = shop.look
    out = [title_row(page.title, look.compact.title)]
    for product, amount in page.data["lines"]:
        out += item_rows(look, [(product.name, f"/p/{product.slug}", f"${product.price}")])
        form = Form("/cart/remove", "post", (("item", product.slug),))
        remove = look.words["remove"]
        button = Cell("button", remove, len(remove) + 2, pad=1, style="button")
        amount_cell = Cell("text", f"x{amount}", COLUMNS - button.columns, pad=look.compact.indent)
        out += [Row((amount_cell, button), form=form)]
    if page.data["lines"]:
        return [*out, text_row(look.words["total"], note=f"${page.data['total']}", style="heading")]
    return [*out, text_row(look.words["empty"], indent=look.compact.indent), *_categories(shop)]


def _missing(shop: Shop, page: Page) -> list[Row]:
    return [title_row(page.title, shop.look.compact.title), *_categories(shop)]
