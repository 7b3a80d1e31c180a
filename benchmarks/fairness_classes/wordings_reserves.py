"""Wordings with reserves that are no doubts: what may change, round figures before exact ones, other facts."""

from __future__ import annotations

import random
import re

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short

_THOUSANDS = {"": " thousand", "g": " kg", "KB": " MB"}
"""What a thousand of a unit is called."""


def _kind(value: str) -> str:
    """What a value is: a day, a number, or words."""
    if re.fullmatch(r"\d+ [A-Z][a-z]+ \d{4}", value):
        return "day"
    return "number" if re.search(r"\d", value) else "words"


@wording(*SAID)
def that_may_change_later(said: Answer, rng: random.Random) -> str:
    """The answer, and that the site may change some day."""
    note = rng.choice(("this may change when the site is updated", "the site can change at any time"))
    return f"{sentence(said)}. Please note that {note}."


@wording("value")
def a_round_figure_and_the_exact_one(said: Answer, rng: random.Random) -> str | None:
    """Thousands with one decimal, and then the exact number."""
    number = said.number
    if number is None or number < 1000 or number % 100 == 0 or said.year or "extension" in said.called:
        return None
    if said.unit not in _THOUSANDS:
        return None
    return f"Roughly {number / 1000:.1f}{_THOUSANDS[said.unit]}; the exact figure is {short(said)}."


@wording("value")
def not_to_be_confused_with_another_fact(said: Answer, rng: random.Random) -> str | None:
    """The value, and another day, number or person of the page that it is not to be confused with."""
    alike = [each for each in said.about if each[1] != said.value and _kind(each[1]) == _kind(said.value)]
    if not alike or (_kind(said.value) == "words" and not said.person):
        return None
    label, value = rng.choice(alike)
    return f"{sentence(said)}, not to be confused with “{label}”, which is {value}."
