import re
from collections.abc import Iterable
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from webdojo.errors import SiteError
from webdojo.sites import HELDOUT_SEED, host_of
from webdojo.sites.catalog import Entity
from webdojo.sites.content.words import REGIONS, WIKI_NUMBERS
from webdojo.sites.design.render import compact_css, render
from webdojo.sites.kinds import KINDS, load_site, parse_host
from webdojo.sites.shop import Shop
from webdojo.sites.site import Overlay, Page, Request, canonical
from webdojo.sites.wiki import Wiki


@pytest.mark.parametrize("kind", KINDS)
def test_hosts_name_their_site(kind: str) -> None:
    assert parse_host(host_of(kind, 17)) == (kind, 17)
    assert parse_host(host_of(kind, HELDOUT_SEED) + ":8080") == (kind, HELDOUT_SEED)


@pytest.mark.parametrize(
    "host", ["example.com", "shop-x.localhost", "shop-01.localhost", "mall-1.localhost", "", "shop--1.localhost"]
)
def test_other_hosts_are_errors(host: str) -> None:
    with pytest.raises(SiteError):
        parse_host(host)
    with pytest.raises(SiteError, match="unknown kind"):
        load_site("mall", 1)
    with pytest.raises(SiteError, match="outside"):
        host_of("shop", -1)


def values(entities: Iterable[Entity], key: str) -> list[Any]:
    return [entity.values[key] for entity in entities]


def test_content_is_a_pure_function_of_the_seed() -> None:
    for kind in (Shop, Wiki):
        assert kind(3, "compact").main == kind(3, "compact").main
        assert kind(3, "compact").main != kind(4, "compact").main
    for seed in range(30):
        shop, wiki = Shop(seed, "compact"), Wiki(seed, "compact")
        assert len(shop.main.entities) == len(wiki.main.entities) == 60
        assert len(shop.groups) == len(wiki.groups) == 5
        for products in shop.groups.values():
            assert len(set(values(products, "price"))) == 12
            assert sum(price < shop.main.limits["price"][0] for price in values(products, "price")) >= 2
            assert set(values(products, "color")) == set(shop.main.limits["color"])
        for articles in wiki.groups.values():
            assert len(set(values(articles, "year"))) == 12


def test_a_large_shop_has_what_the_small_one_has_and_more_of_the_kind() -> None:
    for seed in range(30):
        small, large = Shop(seed, "compact"), Shop(seed)
        assert len(large.main.entities) == 240
        assert large.main.limits["color"] == small.main.limits["color"]
        assert set(small.main.limits["price"]) <= set(large.main.limits["price"])
        for name, products in small.groups.items():
            for product, same in zip(products, large.groups[name], strict=False):
                assert product.name == same.name and product.values.items() <= same.values.items()
        for products in large.groups.values():
            assert len({product.name for product in products}) == len(set(values(products, "price"))) == 30
            assert sum(price < large.main.limits["price"][0] for price in values(products, "price")) >= 2
            assert set(values(products, "color")) == set(large.main.limits["color"])


def test_a_large_wiki_has_what_the_small_one_has_and_more_of_the_kind() -> None:
    for seed in range(30):
        small, large = Wiki(seed, "compact"), Wiki(seed)
        assert len(large.main.entities) == 240
        for name, articles in small.groups.items():
            for article, same in zip(articles, large.groups[name], strict=False):
                assert article.name == same.name and article.values.items() <= same.values.items()
                assert [each.name for each in small.related(article)] == [each.name for each in large.related(same)]
        for articles in large.groups.values():
            assert len({a.name for a in articles}) == len(set(values(articles, "year"))) == 30
            assert set(values(articles, "region")) == set(REGIONS)
            for label in WIKI_NUMBERS[articles[0].name.split()[-1]]:
                assert len(set(values(articles, label.lower()))) == 30
        assert all(large.related(article) for article in large.main.entities)


@pytest.mark.parametrize("layout", ["compact", "grid", "auto"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_path_of_a_site_is_a_page_and_every_link_leads_to_one(kind: str, layout: str) -> None:
    site = load_site(kind, 5, layout)
    known = list(site.paths())
    assert known[0] == "/"
    assert len(known) == len(set(known))
    assert len(known) > 100
    assert all(path == canonical(path) for path in known)

    def show(path: str) -> str:
        parts = urlsplit(path)
        page = site.respond(Request("GET", parts.path, dict(parse_qsl(parts.query))), Overlay())
        assert isinstance(page, Page), path
        assert page.status == 200, path
        return render(site, page, Overlay(), layout)

    links: set[str] = set()
    for path in known[:: 3 if layout == "auto" else 1]:
        links |= {
            unescape(link) for link in re.findall(r'href="(/[^"]*)"', show(path)) if not link.startswith("/static/")
        }
    for link in sorted(links - set(known)):
        path, _, query = link.partition("?")
        assert query, link
        assert path in (*known, "/search"), link
        show(link)


def test_the_style_sheet_of_a_site_is_written_once() -> None:
    assert compact_css("shop", 3) is compact_css("shop", 3)
    assert compact_css("shop", 3) != compact_css("shop", 4)
