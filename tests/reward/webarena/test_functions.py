"""The functions that specs may call: what the shop's own interface answers, and which page a post is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from tests.reward.webarena.site import make_app, serving
from webdojo.errors import BrowserError
from webdojo.reward.webarena.functions import ShopApi, reddit_get_post_url
from webdojo.reward.webarena.rules import Rules

FORUM = "http://forum:9999"
REPAIRED, PUBLISHED = Rules(), Rules(strict_compat=True)


@pytest.fixture
def app() -> FastAPI:
    return make_app()


@pytest.fixture
def site(app: FastAPI) -> Iterator[str]:
    with serving(app) as address:
        yield address


def shop(site: str, rules: Rules = REPAIRED, password: str = "admin1234") -> ShopApi:
    return ShopApi(site, "admin", password, rules)


@pytest.mark.parametrize(("rules", "number"), [(REPAIRED, 191), (PUBLISHED, 192)])
async def test_the_latest_order_is_addressed_by_its_id_and_was_by_its_number(site: str, rules, number: int) -> None:
    async with shop(site, rules) as api:
        assert await api.shopping_get_latest_order_url() == f"{site}/sales/order/view/order_id/{number}/"


@pytest.mark.parametrize(("rules", "rating"), [(REPAIRED, "80"), (PUBLISHED, "40")])
async def test_the_latest_review_counts_and_of_its_ratings_the_one_of_that_name(site: str, rules, rating: str) -> None:
    async with shop(site, rules) as api:
        assert await api.shopping_get_sku_latest_review_author("B00/1") == "Emma"
        assert await api.shopping_get_sku_latest_review_rating("B00/1") == rating


async def test_what_the_shop_does_not_have_is_empty(app: FastAPI, site: str) -> None:
    app.state.orders, app.state.reviews = [], []
    async with shop(site) as api:
        assert await api.shopping_get_latest_order_url() == ""
        assert await api.shopping_get_sku_latest_review_author("B00/1") == ""
        assert await api.shopping_get_sku_latest_review_rating("B00/1") == ""
    app.state.reviews = [{"nickname": "Ann", "ratings": [{"rating_name": "Price", "percent": 40}]}]
    async with shop(site) as api:
        assert await api.shopping_get_sku_latest_review_rating("B00/1") == ""


async def test_a_shop_that_refuses_is_no_empty_answer(site: str) -> None:
    async with shop(site, password="wrong") as api:
        with pytest.raises(BrowserError, match="the shop did not answer POST"):
            await api.shopping_get_latest_order_url()


@pytest.mark.parametrize(
    ("path", "post"),
    [
        ("/f/books/7/title/-/comment/9", "/f/books/7/"),
        ("/f/books/7/title?sort=new#9", "/f/books/7/"),
        ("/f/books/7", "/f/books/7/"),
        ("/f/books", "/f/books"),
        ("/user/emma/comments", "/user/emma/comments"),
        ("/", "/"),
    ],
)
def test_the_address_of_a_post_is_without_what_follows_its_number(path: str, post: str) -> None:
    assert reddit_get_post_url(FORUM + path) == FORUM + post
