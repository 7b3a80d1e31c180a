"""What is said by hearsay, as a bet, or of another time is no answer; and neither is a list that is left open."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import Subject
from webdojo.sites.answers.values import missing, number, text, winner

REGION = "What is the region of Wild Bay?"
BAY = Subject(names=("Wild Bay",), told=("Year 1118",), asked=("Region",), labels=("Year", "To"))
OAK = winner([("Oak",), ("Pine",)], 0, (9, 3))


@pytest.mark.parametrize(
    "said",
    ["Some say {}.", "According to a review, {}.", "A friend told me {}.", "Rumor has it that it's {}.",
     "Someone claims {}.", "I would bet on {}.", "Let's say {}.", "It will be {} tomorrow.", "It was {} last year.",
     "{} is what one would expect.", "If I remember it right, {}.", "{} (just kidding)",
     "To the best of my knowledge {}",
     "{}, to be verified", "{} - needs verification", "It was supposed to be {}.",
     "I made this up: {}", "You said {}.",
     "N/A ({})", "Example: {}", "An old version of the page said {}.", "Confidence: low. {}"],
)  # fmt: skip
def test_hearsay_bets_and_other_times_are_no_answers(said: str) -> None:
    for fine in ("South, says the page.", "South, definitely.", "Clearly, it is South.", "South. Confidence: high"):
        assert says(text("South"), fine, REGION, BAY)
    assert not says(text("South"), said.format("South"), REGION, BAY)
    assert not says(OAK, said.format("Oak"), "Which has more, Oak or Pine?")


def test_words_of_the_question_are_no_hearsay() -> None:
    assert says(number(3), "3 were sent last year.", "How many messages were sent last year?")


def test_a_word_before_a_colon_is_no_bound() -> None:
    assert says(number(6), "I checked twice: 6.", "How many are there?")
    assert not says(number(6), "twice 6", "How many are there?")


@pytest.mark.parametrize(
    "said", ["Some say {}.", "A friend told me {}.", "If I remember it right, {}.", "{} last year."]
)
def test_so_are_they_where_nothing_is_there(said: str) -> None:
    assert not says(missing("Red Mug"), said.format("there is no Red Mug"), "Open Red Mug.")
