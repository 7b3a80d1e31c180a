"""Notations of numbers: sums of full pages, and abbreviations."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import day_of, number_of


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
