import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from webdojo.errors import SiteError
from webdojo.sites import HELDOUT_SEED, KINDS, host_of, parse_host
from webdojo.sites.content.words import REGIONS
from webdojo.sites.design.render import compact_css, render
from webdojo.sites.shop.content import make_content as shop_content
from webdojo.sites.shop.content import make_large_content as large_shop
from webdojo.sites.site import Overlay, Page, Request, canonical, load_site
from webdojo.sites.wiki.content import make_content as wiki_content
from webdojo.sites.wiki.content import make_large_content as large_wiki


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
        host_of("mall", 1)
    with pytest.raises(SiteError, match="outside"):
        host_of("shop", -1)


def test_content_is_a_pure_function_of_the_seed() -> None:
    assert shop_content(3) == shop_content(3)
    assert shop_content(3) != shop_content(4)
    assert wiki_content(3) == wiki_content(3)
    for seed in range(30):
        shop, wiki = shop_content(seed), wiki_content(seed)
        assert len(shop.products) == 60
        assert len(wiki.articles) == 60
        for category in shop.categories.values():
            assert len({p.price for p in category.products}) == 12
            assert sum(p.price < shop.limits[0] for p in category.products) >= 2
            assert {p.color for p in category.products} == set(shop.colors)
        for topic in wiki.topics.values():
            assert len({a.year for a in topic.articles}) == 12


def test_a_large_shop_has_what_the_small_one_has_and_more_of_the_kind() -> None:
    for seed in range(30):
        small, large = shop_content(seed), large_shop(seed)
        assert len(large.products) == 240
        assert small.products.items() <= large.products.items()
        assert (large.colors, large.limits) == (small.colors, small.limits)
        for slug, category in small.categories.items():
            assert large.categories[slug].products[: len(category.products)] == category.products
        for category in large.categories.values():
            assert len({p.name for p in category.products}) == len({p.price for p in category.products}) == 30
            assert sum(p.price < large.limits[0] for p in category.products) >= 2
            assert {p.color for p in category.products} == set(large.colors)


def test_a_large_wiki_has_what_the_small_one_has_and_more_of_the_kind() -> None:
    for seed in range(30):
        small, large = wiki_content(seed), large_wiki(seed)
        assert len(large.articles) == 240
        assert small.articles.items() <= large.articles.items()
        for slug, topic in small.topics.items():
            assert large.topics[slug].articles[: len(topic.articles)] == topic.articles
        for topic in large.topics.values():
            assert len({a.name for a in topic.articles}) == len({a.year for a in topic.articles}) == 30
            assert {a.region for a in topic.articles} == set(REGIONS)
            for column in zip(*(a.numbers for a in topic.articles), strict=True):
                assert len({label for label, _ in column}) == 1 and len(set(column)) == 30
        assert all(slug in large.articles for a in large.articles.values() for slug in a.related)


@pytest.mark.parametrize("layout", ["compact", "auto"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_path_of_a_site_is_a_page_and_every_link_leads_to_one(kind: str, layout: str) -> None:
    site = load_site(kind, 5).in_layout(layout)
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
    for path in known[:: 1 if layout == "compact" else 3]:
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
