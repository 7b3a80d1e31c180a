"""Held-back wrong numbers and days: a part of a count, one too few, a bound, a wrong month."""

from __future__ import annotations

from fairness_classes.asked import Answer, falsified
from fairness_classes.case import Case
from fairness_classes.falsehoods import said_of_day
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import day_of


@wrong_answer("count")
def the_count_of_the_first_page(case: Case, said: Answer, say: Say) -> str | None:
    """How many things the first page of the list has, where the list has several pages."""
    return say(falsified(said, said.parts[0])) if len(said.parts) > 1 else None


@wrong_answer("count")
def at_least_so_many(case: Case, said: Answer, say: Say) -> str:
    """The number as a lower bound, and that there may be more."""
    return f"At least {said.number} {said.called}; there may be more on pages that I have not opened."


@wrong_answer("value")
def a_neighbouring_month(case: Case, said: Answer, say: Say) -> str | None:
    """The right day and year, with the month before or after."""
    if not said.day or day_of(said).day > 28:
        return None
    day = day_of(said)
    months = [month for month in (day.month - 1, day.month + 1) if 1 <= month <= 12]
    return said_of_day(said, say, day.replace(month=say.rng.choice(months)).isoformat())


@wrong_answer("count")
def one_taken_off_at_the_end(case: Case, said: Answer, say: Say) -> str | None:
    """The right number, less one that is said to be in the list twice."""
    if said.number is None or said.number < 2:
        return None
    less = said.number - 1
    verb = "is" if less == 1 else "are"
    return f"The list shows {said.number} {said.called}, but one of them is in it twice, so there {verb} only {less}."


@wrong_answer("value")
def before_or_after_the_day(case: Case, said: Answer, say: Say) -> str | None:
    """The right day as a bound."""
    if not said.day:
        return None
    when = say.rng.choice(("before", "after"))
    return say.rng.choice((f"Some time {when} {said.value}.", f"The {said.called} is a day {when} {said.value}."))
