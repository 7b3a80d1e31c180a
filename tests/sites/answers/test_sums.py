"""Counts that are added up page by page."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import Subject
from webdojo.sites.answers.values import number

COUNT = "How many flights are there with Bluebird?"
FLIGHTS = Subject(asked=("flights",), labels=("Price",))
SUMS = (
    "- Page 1: 8 (so far: 8)\n- Page 2: 3 (so far: {n})\n\nSo the whole list has {n} flights.",
    "Page 1: 8, page 2: 3, total {n}", "Page 1 → 8\nPage 2 → 3 (running total {n})\nTotal: {n}",
    "The first page shows 8, the second one 3: {n} altogether.", "First page: 8\nSecond page: 3\n**Total: {n}**",
    "There are two pages: 8 on the first and 3 on the second, so {n} flights.", "$$8 + 3 = \\boxed{{{n}}}$$",
    "| Page | Count |\n|---|---|\n| 1 | 8 |\n| 2 | 3 |\n| Total | {n} |",
    "8 on the first page plus another 3 on the second page makes {n}.",
    "I went through all the pages and counted {n} flights.",
)  # fmt: skip


@pytest.mark.parametrize("said", SUMS)
def test_what_pages_have_is_no_claim_if_it_comes_to_the_number(said: str) -> None:
    assert says(number(11), said.format(n=11), COUNT, FLIGHTS)
    assert not says(number(11), said.format(n=12), COUNT, FLIGHTS)


@pytest.mark.parametrize(
    "said", ["11 so far", "Page 1: 8. So far 11.", "Page 1: 11 (so far: 11)", "8 on page 1 and 3 on page 2", "4, 7, 11"]
)
def test_what_is_not_added_up_is_no_count(said: str) -> None:
    assert not says(number(11), said, COUNT, FLIGHTS)


@pytest.mark.parametrize(
    "said",
    ["- Page 1: 10 (so far: 10)\n- Page 2: 10 (so far: 20)\n- Page 3: 10 (so far: 30)\n\n"
     "So the whole list has {n} flights.",
     "The list has 2 full pages of 10 and 10 more on the last page: 2 × 10 + 10 = {n}.",
     "There are 2 full pages of 10 each and another 10 on the last page, so {n} flights.",
     "2 full pages with 10 flights each, and 10 more on the third: {n}"],
)  # fmt: skip
def test_pages_of_one_size_add_up(said: str) -> None:
    assert says(number(30), said.format(n=30), COUNT, FLIGHTS)
    assert not says(number(31), said.format(n=31), COUNT, FLIGHTS)
    assert not says(number(20), said.format(n=30), COUNT, FLIGHTS)
    assert not says(number(10), said.format(n=30), COUNT, FLIGHTS)
    assert not says(number(30), said.format(n=20), COUNT, FLIGHTS)


def test_the_count_of_full_pages_alone_is_no_answer() -> None:
    said = "The list has 2 full pages of 10 and 10 more on the last page."
    assert not says(number(20), said, COUNT, FLIGHTS)
    assert not says(number(10), said, COUNT, FLIGHTS)
