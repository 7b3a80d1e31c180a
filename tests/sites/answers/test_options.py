"""Comparisons with letters for the options, with labelled figures, and with an answer below them."""

from __future__ import annotations

import pytest

from webdojo.sites.answers.options import without_letters
from webdojo.sites.answers.says import says
from webdojo.sites.answers.values import winner

MORE = "Which has more views: Why oak? or Pine Road?"
SIDES = (("Why oak?",), ("Pine Road",))
OAK = winner(SIDES, 0, (90, 31))
NUMBER = winner(SIDES, 0, (90, 31), by_figure=True)
LINES = (
    "A. {b} – views: {l}\nB. {g} – views: {h}\n\nAnswer: B ({g})", "(A) {g}: {h}\n(B) {b}: {l}\n\nThe answer is (A).",
    "Option A: {b} ({l})\nOption B: {g} ({h})\n\nOption B has more.", "A) {b}: {l}\nB) {g}: {h}\n\nAnswer: B",
    "Option 1: {b} ({l})\nOption 2: {g} ({h})\n\nAnswer: Option 2", "{b}: views {l}. {g}: views {h}. Answer: {g}.",
    "{b}: view count: {l}\n{g}: view count: {h}\n\nAnswer: {g}", "{b}: {l}\n{g}: {h}\n\nAnswer: {g} ({h})",
    "{h} − {l} = {d}, so {g} has more.", "{g} is ahead by {d}.",
    "| Site | Name | Views |\n|---|---|---|\n| shop-1.localhost | {b} | {l} |\n| shop-2.localhost | {g} | {h} |\n\n{g}",
)  # fmt: skip
OF_NUMBERS = (
    "{b}: {l}. {g}: {h}. Answer: {h}", "{b}: views {l}\n{g}: views {h}\nAnswer: {h}", "{h} (the other one has {l})",
    "A. {b} – views: {l}\nB. {g} – views: {h}\n\nAnswer: B ({h})", "{g}: {h}\n{b}: {l}\n\nAnswer: {g} ({h})",
)  # fmt: skip
RIGHT = {"g": "Why oak?", "b": "Pine Road", "h": 90, "l": 31, "d": 59}
EXCHANGED = {"g": "Pine Road", "b": "Why oak?", "h": 31, "l": 90, "d": 59}


@pytest.mark.parametrize("said", LINES)
def test_the_answer_below_the_options_counts(said: str) -> None:
    assert says(OAK, said.format(**RIGHT), MORE)
    assert not says(OAK, said.format(**EXCHANGED), MORE)


@pytest.mark.parametrize("said", OF_NUMBERS)
def test_the_number_below_the_options_counts(said: str) -> None:
    assert says(NUMBER, said.format(**RIGHT), "What is the higher number of views?")
    assert not says(NUMBER, said.format(**EXCHANGED), "What is the higher number of views?")


def test_a_letter_and_another_name_contradict_one_another() -> None:
    assert not says(OAK, "A. Why oak?: 90\nB. Pine Road: 31\n\nAnswer: B (Why oak?)", MORE)


def test_letters_of_lines_that_name_nothing_are_kept() -> None:
    said = "A. I looked at both.\nB. Oak has more.\nAnswer: B"
    assert without_letters(said, ["Oak", "Pine"]) == said
