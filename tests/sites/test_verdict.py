from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdojo.errors import TaskError
from webdojo.sites.answers.values import text
from webdojo.sites.catalog import fact_name, listed_fact, order_fact
from webdojo.sites.goal import any_view, fact, place
from webdojo.sites.kinds import load_site
from webdojo.sites.verdict import Verdict, evaluate
from webdojo.types import Task

HOST, OTHER = "shop-1.localhost", "wiki-2.localhost"
URL = f"http://{HOST}/"
CART = fact("Red Mug is in the Cart", state={"cart/red-mug": 1})


def judge(
    evaluator: dict[str, Any],
    answer: str | None = "done",
    url: str = URL,
    *,
    state: dict[str, Any] | None = None,
    seen: list[str] | None = None,
    visited: list[str] | None = None,
    followed: list[list[str]] | None = None,
    elsewhere: dict[str, Any] | None = None,
) -> Verdict:
    """The verdict; unless told otherwise, the last page was served."""
    task = Task(id="t", instruction="What is the Size of Royal Mug?", start_url=URL, website=HOST, evaluator=evaluator)
    served = [url.removeprefix(URL[:-1])] if visited is None else visited
    here = {HOST: {"state": state or {}, "seen": seen or [], "visited": served, "followed": followed or []}}
    return evaluate(task, answer, url, here | (elsewhere or {}))


def passes(one: dict[str, Any], *args: Any, **kwargs: Any) -> bool:
    """Whether one fact holds on its own."""
    return judge({"facts": [one]}, *args, **kwargs).success


def test_every_fact_must_hold_and_the_first_that_does_not_is_named() -> None:
    facts = [fact("The page of Red Mug was shown", visited=[place("/p/red-mug")]), CART]
    evaluator = {"facts": facts, "state": {"cart/red-mug": 1}}
    right = judge(evaluator, state={"cart/red-mug": 1}, visited=["/p/red-mug"])
    assert right == Verdict(True, "every fact holds", (True, True))
    late = judge(evaluator, visited=["/p/red-mug"])
    assert (late.success, late.facts) == (False, (True, False))
    assert late.reason == "not so: Red Mug is in the Cart (cart/red-mug was not changed)"
    early = judge(evaluator, state={"cart/red-mug": 1}, visited=["/"])
    assert (early.success, early.facts) == (False, (False, True))
    assert "The page of Red Mug was shown" in early.reason


def test_without_done_nothing_passes() -> None:
    verdict = judge({"facts": [fact("Home is shown", url=place("/"))]}, None)
    assert verdict == Verdict(False, "the agent never said done", (True,))


def test_a_right_answer_that_was_never_seen_is_a_guess() -> None:
    goal = fact("The answer is Large", seen=["royal-mug.Size"], answer=text("Large"))
    assert passes(goal, "Large", seen=["royal-mug.Size", "soft-mug.Price"])
    assert not passes(goal, "Small", seen=["royal-mug.Size"])
    assert not passes(goal, "Large", seen=["soft-mug.Size"])


def test_the_last_page_must_be_the_one_asked_for() -> None:
    goal = fact("Red Mugs are shown", url=place("/c/mugs", color="red"))
    assert passes(goal, "done", f"{URL}c/mugs?color=red")
    assert passes(goal, "done", f"{URL}c/mugs/?page=1&color=Red")
    assert passes(goal, "done", f"{URL}c/mugs/?page=2&color=Red&sort=price")
    for url in (
        "c/mugs",
        "c/mugs?color=blue",
        "c/mugs?color=red&max=20",
        "c/rugs?color=red",
    ):
        assert not passes(goal, "done", URL + url)
    assert not passes(goal, "done", "http://shop-2.localhost/c/mugs?color=red")
    assert not passes(goal, "done", "about:blank")


def test_the_last_page_must_have_been_served() -> None:
    goal = fact("Lunar Desk is shown", url=place("/p/lunar-desk"))
    assert passes(goal, "done", f"{URL}p/lunar-desk#top", visited=["/", "/p/lunar-desk"])
    assert passes(goal, "done", f"{URL}p/lunar-desk", visited=["/p/lunar-desk", "/"])  # in another tab
    assert not passes(goal, "done", f"{URL}p/lunar-desk", visited=["/", "/p/red-desk"])
    for url in (f"http://{HOST}:9/p/lunar-desk", f"https://{HOST}/p/lunar-desk"):  # never loaded, but addressed
        assert not passes(goal, "done", url, visited=["/", "/p/lunar-desk"])


def test_a_search_that_was_asked_for_must_have_been_made() -> None:
    goal = fact("Results were shown", visited=[place("/search", q="royal mug")])
    assert passes(goal, visited=["/", "/search?q=Royal+Mug", "/p/royal-mug"])
    assert passes(goal, visited=["/search?q=royal++mug+"])
    for visited in ([], ["/c/mugs", "/p/royal-mug"], ["/search?q=mug"], ["/search"], ["//["]):
        assert not passes(goal, visited=visited)


def test_a_place_without_a_query_is_there_under_any_query() -> None:
    goal = fact("Mugs were shown", visited=[any_view("/c/mugs")])
    for path in ("/c/mugs", "/c/mugs?page=2", "/c/mugs/?color=red&page=3"):
        assert passes(goal, visited=[path])
    assert not passes(goal, visited=["/c/rugs", "/"])


@pytest.mark.parametrize(
    ("wanted", "right", "wrong"),
    [
        (
            ("/map", "/places/inn"),
            [("/map", "/places/inn")],
            [("/", "/places/inn"), ("/map", "/places/bar"), ("/map", "/places/inn?from=map")],
        ),
        (
            ("/find", "/places?district&category"),
            [("/find", "/places?district=old&category="), ("/find", "/places?district=&category=&now=open")],
            [("/find", "/places"), ("/find", "/places?district=old"), ("/find", "/shops?district=&category=")],
        ),
    ],
)
def test_one_page_must_have_led_to_the_other(
    wanted: tuple[str, str], right: list[tuple[str, str]], wrong: list[tuple[str, str]]
) -> None:
    goal = fact("It led there", followed=wanted)
    for way in right:
        assert passes(goal, followed=[list(way)]), way
        assert passes(goal, followed=[["/", "/more"], list(way)]), way
    for way in wrong:
        assert not passes(goal, followed=[list(way)]), way


def test_the_card_that_the_map_showed_last_is_the_one_that_counts() -> None:
    goal = {"says": "The map shows the inn", "last": ["/map/card/", "/map/card/inn"]}
    assert passes(goal, visited=["/map", "/map/card/bar", "/map/card/inn", "/map"])
    for visited in (["/map"], ["/map/card/inn", "/map/card/bar"]):
        assert not passes(goal, visited=visited), visited


@pytest.mark.parametrize("closing", ["", "Red Mug is in the cart.", "I could not find the cart.", "Shall I begin?"])
def test_closing_words_do_not_count_where_no_answer_is_asked(closing: str) -> None:
    goal = {"facts": [CART], "state": {"cart/red-mug": 1}}
    assert judge(goal, closing, state={"cart/red-mug": 1}).success
    assert not judge(goal, closing).success


def test_closing_words_count_where_an_answer_is_asked() -> None:
    goal = {"facts": [CART, fact("The answer is Blue", answer=text("Blue"))], "state": {"cart/red-mug": 1}}
    assert judge(goal, "Blue", state={"cart/red-mug": 1}).success
    for closing in ("done", "Blue. No, wait, I could not find it.", "It is not Blue.", "I could not find the cart."):
        assert not judge(goal, closing, state={"cart/red-mug": 1}).success, closing
    assert passes(fact("The answer is Out of stock", answer=text("Out of stock")), "Out of stock")


def test_of_several_ways_one_is_enough() -> None:
    goal = fact("A Mug was shown", one_of=[{"visited": [place("/p/a")], "seen": ["a.Size"]}, {"seen": ["b.Size"]}])
    assert passes(goal, visited=["/p/a"], seen=["a.Size"])
    assert passes(goal, seen=["b.Size"])
    assert not passes(goal, visited=["/p/a"])
    assert not passes(goal, seen=["a.Size"])


def test_a_fact_may_be_about_another_site() -> None:
    goal = {
        "facts": [fact("It was posted", site=OTHER, state={"post/1/title": "Red Mug"}), CART],
        "state": {"cart/red-mug": 1},
        "states": {OTHER: {"post/1/title": "Red Mug"}},
    }
    there = {OTHER: {"state": {"post/1/title": "Red  Mug"}, "visited": [], "seen": []}}
    assert judge(goal, state={"cart/red-mug": 1}, elsewhere=there).success
    assert judge(goal, state={"cart/red-mug": 1}).facts == (False, True)
    shown = fact("It is shown", site=OTHER, url=place("/x"))
    there = {OTHER: {"state": {}, "visited": ["/x"], "seen": []}}
    assert passes(shown, "done", f"http://{OTHER}/x", elsewhere=there)
    assert not passes(shown, "done", f"{URL}x")


keys = st.sampled_from(["cart/red-mug", "cart/soft-mug", "post/1/title", "theme", "booking/3"])
scalars = st.one_of(st.integers(-3, 3), st.booleans(), st.text(max_size=5), st.none(), st.floats(-1, 1))


def same(a: Any, b: Any) -> bool:
    return isinstance(a, bool) == isinstance(b, bool) and (
        a == b if not isinstance(a, str) or not isinstance(b, str) else a.split() == b.split()
    )


@given(st.dictionaries(keys, scalars, min_size=1), keys, scalars)
def test_nothing_but_what_was_asked_may_change_on_any_host(wanted: dict[str, Any], key: str, value: Any) -> None:
    asked = next(iter(wanted))
    goal = {"facts": [fact("It is so", state={asked: wanted[asked]})], "state": wanted}
    assert judge(goal, state=wanted).success
    for lost in wanted:
        assert not judge(goal, state={k: v for k, v in wanted.items() if k != lost}).success
    if key not in wanted or not same(wanted[key], value):
        assert not judge(goal, state={**wanted, key: value}).success
    assert not judge(goal, state={**wanted, "more": value}).success
    assert not judge(goal, state={}).success
    elsewhere = {OTHER: {"state": {key: value}, "visited": [], "seen": []}}
    more = judge(goal, state=wanted, elsewhere=elsewhere)
    assert not more.success
    assert more.facts == (True,)
    assert more.reason == f"on {OTHER}, {key} was changed, which was not asked for"
    assert not judge(goal, elsewhere={OTHER: {"state": wanted, "visited": [], "seen": []}}).success
    assert judge({**goal, "states": {OTHER: {key: value}}}, state=wanted, elsewhere=elsewhere).success
    assert not judge({**goal, "states": {OTHER: {key: value}}}, state=wanted).success


def test_a_host_without_state_of_its_own_has_none_changed() -> None:
    miniwob = {"miniwob.localhost": {"page": "/", "done": True, "raw_reward": 1.0}}
    assert passes(fact("Home is shown", url=place("/")), elsewhere=miniwob)


@pytest.mark.parametrize(
    ("wanted", "right", "wrong"),
    [
        ("Red Mug", ["Red Mug", " Red \n Mug "], ["red mug", "Red", "", None, 1]),
        (1, [1, 1.0], [2, True, "1", None, 0]),
        (True, [True], [1, "true", False]),
        ({"type": "text", "value": "Red Mug"}, ["red  MUG"], ["Red Mugs", "a Red Mug", 1]),
        ({"type": "contains", "values": ["red mug", "7"]}, ["I got 7 of the Red Mug!"], ["red mug", "redmug 7", 7, ""]),
        ({"type": "among", "values": [1, "b"]}, [1, "b"], [2, "a", None]),
        ({"type": "any"}, [1, "", None, False], []),
    ],
)
def test_values_of_the_state(wanted: Any, right: list[Any], wrong: list[Any]) -> None:
    goal = {"facts": [fact("It is so", state={"key": wanted})], "state": {"key": {"type": "any"}}}
    whole = {"facts": [fact("It is so", url=place("/"))], "state": {"key": wanted}}
    for value in right:
        assert judge(goal, state={"key": value}).success, value
        assert judge(whole, state={"key": value}).success, value
    for value in wrong:
        assert not judge(goal, state={"key": value}).success, value
        assert not judge(whole, state={"key": value}).success, value


@pytest.mark.parametrize(
    "evaluator",
    [
        {},
        {"facts": []},
        {"url": place("/")},
        {"facts": [{"says": "nothing is checked"}]},
        {"facts": [{"url": place("/")}]},
        {"facts": [{"says": "x", "uri": place("/")}]},
        {"facts": [{"says": "x", "visited": []}]},
        {"facts": [{"says": "x", "any": [{}]}]},
        {"facts": [{"says": "x", "any": [{"uri": place("/")}]}]},
        {"facts": [{"says": "x", "answer": {"type": "mood"}}]},
        {"facts": [CART], "cart": {}},
        {"facts": [CART], "states": {HOST: {"cart/red-mug": 1}}},
        {"facts": [fact("x", state={"key": {"type": "mood"}})]},
    ],
)
def test_an_evaluator_that_cannot_be_checked_is_an_error(evaluator: dict[str, Any]) -> None:
    with pytest.raises(TaskError, match="cannot be checked"):
        judge(evaluator, state={"key": 1})


def test_that_a_thing_is_the_first_must_have_been_seen() -> None:
    products = load_site("shop", 1, "compact").main
    color = products.constraints(products.by_key["color"])[0]
    ordered = products.find([], "price")
    best = next(each for each in ordered if color.holds(each))
    before = ordered[: ordered.index(best)]
    assert before, "the cheapest of this colour is not the cheapest of all"
    where = f"/products?color={str(color.value).lower()}"
    first = fact("It is the cheapest", first={"label": "Price", "of": where, "thing": best.slug})
    those = [each.slug for each in products.find([color])]
    prices = [fact_name(slug, "Price") for slug in those]
    listed = [listed_fact(slug, where) for slug in those]
    assert passes(first, seen=[order_fact(best.slug, "Price", where)])
    assert passes(first, seen=[*prices, listed[those.index(best.slug)]]), "all prices were on screen"
    assert not passes(first, seen=[*listed, fact_name(best.slug, "Price")]), "it might be any of them"
    assert not passes(first, seen=[*prices[1:], *listed] if those[0] != best.slug else [*prices[:-1], *listed])
    of_all = [order_fact(best.slug, "Price", "/products"), fact_name(best.slug, "Color")]
    colors = [fact_name(each.slug, "Color") for each in before]
    assert passes(first, seen=[*of_all, *colors]), "all that come before it are of another colour"
    assert not passes(first, seen=[*of_all, *colors[1:]])


def test_that_things_are_all_of_a_list_needs_what_tells_the_others_apart() -> None:
    products = load_site("shop", 1, "compact").main
    color = products.constraints(products.by_key["color"])[0]
    where, all_of = f"/products?color={str(color.value).lower()}", "/products"
    those = {"says": "All of them", "listed": where}
    listed = [listed_fact(each.slug, all_of) for each in products.entities]
    own = [fact_name(each.slug, "Color") for each in products.find([color])]
    others = [fact_name(each.slug, "Color") for each in products.entities if not color.holds(each)]
    assert passes(those, seen=[*listed, *own, *others])
    assert not passes(those, seen=[*listed, *own]), "the others may be of this colour, too"
    assert not passes(those, seen=[*listed, *own, *others[1:]])
