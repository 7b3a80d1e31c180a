"""Held-back wordings of facts: what happened on a day, who did it, and numbers and durations as people say them."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import day_of, in_words, number_in

_HAPPENED = {
    "creation date": "{} was created",
    "joining date": "{} joined",
    "join date": "{} joined",
    "day of the last visit": "{} was here for the last time",
    "date of the last change": "{} was last changed",
    "date of the last edit": "{} was last edited",
    "date of the last update": "{} was last updated",
    "opening date": "{} opened",
    "start date": "{} started",
    "“Date added” entry": "{} was added",
}
"""What happened on a day, by what is asked for."""
_DID = {
    "author": "It was {} who wrote",
    "editor": "It was {} who edited",
    "last editor": "It was {} who last edited",
    "photographer": "It was {} who took the photo of",
    "reporter": "It was {} who reported",
    "assignee": "It is {} who has been assigned to",
    "last poster": "It was {} who posted last in",
    "sender": "It was {} who sent",
    "recipient": "It was {} who received",
    "lead": "It is {} who leads",
    "maker": "It is {} that makes",
}
"""Who did something, by what is asked for."""
_SPOKEN = {
    "min": {
        15: ("a quarter of an hour",),
        30: ("half an hour",),
        45: ("three quarters of an hour",),
        60: ("an hour", "one hour"),
        90: ("an hour and a half", "one and a half hours"),
    },
    "days": {7: ("a week", "one week"), 14: ("two weeks", "2 weeks", "a fortnight"), 21: ("three weeks", "3 weeks")},
    "months": {
        6: ("half a year",),
        12: ("a year", "one year"),
        18: ("a year and a half", "one and a half years", "1.5 years"),
        24: ("two years", "2 years"),
        36: ("three years", "3 years"),
        60: ("five years", "5 years"),
    },
}
"""Durations as people say them."""
_TWO = {"days": (7, "week", "day"), "months": (12, "year", "month")}
"""How many of a unit make a larger one, and what one of each is called."""
_UNITS = {"$": "dollars", "%": "percent", "g": "grams", "KB": "kilobytes", "min": "minutes"}


@wording("value")
def has_it_as_its_value(said: Answer, rng: random.Random) -> str | None:
    """What the thing has as its value, in a sentence."""
    if {"no", "none", "not"} & set(said.value.lower().split()):
        return None
    return f"{said.thing} has {said.value} as the {said.called}."


@wording("value")
def what_happened_on_the_day(said: Answer, rng: random.Random) -> str | None:
    """A verb for what happened, with the day behind or in front of it."""
    if not said.day or said.called not in _HAPPENED:
        return None
    happened = _HAPPENED[said.called].format(said.thing)
    return rng.choice((f"{happened} on {said.value}.", f"On {said.value}, {happened}."))


@wording("value")
def it_was_they_who_did_it(said: Answer, rng: random.Random) -> str | None:
    """Who it was that did something."""
    return f"{_DID[said.called].format(said.value)} {said.thing}." if said.called in _DID else None


@wording("value")
def a_date_with_other_commas_and_zeros(said: Answer, rng: random.Random) -> str | None:
    """A comma behind the month, none before the year, a zero before the day, or an ordinal without `of`."""
    if not said.day:
        return None
    day = day_of(said)
    end = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    text = rng.choice(
        (
            f"{day.day} {day:%B}, {day.year}",
            f"{day:%B} {day.day} {day.year}",
            f"{day:%d %B %Y}" if day.day < 10 else f"{day.day}. {day:%B} {day.year}",
            f"{day.day}{end} {day:%B} {day.year}",
        )
    )
    return rng.choice((text, f"It's {text}."))


@wording("value")
def a_duration_as_people_say_it(said: Answer, rng: random.Random) -> str | None:
    """Half an hour, a year and a half, weeks and days; or minutes as hours with decimals, where they are exact."""
    number = number_in(said, "min", "minutes", "days", "months")
    if number is None:
        return None
    unit = "min" if said.unit == "minutes" else said.unit
    if number in _SPOKEN[unit]:
        text = rng.choice(_SPOKEN[unit][number])
        return rng.choice((f"{text[0].upper()}{text[1:]}.", f"The {said.called} is {text}."))
    if unit == "min" and number > 60 and number % 3 == 0:
        return f"{number / 60:g} {rng.choice(('hours', 'h'))}"
    if unit in _TWO and number > _TWO[unit][0]:
        size, larger, smaller = _TWO[unit]
        parts = [(number // size, larger), (number % size, smaller)]
        return " and ".join(f"{each} {name}{'' if each == 1 else 's'}" for each, name in parts if each)
    return None


def _american(number: int) -> str:
    """A number below a million in words without `and`."""
    if number < 100:
        return in_words(number)
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    rest = f" {_american(number % size)}" if number % size else ""
    return f"{_american(number // size)} {name}{rest}"


@wording("value", "count")
def a_large_number_in_american_words(said: Answer, rng: random.Random) -> str | None:
    """A number of hundreds or thousands in words without `and`."""
    if said.number is None or said.number <= 100 or said.year or "extension" in said.called:
        return None
    unit = _UNITS.get(said.unit, said.unit)
    words = f"{_american(said.number)}{f' {unit}' if unit else ''}"
    return rng.choice((words, f"{words[0].upper()}{words[1:]}."))
