"""Notations of numbers: sums of full pages, and abbreviations."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import day_of, number_in, number_of

_ROUGH = {
    "min": (60, 90, "hours"),
    "g": (1000, 1100, "kg"),
    "KB": (1000, 1100, "MB"),
    "days": (7, 15, "weeks"),
    "months": (12, 13, "years"),
}
"""How many of a unit make a larger one, from how many on people say it so, and the larger unit."""


@wording("count")
def full_pages_and_the_rest(said: Answer, rng: random.Random) -> str | None:
    """How many pages are full, how many things each of them has, what is left for the last, and the sum."""
    if len(said.parts) < 2 or sum(said.parts) != number_of(said):
        return None
    full, size, rest = len(said.parts) - 1, said.parts[0], said.parts[-1]
    if not 0 < rest < size or any(part != size for part in said.parts[:-1]):
        return None
    pages = f"{full} full page{'' if full == 1 else 's'} of {size}"
    return f"The list has {pages} and {rest} more on the last page: {full} × {size} + {rest} = {said.number}."


@wording("count")
def the_number_of_matches_abbreviated(said: Answer, rng: random.Random) -> str:
    """Usual abbreviations for `number of`."""
    label = rng.choice(("No. of matches:", "# of results:", "Nr. of items found:", "n ="))
    return f"{label} {said.number}"


@wording("value")
def a_date_in_letters_in_another_order(said: Answer, rng: random.Random) -> str | None:
    """The month in letters behind the year, or between slashes."""
    if not said.day:
        return None
    day = day_of(said)
    return rng.choice((f"{day.year} {day:%B} {day.day}", f"{day:%d/%b/%Y}", f"{day:%Y/%b/%d}"))


@wording("value")
def an_equals_sign(said: Answer, rng: random.Random) -> str:
    """The label and the value with a sign between them."""
    return f"{said.called} = {said.value}"


@wording("value")
def roughly_in_a_larger_unit_as_well(said: Answer, rng: random.Random) -> str | None:
    """The exact value first, and what it roughly is in a larger unit."""
    number = number_in(said, *_ROUGH)
    if number is None:
        return None
    factor, least, unit = _ROUGH[said.unit]
    if number < least or number % factor == 0:
        return None
    rough = f"{number / factor:.1f} {unit}"
    return rng.choice((f"{said.value} (about {rough})", f"{said.value}, which is roughly {rough}."))
