"""Instructions speak of what a site shows in the words of its pages."""

import re

import pytest

from webdojo.sites.blocks import Card, Cards, Filters
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.site import Overlay, Page, Request


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_control_that_orders_a_list_has_the_words_by_which_goals_ask_for_its_first(kind: str) -> None:
    site = load_site(kind, 3)
    for collection in site.collections.values():
        for attribute in collection.attributes:
            if attribute.least and attribute.sort not in site.look.words:  # a shop says it in words of its own
                assert attribute.sort.lower().removesuffix(" first") == attribute.least, (
                    collection.slug,
                    attribute.key,
                )


def test_headlines_have_the_right_article() -> None:
    names = [entity.name for seed in range(8) for entity in load_site("news", seed).main.entities]
    assert not [name for name in names if re.search(r"\ba [aeiou]", name, re.IGNORECASE)]


def test_a_table_has_heads_only_where_all_rows_tell_the_same() -> None:
    one, other = Card("A", "/a", facts=(("Town", "Rome"),)), Card("B", "/b", facts=(("Price", "$3"),))
    assert Cards((one, one)).columns == ("Town",)
    assert Cards((one, other)).columns == ()


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_control_that_orders_a_list_says_what_comes_first(kind: str) -> None:
    for site in (load_site(kind, seed) for seed in range(8)):
        for path in (f"/{slug}" for slug in site.collections):
            page = site.respond(Request("GET", path, {}), Overlay())
            assert isinstance(page, Page)
            filters = next(block for block in page.data["blocks"] if isinstance(block, Filters))
            said = [choice.text for _, key, choices in filters.groups if key == "sort" for choice in choices]
            assert [text for text in said if not text.endswith(" first")] == [], site.url(path)
