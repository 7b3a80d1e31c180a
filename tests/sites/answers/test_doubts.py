"""What is said by hearsay, as a bet, or of another time is no answer; and neither is a list that is left open."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.says import says
from webdojo.sites.answers.subject import Subject
from webdojo.sites.answers.values import in_order, missing, number, text, winner

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


@pytest.mark.parametrize(
    "said",
    ["{} (low confidence)", "{} – confidence is low", "I have little confidence in this: {}",
     "{} with limited certainty", "{}; confidence level: low", "{}, but take it with a grain of salt",
     "{} (tentative)"],
)  # fmt: skip
def test_an_answer_of_little_confidence_is_none(said: str) -> None:
    question = "Which has the higher rating: the place with the price level “low”, or the Bean?"
    wanted = winner([["Harvest"], ["Bean"]], 0, [5, 3])
    level = Subject(told=("low", "Price level low"), asked=("rating",))
    for sure in ("{} (high confidence)", "{} with certainty", "{}. Confidence level: 95%", '{}, "confidence": 0.9'):
        assert says(wanted, sure.format("Harvest"), question, level)
    assert not says(wanted, said.format("Harvest"), question, level)


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


@pytest.mark.parametrize(
    "said",
    ["{} is untrue.", "{} is a typo.", "My notes say {}.", "Hard to say, {}.", "It changed from {} to Small.",
     "{} is ruled out.", "If it is open, {}."],
)  # fmt: skip
def test_what_is_taken_back_in_other_words_is_no_answer(said: str) -> None:
    assert not says(text("South"), said.format("South"), REGION, BAY)
    assert says(text("South"), "South, says the page.", REGION, BAY)


@pytest.mark.parametrize(
    "said", ["7 and up", "upwards of 7", "7 at the very least", "7 were loaded.", "7 reviews", "I stopped at 7."]
)
def test_a_count_that_is_open_partial_or_of_others_is_wrong(said: str) -> None:
    assert not says(number(7), said, "How many places are there?", Subject(asked=("place", "places")))


def test_filters_may_be_told_with_their_labels() -> None:
    places = Subject(asked=("place", "places"), filters=("Wheelchair access no", "Stock ≥ 1"))
    assert says(number(7), "Wheelchair access: no; Stock ≥ 1: 7", "How many places are there?", places)


@pytest.mark.parametrize(
    "said",
    ["First I saw {}, later {}.", "First I saw {}, then {}.", "At first it said {}, later {}.",
     "The list says {}, the page says {}.", "{} according to the list, {} according to the page."],
)  # fmt: skip
def test_an_answer_that_names_two_as_seen_at_two_times_or_places_names_no_winner(said: str) -> None:
    question = "Which has the higher score, Oak or Pine?"
    for fine in ("First I saw Oak (9), later Pine (3). Oak is higher.", "I looked at both pages: Oak."):
        assert says(OAK, fine, question)
    assert not says(OAK, said.format("Oak", "Pine"), question)
    assert not says(OAK, said.format("Pine", "Oak"), question)


PERMITS = Subject(asked=("permit", "permits"))
CHEAPEST = "What are the names of the two cheapest permits, cheapest first?"


@pytest.mark.parametrize(
    "said",
    ["{}, dearest first", "Most expensive first: {}", "In reverse order: {}", "{} (from dearest to cheapest)",
     "{} and two further permits", "{} as well as one more", "Two of these: {}", "{}, Shark permit"],
)  # fmt: skip
def test_a_list_that_is_turned_round_or_left_open_is_wrong(said: str) -> None:
    boats = in_order(["Boat permit", "Tree permit"])
    for fine in ("{}, cheapest first", "From cheapest to dearest: {}", "{}, without any doubt."):
        assert says(boats, fine.format("Boat permit, Tree permit"), CHEAPEST, PERMITS)
    assert not says(boats, said.format("Boat permit, Tree permit"), CHEAPEST, PERMITS)
