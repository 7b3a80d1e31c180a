"""Held-back notations of numbers and days: sums of full pages, digits with words, spaces, abbreviations, compounds."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import day_of, in_words, number_in, short

_TIMES = {"min": "minute", "minutes": "minute", "hours": "hour", "days": "day", "months": "month"}
_CLOSE = {"%": ("%", " percent", " per cent"), "g": ("g",), "KB": ("KB",), "min": ("min",), "hours": ("h",)}


@wording("count", "value")
def digits_and_words(said: Answer, rng: random.Random) -> str | None:
    """The number in digits, and in words behind it, as in a contract."""
    if said.number is None or said.number > 999 or said.year or said.parts:
        return None
    words = in_words(said.number)
    if said.sort == "count":
        return f"There {'is' if said.number == 1 else 'are'} {said.number} ({words}) {said.called}."
    if said.unit == "$":
        return f"{said.value} ({words} dollar{'' if said.number == 1 else 's'})"
    return f"{said.number} ({words}){f' {said.unit}' if said.unit else ''}"


@wording("value")
def a_duration_before_what_it_is_of(said: Answer, rng: random.Random) -> str | None:
    """A duration as a compound in front of the noun: `a 35-minute reading time`."""
    number = number_in(said, *_TIMES)
    if number is None or said.called.startswith("“"):
        return None
    article = "an" if str(number).startswith("8") or number in (11, 18) else "a"
    return f"{said.thing} has {article} {number}-{_TIMES[said.unit]} {said.called}."


@wording("value")
def a_date_with_a_short_month(said: Answer, rng: random.Random) -> str | None:
    """The month in three letters, with or without a dot, in a sentence or alone."""
    if not said.day:
        return None
    day = day_of(said)
    month = f"{day:%b}" if day.month == 5 else rng.choice((f"{day:%b}", f"{day:%b}."))
    text = rng.choice((f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}"))
    return rng.choice((text, f"The {said.called} of {said.thing} is {text}"))


@wording("value", "count")
def spaces_between_thousands(said: Answer, rng: random.Random) -> str | None:
    """A number of four or more digits in groups of three with spaces between them."""
    if said.number is None or said.number < 1000 or said.year or "extension" in said.called:
        return None
    space = rng.choice((" ", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"))
    return short(said).replace(str(said.number), f"{said.number:,}".replace(",", space))


@wording("value")
def a_unit_right_behind_the_number(said: Answer, rng: random.Random) -> str | None:
    """The unit without a space before it, or the sign for percent as a word."""
    number = number_in(said, *_CLOSE)
    if number is None:
        return None
    text = f"{number}{rng.choice(_CLOSE[said.unit])}"
    return rng.choice((text, f"The {said.called} of {said.thing} is {text}."))
