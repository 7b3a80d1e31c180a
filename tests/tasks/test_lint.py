"""What the rules say of tasks, and what they leave alone."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from webdojo.envs import web
from webdojo.tasks.lint import Finding, lint, references
from webdojo.tasks.sources import deepshop, online_mind2web, webvoyager
from webdojo.types import Task

DATA = Path(__file__).parents[3] / "shared" / "data"
has_data = pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside this checkout")
TODAY = date(2026, 11, 1)


def task(instruction: str, id: str = "a", url: str = "https://www.a.example/", **more: Any) -> Task:
    return Task(id=id, instruction=instruction, start_url=url, website="www.a.example", **more)


def rules(*tasks: Task) -> list[tuple[int, str]]:
    return [(finding.row, finding.rule) for finding in lint(tasks, TODAY)]


def test_a_finding_names_row_id_rule_and_why() -> None:
    assert list(lint([task("Find a lamp"), task("Buy a lamp, red", "b")], TODAY)) == [
        Finding(row=2, id="b", rule="unsafe", level="error", why="'Buy a lamp' would be done for real")
    ]


@pytest.mark.parametrize("text", ["", "  ", "…", "Search"])
def test_an_empty_task(text: str) -> None:
    assert rules(task(text)) == [(1, "empty")]


@pytest.mark.parametrize("url", ["", "a.example", "ftp://a.example/", "https://", "http://[::1", "about:blank"])
def test_an_address_that_is_not_http(url: str) -> None:
    assert rules(task("Find a lamp", url=url)) == [(1, "non_http")]


@pytest.mark.parametrize(
    ("text", "url", "again"),
    [
        ("find A lamp!", "http://a.example", True),
        ("Find a  lamp.", "https://www.a.example/?", True),
        ("Find a lamp", "https://www.a.example/lamps", False),
        ("Find a lamp", "https://www.a.example/?page=2", False),
        ("Find the lamp", "https://www.a.example/", False),
    ],
)
def test_the_same_words_on_the_same_page(text: str, url: str, again: bool) -> None:
    assert rules(task("Find a lamp"), task("Find it now", "b"), task(text, "c", url)) == ([(3, "duplicate")] * again)


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("Find a flight for October 1, 2026", True),
        ("Find a flight for December 1, 2026", False),
        ("Show the results of October 1, 2026", False),
    ],
)
def test_a_plan_for_a_day_that_has_passed(text: str, past: bool) -> None:
    assert rules(task(text)) == [(1, "past_dated")] * past


@pytest.mark.parametrize(
    "text",
    [
        "Buy the cheapest lamp",
        "Find a red lamp and buy it.",
        "Find a lamp, then place an order",
        "I want to book a table for two",
        "Please reserve a hotel in Rome",
        "Open the contact page. Send a message to the seller",
        "Send him an email",
        "Find the newest post and leave a short comment",
        "Write a review of the lamp",
        "Post my question in the forum",
        "Submit a request for a quote",
        "Upvote the newest post",
        "Search for Ada Lovelace and follow her",
        "Sign up for the newsletter",
        "Subscribe to the newsletter",
        "Create an account",
        "Apply for the first job",
        "Delete all comments",
        "Cancel my order",
        "Find the article and share it on Twitter",
        "Schedule an appointment with a dentist",
    ],
)
def test_what_would_be_done_for_real(text: str) -> None:
    assert (1, "unsafe") in rules(task(text))


@pytest.mark.parametrize(
    "text",
    [
        "Find the best lamp to buy",
        "How much does it cost to buy a lamp?",
        "I want to buy a used car. What would it cost?",
        "Add a lamp to the cart",
        "Search Best Buy for a laptop",
        "Sort by price, order from high to low",
        "Find the order of the planets",
        "Find a book about Rome and its reviews",
        "Find the page that says how to cancel an order",
        "Read the post and summarize its comments",
        "Follow the link to the recipe",
        "Show jobs, apply the filter for remote work",
        "Find a follow-up to the article",
        "Compare prices for flights to Oslo",
        "Browse reviews, comments and ratings",
    ],
)
def test_what_changes_nothing_for_others(text: str) -> None:
    assert rules(task(text)) == []


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "shop"},
        {"evaluator": {"type": "webarena", "sites": {"__SHOPPING__": "http://shop.example"}}},
    ],
)
def test_nothing_is_for_real_on_sites_of_ones_own(more: dict[str, Any]) -> None:
    assert rules(task("Buy the cheapest lamp", **more)) == []


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("Log in and show the newest message", True),
        ("Open the page and sign in with the name Ada", True),
        ("Show my orders", True),
        ("Add the lamp to my wish list", True),
        ("Find the page on how to reset my account", False),
        ("Find out how to log in", False),
        ("Find a login form made of wood", False),
    ],
)
def test_what_needs_an_account(text: str, needs: bool) -> None:
    assert rules(task(text)) == [(1, "log_in")] * needs
    assert rules(task(text, storage_state="ada.json")) == []


@pytest.mark.parametrize("website", ["localhost", "127.0.0.1:8090", "192.168.1.7", "172.20.0.3", "[::1]:8090"])
def test_whoever_serves_a_site_says_who_logs_in_there(website: str) -> None:
    asked = task("Log in as ann and show my orders").model_copy(update={"website": website})
    assert rules(asked) == []


@pytest.mark.parametrize(
    ("text", "evaluator", "leaks"),
    [
        ("Who wrote it? It was Ada Lovelace.", {"definite_answer": "Ada Lovelace"}, True),
        ("Who wrote it? It was ada  lovelace!", {"reference_answer": "Ada Lovelace."}, True),
        ("Find Ada and Bo", {"reference_answers": {"must_include": ["Ada", "Bob"]}}, False),
        ("Find Ada and Bob", {"reference_answers": {"must_include": ["Ada", "Bob"]}}, True),
        ("Who wrote it?", {"definite_answer": "Ada Lovelace"}, False),
        ("Who wrote it, Ada Lovelace or Bob?", {"definite_answer": "Ada Lovelace"}, False),
        ("Is Ada Lovelace its author?", {"definite_answer": "Ada Lovelace"}, False),
        ("Find the 2 lamps", {"definite_answer": "2"}, False),
        ("Find the lamps", {"definite_answer": "lamp"}, False),
        ("Find the lamps", {}, False),
    ],
)
def test_a_text_that_holds_its_answer(text: str, evaluator: dict[str, Any], leaks: bool) -> None:
    assert rules(task(text, evaluator=evaluator)) == [(1, "leaking")] * leaks


def test_references_are_found_where_the_sets_keep_them() -> None:
    assert references(task("", evaluator={"reference_answers": {"must_include": ["a", "b"]}, "url": "c"})) == ["a", "b"]


# --- the real files: every finding was read, and is right ---------------------------------------


@has_data
def test_what_is_found_in_online_mind2web() -> None:
    tasks = online_mind2web.load(DATA / "online-mind2web" / "online_mind2web.json")
    assert rules(*tasks) == [(57, "unsafe"), (155, "unsafe")]


@has_data
@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("WebVoyager_data.jsonl", {"past_dated": 65, "unsafe": 7, "log_in": 1}),
        ("webvoyager_595.jsonl", {"past_dated": 61, "unsafe": 7, "log_in": 1}),
    ],
)
def test_what_is_found_in_webvoyager(file: str, found: dict[str, int]) -> None:
    assert Counter(rule for _, rule in rules(*webvoyager.load(DATA / "webvoyager" / file))) == found


@has_data
def test_nothing_is_found_in_deepshop_and_webarena() -> None:
    assert rules(*deepshop.load(DATA / "deepshop" / "deepshop.jsonl")) == []
    names = ("SHOPPING", "SHOPPING_ADMIN", "GITLAB", "REDDIT", "MAP", "WIKIPEDIA")
    hosted = {f"__{name}__": f"http://{name.lower().replace('_', '-')}.example" for name in names}
    assert rules(*web.load(DATA / "webarena" / "test.raw.json", hosted)) == []
