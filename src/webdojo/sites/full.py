"""Cards, sections and texts of the full-size layout, from what a page holds.

The templates place these; which of the layout families they follow is up to `site.css`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from webdojo.sites.content import prose
from webdojo.sites.content.words import REGIONS
from webdojo.sites.design.pictures import picture

if TYPE_CHECKING:
    from webdojo.sites.shop.content import Product
    from webdojo.sites.shop.pages import Shop
    from webdojo.sites.site import Page
    from webdojo.sites.wiki.content import Article
    from webdojo.sites.wiki.pages import Wiki


@dataclass(frozen=True)
class Card:
    """One thing in a list."""

    name: str
    href: str
    picture: Markup
    note: str = ""
    text: str = ""


def shop_view(shop: Shop, page: Page) -> dict[str, Any]:
    """What the templates of a shop need besides the page's own data."""
    categories = shop.content.categories.values()
    tiles = [Card(c.name, f"/c/{c.slug}", _svg(c.name, c.noun)) for c in categories]
    view: dict[str, Any] = {
        "sections": [(c.name, f"/c/{c.slug}") for c in categories],
        "tiles": tiles,
        "tagline": prose.tagline("shop", shop.look.brand, shop.seed),
    }
    if page.name == "home":
        view["picks"] = [_product(shop, p) for p in page.data["picks"]]
    if page.name in ("list", "search"):
        view["cards"] = [_product(shop, p) for p in page.data["items"]]
        view["data_page"] = page.data["page"]
    if page.name == "list":
        under = shop.look.words["under"]
        view["limits"] = [(f"{under} ${limit}", "max", str(limit)) for limit in shop.content.limits]
        view["colors"] = [(color, "color", color.lower()) for color in shop.content.colors]
    if page.name == "product":
        product: Product = page.data["product"]
        view["cards"] = [_product(shop, p) for p in page.data["related"]]
        view["large"] = _svg(product.name, product.noun, product.color)
        view["facts"] = [(label, value) for label, value in product.facts().items() if label != "Price"]
        view["paragraphs"] = prose.description(product.name, product.noun)
        view["reviews"] = prose.reviews(product.name)
    return view


def wiki_view(wiki: Wiki, page: Page) -> dict[str, Any]:
    """What the templates of a wiki need besides the page's own data."""
    topics = wiki.content.topics.values()
    view: dict[str, Any] = {
        "sections": [(t.name, f"/t/{t.slug}") for t in topics],
        "tiles": [Card(t.name, f"/t/{t.slug}", _svg(t.name, t.noun)) for t in topics],
        "tagline": prose.tagline("wiki", wiki.look.brand, wiki.seed),
    }
    if page.name == "home":
        view["picks"] = [_article(t.articles[wiki.seed % len(t.articles)]) for t in topics][:3]
    if page.name in ("list", "search"):
        view["cards"] = [_article(a) for a in page.data["items"]]
        view["data_page"] = page.data["page"]
    if page.name == "list":
        view["regions"] = [(region, "region", region.lower()) for region in REGIONS]
    if page.name == "article":
        article: Article = page.data["article"]
        view["cards"] = [_article(a) for a in page.data["related"]]
        view["large"] = _svg(article.name, article.noun)
        view["facts"] = list(article.facts().items())
        view["paragraphs"] = prose.article(article.name, article.noun, article.region)
    return view


def _product(shop: Shop, product: Product) -> Card:
    art = _svg(product.name, product.noun, product.color)
    text = prose.description(product.name, product.noun)[0].split(". ")[0].rstrip(".") + "."
    return Card(product.name, f"/p/{product.slug}", art, f"${product.price}", text)


def _article(article: Article) -> Card:
    text = prose.article(article.name, article.noun, article.region)[2]  # holds no facts: those are for the article
    return Card(article.name, f"/a/{article.slug}", _svg(article.name, article.noun), "", text)


def _svg(name: str, noun: str, color: str = "") -> Markup:
    return Markup(picture(name, noun, color))
