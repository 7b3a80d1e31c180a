from typing import Any

import pytest

from webdojo.errors import TaskError
from webdojo.sites.verdict import evaluate, number, text
from webdojo.types import Task

HOST = "shop-1.localhost"
URL = f"http://{HOST}/"


def task(evaluator: dict[str, Any], instruction: str = "What is the Size of Royal Mug?") -> Task:
    return Task(id="t", instruction=instruction, start_url=URL, website=HOST, evaluator=evaluator)


def passes(
    evaluator: dict[str, Any],
    answer: str | None,
    url: str = URL,
    *,
    cart: dict[str, int] | None = None,
    seen: list[str] | None = None,
    visited: list[str] | None = None,
) -> bool:
    """The verdict; unless told otherwise, the last page was served."""
    served = [url.removeprefix(URL[:-1])] if visited is None else visited
    state = {HOST: {"cart": cart or {}, "seen": seen or [], "visited": served}}
    return evaluate(task(evaluator), answer, url, state).success


@pytest.mark.parametrize(
    "answer",
    [
        "Large",
        "large",
        " LARGE. ",
        "The Size is Large.",
        "The Size of Royal Mug is Large",
        "It is Large",
        "Size: Large",
    ],
)
def test_right_words_pass(answer: str) -> None:
    assert passes({"answer": text("Large")}, answer)


@pytest.mark.parametrize(
    "answer",
    ["", " ", "N/A", "unknown", "done", "Small", "Small, Medium or Large", "Large or Small", "not Large", "Larger",
     "Large 5", "What is the Size of Royal Mug?", "Size", "I think Large", "Large but maybe Medium"],
)  # fmt: skip
def test_wrong_words_fail(answer: str) -> None:
    assert not passes({"answer": text("Large")}, answer)


@pytest.mark.parametrize("answer", ["24", "$24", "24.", "24.00", "The price is $24.", "It costs 24 dollars", "24 24"])
def test_right_numbers_pass(answer: str) -> None:
    assert passes({"answer": number(24)}, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "N/A",
        "25",
        "24 or 25",
        "between 20 and 24",
        "2 4",
        "-24",
        "240",
        "24.5",
        "not 24",
        "twenty-four",
        "1 2 3 24",
        "24%x",
    ],
)
def test_wrong_numbers_fail(answer: str) -> None:
    assert not passes({"answer": number(24)}, answer)


def test_thousands_separators_are_read() -> None:
    assert passes({"answer": number(1874)}, "1,874")


def test_a_right_answer_that_was_never_seen_is_a_guess() -> None:
    goal = {"answer": text("Large"), "seen": ["royal-mug.Size"]}
    assert passes(goal, "Large", seen=["royal-mug.Size", "soft-mug.Price"])
    assert not passes(goal, "Large", seen=["soft-mug.Size"])


def test_the_cart_must_hold_exactly_what_was_asked() -> None:
    goal = {"cart": {"royal-mug": 1}}
    assert passes(goal, "done", cart={"royal-mug": 1})
    for cart in ({}, {"royal-mug": 2}, {"royal-mug": 1, "soft-mug": 1}, {"soft-mug": 1}):
        assert not passes(goal, "done", cart=cart)


def test_the_last_page_must_be_the_one_asked_for() -> None:
    goal = {"url": {"path": "/c/mugs", "query": {"color": "red"}}}
    assert passes(goal, "done", f"{URL}c/mugs?color=red")
    assert passes(goal, "done", f"{URL}c/mugs/?page=1&color=Red")
    for url in (
        "c/mugs",
        "c/mugs?color=blue",
        "c/mugs?color=red&max=20",
        "c/mugs?color=red&page=2",
        "c/rugs?color=red",
    ):
        assert not passes(goal, "done", URL + url)
    assert not passes(goal, "done", "http://shop-2.localhost/c/mugs?color=red")
    assert not passes(goal, "done", "about:blank")


def test_the_last_page_must_have_been_served() -> None:
    goal = {"url": {"path": "/p/lunar-desk", "query": {}}}
    assert passes(goal, "done", f"{URL}p/lunar-desk#top", visited=["/", "/p/lunar-desk"])
    assert passes(goal, "done", f"{URL}p/lunar-desk", visited=["/p/lunar-desk", "/"])  # in another tab
    assert not passes(goal, "done", f"{URL}p/lunar-desk", visited=["/", "/p/red-desk"])
    for url in (f"http://{HOST}:9/p/lunar-desk", f"https://{HOST}/p/lunar-desk"):  # never loaded, but addressed
        assert not passes(goal, "done", url, visited=["/", "/p/lunar-desk"])


def test_a_search_that_was_asked_for_must_have_been_made() -> None:
    goal = {"visited": [{"path": "/search", "query": {"q": "royal mug"}}]}
    assert passes(goal, "done", visited=["/", "/search?q=Royal+Mug", "/p/royal-mug"])
    for visited in ([], ["/c/mugs", "/p/royal-mug"], ["/search?q=mug"], ["/search"]):
        assert not passes(goal, "done", visited=visited)


def test_without_done_nothing_passes() -> None:
    assert not passes({"url": {"path": "/", "query": {}}}, None)


@pytest.mark.parametrize("evaluator", [{}, {"uri": 1}])
def test_an_evaluator_that_checks_nothing_is_an_error(evaluator: dict[str, Any]) -> None:
    with pytest.raises(TaskError):
        passes(evaluator, "done")
