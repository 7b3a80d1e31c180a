"""Answers as people and models talk: conclusions, tables, questions back, steps, and what they tell besides."""

from __future__ import annotations

from datetime import date as Date
from typing import Any

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import NOTHING, Subject
from webdojo.sites.answers.values import date, in_order, missing, number, text, winner

VOTES = (
    "What is the name of the issue with the higher number of votes: the oldest issue in the project Compass, or the "
    "quickest issue estimated at 40 hours or less on tracker-1006001.localhost?"
)
SIDES = [
    ["Simplify the news ticker", "the oldest issue in the project Compass", "the oldest one in the project Compass"],
    [
        "Measure the team overview",
        "the quickest issue estimated at 40 hours or less on tracker-1006001.localhost",
        "the issue on tracker-1006001.localhost",
    ],
]
MORE = winner(SIDES, 0, (111, 2))
NONE = winner(SIDES, 0, (8, 0))
TRACKER = Subject(
    asked=("Votes", "number of votes"),
    labels=("Estimate", "Priority"),
    rivals=("Widen the footer", "The ticker of the shop"),
)
OPEN = "Open “Prices of cheese rise again”, please."
CHEESE = missing("Prices of cheese rise again")
HOTELS = (
    "What are the names of the three cheapest hotels for at most $200 a night with 3 or more stars, cheapest first?"
)
NIGHTS = in_order(["River Rooms Ham", "Golden Inn Stoke", "Park Retreat Stoke"])
PRICES = Subject(
    names=("River Rooms Ham", "Golden Inn Stoke", "Park Retreat Stoke"),
    asked=("hotel", "hotels"),
    labels=("Price", "Stars"),
    values={
        "River Rooms Ham": frozenset({"45"}),
        "Golden Inn Stoke": frozenset({"69"}),
        "Park Retreat Stoke": frozenset({"79"}),
    },
    rivals=("Sunday Lodge",),
)
CHAIR = Subject(
    names=("Frosty Chair",),
    told=("Price $56", "Color Blue", "Blue"),
    asked=("Launched", "launch year"),
    labels=("Price", "Color", "Stars"),
    values={"Frosty Chair": frozenset({"56", "5"})},
)
YEAR = "What is the launch year of the lightest chair under $100?"
STARS = Subject(asked=("Stars", "number of stars"), labels=("Price",))
REPORTER = Subject(
    names=("Widen the footer",),
    asked=("Reporter",),
    labels=("Created", "Priority"),
    values={"Widen the footer": frozenset({"@2026-12-18"})},
)
CONTACT = Subject(
    names=("Abigail Stone",),
    asked=("Added", "date added"),
    labels=("Town", "Messages"),
    values={"Abigail Stone": frozenset({"5"})},
)

RIGHT: list[tuple[dict[str, Any], str, Subject, list[str]]] = [
    (
        MORE,
        VOTES,
        TRACKER,
        [
            "The Compass issue, called Simplify the news ticker, has more votes.",
            "The news ticker one (“Simplify the news ticker”), not the team overview one.",
            "Simplify the news ticker. The team overview one can't be it: it has 2 votes.",
            "Measure the team overview? That has only 2. It's Simplify the news ticker.",
            "Measure the team overview loses to Simplify the news ticker (111).",
            "Measure the team overview falls 109 short of Simplify the news ticker.",
            "“Simplify the news ticker”, has 111, “Measure the team overview” has 2. The former is the winner.",
            "Simplify the news ticker ..... 111  <- higher\nMeasure the team overview ..... 2",
            "Measure the team overview: 2\nSimplify the news ticker: 111\n\nThe higher is Simplify the news ticker.",
            "The quickest issue estimated at 40 hours or less is Measure the team overview with 2 votes. Simplify the "
            "news ticker has more.",
            "First: Simplify the news ticker, second: Measure the team overview",
            "1. Simplify the news ticker\n2. Measure the team overview",
            "Simplify the news ticker takes first place.",
            "Measure the team overview has only 2, whereas Simplify the news ticker has 111.",
            "While Measure the team overview has 2, Simplify the news ticker has 111.",
            "Simplify the news ticker outdoes Measure the team overview.",
            "Measure the team overview is surpassed by Simplify the news ticker.",
            "Measure the team overview lags behind Simplify the news ticker.",
            "Simplify the news ticker (I put the issues into order and opened the first one)",
        ],
    ),
    (NONE, VOTES, TRACKER, ["Simplify the news ticker has 8, Measure the team overview has no votes."]),
    (
        CHEESE,
        OPEN,
        NOTHING,
        [
            "There isn't an article with that title.",
            '{"found": false}',
            "It isn't on the site. Maybe it was renamed?",
            "No article about cheese prices with this headline exists on the site. Do you have another one?",
            "the article doesnt exist so i cant open it",
            "Zero articles have this name.",
            "The site lacks such an article.",
            "I searched, but nothing matched.",
            "Search results: 0. It does not exist.",
            "The title you gave doesn't match any article in the admin area.",
            "Nope, there's no such article.",
            '{"error": "“Prices of cheese rise again” does not exist"}',
            "It's not one of them. There isn't such a page.",
            "There is no such page on news-1001.localhost. You may want to check whether the title is right.",
        ],
    ),
    (missing("Who pays?"), "Open “Who pays?”.", NOTHING, ["No item with the title *Who pays?* exists."]),
    (
        NIGHTS,
        HOTELS,
        PRICES,
        [
            "River Rooms in Ham, Golden Inn in Stoke, Park Retreat in Stoke",
            "I set 200. The list: River Rooms Ham; Golden Inn Stoke; Park Retreat Stoke; nothing else fits.",
            "Here's what I found: River Rooms Ham, Golden Inn Stoke, Park Retreat Stoke. Enjoy your trip!",
            "With 3+ stars, up to $200/night: River Rooms Ham at $45.00, Golden Inn Stoke at $69.00, "
            "Park Retreat Stoke at $79.00.",
            "Three stars or more: River Rooms Ham, Golden Inn Stoke, Park Retreat Stoke. Shall I book one for you?",
            "No worries! They are River Rooms Ham, Golden Inn Stoke and Park Retreat Stoke.",
            "I. River Rooms Ham\nII. Golden Inn Stoke\nIII. Park Retreat Stoke",
            "3. Park Retreat Stoke\n2. Golden Inn Stoke\n1. River Rooms Ham",
            "a) River Rooms Ham\nb) Golden Inn Stoke\nc) Park Retreat Stoke\n\nHappy to book either of them for you.",
        ],
    ),
    (
        number(2025),
        YEAR,
        CHAIR,
        [
            "twenty twenty-five",
            "two thousand and twenty-five",
            "| Product | Price | Color | Launched |\n|---|---|---|---|\n| Frosty Chair | $56 | Blue | 2025 |",
            "| Field | Value |\n|---|---|\n| Product | Frosty Chair |\n| Price | $56 |\n| Launched | 2025 |",
            "- Price: $56\n- Launched: 2025\n\nWould you like to see it?",
        ],
    ),
    (number(4), "How many stars has it?", STARS, ["4/5", "★★★★", "4 out of 5 stars", "4/5 stars"]),
    (number(65, "%"), "What is its rating?", NOTHING, ["65/100", "65 out of 100"]),
    (
        text("Angelica Leblanc"),
        "Who is the reporter?",
        REPORTER,
        ["- Issue: Widen the footer\n- Created: Friday, 18 Dec 2026\n- Reporter: **Angelica Leblanc**\n\nNeed more?"],
    ),
    (
        date(Date(2014, 2, 2)),
        "What is the date added of the longest-known contact?",
        CONTACT,
        ["| Contact | Town | Messages | Added |\n|---|---|---|---|\n| Abigail Stone | Ham | 5 | 2 Feb. 2014 |"],
    ),
]

WRONG: list[tuple[dict[str, Any], str, Subject, list[str]]] = [
    (
        MORE,
        VOTES,
        TRACKER,
        [
            "The Compass one has fewer votes than the team overview.",
            "So the higher number of votes is the team overview's.",
            "Simplify the news ticker? I looked again and would now say Measure the team overview.",
            "Simplify the news ticker can be ruled out.",
            "Simplify the news ticker isn't it.",
            "The news ticker",
            "The number of votes of Simplify the news ticker is given on its page.",
            "Simplify the news ticker, 2 votes; Measure the team overview, 111 votes",
            "Simplify the news ticker takes 2 votes, Measure the team overview takes 111 votes.",
            "Simplify the news ticker, 111 votes; but Measure the team overview, 2 votes, is higher.",
            "Simplify the news ticker and Measure the team overview share first place.",
            "It is one of the two: Simplify the news ticker.",
            "Simplify the news ticker is the older of the two.",
            "The name of the issue with more votes, depending on what Simplify the news ticker has.",
            "My answer is Simplify the news ticker – scratch that, it is Measure the team overview.",
            "I looked up what was asked for: the quickest issue, or the oldest issue in the project Compass.",
            "Simplify the news ticker has more than 120 votes.",
            "First: Measure the team overview, second: Simplify the news ticker",
            "1. Measure the team overview\n2. Simplify the news ticker",
            "Simplify the news ticker has the second most.",
            "Simplify the news ticker is the runner-up.",
            "Simplify the news ticker has the highest number of votes after Measure the team overview.",
            "Simplify the news ticker is surpassed by Measure the team overview.",
            "Simplify the news ticker is not ahead of Measure the team overview.",
            "Simplify the news ticker almost has more than Measure the team overview.",
            "All but Simplify the news ticker.",
            "Simplify the news ticker led until Measure the team overview passed it.",
            "The ticker of the shop",
        ],
    ),
    (
        CHEESE,
        OPEN,
        NOTHING,
        [
            "There is no cheese.",
            "I did not find it yet.",
            "I didn't look for “Prices of cheese rise again”.",
            "I have no time to look for “Prices of cheese rise again”.",
            "There is no other page than “Prices of cheese rise again”.",
            "There is nothing wrong with “Prices of cheese rise again”.",
            "It's not that “Prices of cheese rise again” does not exist.",
            "I could not find “Prices of cheese rise again” at first, but then I did.",
            "I did not find “Prices of cheese rise again” on the first page.",
            "If “Prices of cheese rise again” does not exist, tell me.",
            "It's either not there or I didn't find it in time.",
            "no answer",
            "It seems to be there, but the link did nothing.",
            "Not sure. I didn't see it on the first page.",
            "“Prices of cheese rise again” is in the list, but I didn't click on it.",
            "It could be that there is none.",
            "I couldn't open “Prices of cheese rise again”, the site is too slow.",
            '{"found": true}',
            "anything but Impossible: there is no “Prices of cheese rise again”.",
            "Impossible: there is no “Prices of cheese rise again”.0",
            "It was not among the first 20 articles; I did not look at the rest.",
        ],
    ),
    (
        NIGHTS,
        HOTELS,
        PRICES,
        [
            "River Rooms Ham, Golden Inn Stoke, Park Retreat Stoke, Sunday Roast",
            "River Rooms Ham, Golden Inn Stoke, Park Retreat Stoke and more",
            "River Rooms Ham, Golden Inn Stoke, Park Retreat Stoke among others",
            "One of River Rooms Ham, Golden Inn Stoke, Park Retreat Stoke",
            "At least River Rooms Ham, Golden Inn Stoke, Park Retreat Stoke",
            "for example River Rooms Ham, Golden Inn Stoke, Park Retreat Stoke",
            "2. River Rooms Ham\n1. Golden Inn Stoke\n3. Park Retreat Stoke",
            "River Rooms Ham at $69, Golden Inn Stoke at $45, Park Retreat Stoke at $79",
            "River Rooms Ham, Golden Inn Stoke, Park Retreat Stoke? Or Sunday Lodge?",
        ],
    ),
    (
        number(2025),
        YEAR,
        CHAIR,
        ["| Launched | 2024 |", "Two thousand and twenty-four", "twenty twenty-five or twenty"],
    ),
    (number(4), "How many stars has it?", STARS, ["★★★★★", "5/5", "4/100"]),
    (number(0), "How many votes has it?", NOTHING, ["0/100"]),
]


def table(rows: list[tuple[dict[str, Any], str, Subject, list[str]]]) -> list[tuple[dict[str, Any], str, Subject, str]]:
    return [(wanted, question, subject, answer) for wanted, question, subject, answers in rows for answer in answers]


@pytest.mark.parametrize(("wanted", "question", "subject", "answer"), table(RIGHT))
def test_right_answers_are_heard(wanted: dict[str, Any], question: str, subject: Subject, answer: str) -> None:
    assert says(wanted, answer, question, subject)


@pytest.mark.parametrize(("wanted", "question", "subject", "answer"), table(WRONG))
def test_wrong_answers_are_refused(wanted: dict[str, Any], question: str, subject: Subject, answer: str) -> None:
    assert not says(wanted, answer, question, subject)


def test_a_figure_that_the_question_has_too_is_a_figure_of_a_side() -> None:
    wanted = winner([["Gull 678"], ["Heron 1"]], 0, (90, 48), "minutes")
    question = "Which has the longer flight time, Heron 1 or the shortest one lasting at most 90 min?"
    assert says(wanted, "Gull 678 since 90 min > 48 min.", question)
    assert not says(wanted, "Heron 1: 90 min, Gull 678: 48 min, so Gull 678", question)


def test_a_number_in_a_name_is_no_figure() -> None:
    wanted = winner([["Five ferries"], ["Town choirs"]], 0, (90, 48))
    assert says(wanted, "- Town choirs: 48\n- Five ferries: 90\n\nAnswer: Five ferries", "Which has more?")


def test_an_echo_does_not_reach_across_a_name() -> None:
    question = "Which has the higher comment count: on this site “By slow train”, or on news-1.localhost “Tin huts”?"
    wanted = winner([["By slow train", "“By slow train”"], ["Tin huts", "“Tin huts”"]], 0, (90, 48))
    assert says(wanted, "By slow train has more.", question)
    assert not says(wanted, "By slow train or similar", question)


def test_a_word_that_compares_is_none_in_a_name() -> None:
    wanted = winner([["Behind the scenes: town choirs"], ["Tin huts"]], 0, (90, 48))
    assert says(wanted, "Behind the scenes has more.", "Which has more?")
    assert not says(wanted, "Behind the scenes: town choirs0", "Which has more?")
    assert not says(wanted, "Tin huts is ahead of Behind the scenes.", "Which has more?")


def test_an_echo_that_breaks_off_is_no_answer() -> None:
    question = "What is the title of the article with more words: “Fruit trees”, or the least recently changed article?"
    wanted = winner([["Fruit trees", "“Fruit trees”"], ["Tin huts", "the least recently changed article"]], 0, (9, 4))
    assert says(wanted, "The title of the article with more words: “Fruit trees”", question)
    assert not says(wanted, "What is the title of the article with more words: “Fruit trees”, or the least", question)
