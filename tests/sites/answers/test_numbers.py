"""Numbers, codes and dates: with punctuation, bounds, labels of other values, and what is on a page."""

from __future__ import annotations

from datetime import date as Date

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import Subject
from webdojo.sites.answers.values import date, number, text

CODE = "What is the reference of the smallest message?"
LENGTH = "What is the length of Royal Valley?"
VALLEY = Subject(
    names=("Royal Valley",),
    told=("Region South", "South Region", "South", "Width 30"),
    asked=("Length", "length"),
    labels=("Region", "Width", "Year"),
    values={"Royal Valley": frozenset({"30"})},
)
VISIT = "What is the day of the last visit of Ada?"
ADA = Subject(
    names=("Ada",), told=("Role Reader", "Reader Role", "Reader"), asked=("Last seen", "day of the last visit"),
    labels=("Role", "Joined"),
)  # fmt: skip
DAY = date(Date(2026, 1, 10))
COUNT = "How many articles have 1000 or more views?"
ARTICLES = Subject(asked=("article", "articles"), labels=("Views", "Stars"))


@pytest.mark.parametrize(
    "answer", ["LPM7381.", "LPM7381, says the page", "(LPM7381)", "It is LPM7381; done.", "LPM7381!"]
)
def test_a_code_ends_before_punctuation(answer: str) -> None:
    assert says(text("LPM7381"), answer, CODE)
    assert not says(text("LPM738"), answer, CODE)


@pytest.mark.parametrize(
    "answer",
    ["Width: 404", "Width 404", "| Width | 404 |", "404 is the width.", "Length: 30; width: 404", "half of 404",
     "404 at most", "404 at minimum", "close to 404", "near 404", "404 too many", "404 more than that",
     "South; Width 404"],
)  # fmt: skip
def test_a_bound_or_the_label_of_another_value_makes_a_number_wrong(answer: str) -> None:
    assert says(number(404), "404 is the length, and the width is 30.", LENGTH, VALLEY)
    assert not says(number(404), answer, LENGTH, VALLEY)


@pytest.mark.parametrize(
    "answer",
    ["10. January 2026", "January 10 of 2026", "2026-01-10T00:00:00", "2026-01-10 (10 January)",
     "on the 10th of January 2026", "Role: Reader; last seen: 10 January 2026"],
)  # fmt: skip
def test_a_date_in_more_forms(answer: str) -> None:
    assert says(DAY, answer, VISIT, ADA)


@pytest.mark.parametrize(
    "answer",
    ["before 10 January 2026", "around 10 January 2026", "by 10 January 2026", "the day after 10 January 2026",
     "a week from 10 January 2026", "10 January 2026 at the latest", "January of 2026", "Role: 10 January 2026",
     "Role 10 January 2026", "Last seen: Reader; Role: 10 January 2026", "10 January 2026 is the role."],
)  # fmt: skip
def test_a_date_that_is_a_bound_or_of_something_else_is_wrong(answer: str) -> None:
    assert not says(DAY, answer, VISIT, ADA)


@pytest.mark.parametrize(
    "answer",
    ["Day: 10, month: January, year: 2026", '{"year": 2026, "month": 1, "day": 10}',
     "Month: Jan\nDay: 10th\nYear: 2026",
     "The day is the 10th, the month is January and the year is 2026.", "day 10 of month 1 in the year 2026",
     "DD=10, MM=01, YYYY=2026", "| Day | Month | Year |\n|---|---|---|\n| 10 | January | 2026 |",
     "the 10th day of January 2026"],
)  # fmt: skip
def test_a_date_may_be_told_in_parts(answer: str) -> None:
    assert says(DAY, answer, VISIT, ADA)
    assert not says(date(Date(2026, 1, 11)), answer, VISIT, ADA)


@pytest.mark.parametrize("answer", ["Day: 10, year: 2026", "Month: January, year: 2026", "Day: 10, month: January"])
def test_a_date_that_lacks_a_part_is_wrong(answer: str) -> None:
    assert not says(DAY, answer, VISIT, ADA)


def test_may_is_a_month() -> None:
    subject = Subject(told=("Joined 3 May 2023",), names=("Ada",), values={"Ada": frozenset({"@2023-05-03", "2023"})})
    assert says(number(7), "7, joined in May of 2023.", "How many posts has Ada?", subject)
    assert not says(number(7), "It may be 7.", "How many posts has Ada?", subject)


@pytest.mark.parametrize(
    "answer",
    ["I set 2 filters. 20", "2 articles on page 1 and 18 on page 2, so 20.", "20 articles on 2 pages",
     "20, all on one page", "No more and no less than 20.", "20 — no more, no fewer.",
     "20 articles with 1,000 views or more", "20 have at least 1000 views", "The page of articles shows 20.",
     "20 with 1000 views at least", "20 (filters: Views: 1000)",
     "I set the views to a minimum of 1000 and counted 20.",
     "It took me a while, but there are 20 articles.", "[20]", "20 [1].\n\n[1] http://x-1.localhost/y"],
)  # fmt: skip
def test_what_is_counted_on_the_way_is_no_claim(answer: str) -> None:
    assert says(number(20), answer, COUNT, ARTICLES)


@pytest.mark.parametrize(
    "answer",
    ["20 filters", "1000", "There are 1000.", "20, 1000", "1000 articles. 20.",
     "20 on page 1", "20 on the first page, and more on the second", "20 so far", "the first 20",
     "no less than 20", "20 pages"],
)  # fmt: skip
def test_what_is_only_counted_in_part_is_wrong(answer: str) -> None:
    assert not says(number(20), answer, COUNT, ARTICLES)


@pytest.mark.parametrize(
    "said",
    ["One moment…", "One moment, please.", "Just one more thing to check.", "every single time", "One star",
     "Single file"],
)  # fmt: skip
def test_one_of_something_else_is_no_count(said: str) -> None:
    for fine in ("One.", "There is only one.", "One article matches.", "a single suitable article", "One result"):
        assert says(number(1), fine, COUNT, ARTICLES)
    assert not says(number(1), said, COUNT, ARTICLES)


@pytest.mark.parametrize("said", ["No problem!", "No worries, I will look.", "no idea", "I had no trouble"])
def test_no_trouble_is_no_count(said: str) -> None:
    for fine in ("None.", "No articles.", "There are no such articles.", "No matching article fits.", "none at all"):
        assert says(number(0), fine, COUNT, ARTICLES)
    assert not says(number(0), said, COUNT, ARTICLES)


def test_a_limit_of_the_question_may_be_an_addend() -> None:
    question = "How many services are valid for 12 months or more?"
    wanted = {**number(20), "parts": [12, 8]}
    for said in ("12 + 8 = 20", "8 + 12 = 20", "20 with 12+ months"):
        assert says(wanted, said, question)
    assert not says(wanted, "12 + 8 = 21", question)
