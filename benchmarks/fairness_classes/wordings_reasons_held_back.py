"""Held-back wordings that give the reason why one of two is the higher: its value, its lead, the pages, the other."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import two_of


def _degree(said: Answer) -> str:
    return "higher" if said.sort == "higher" else "highest"


@wording("higher", "most")
def because_its_value_is_higher(said: Answer, rng: random.Random) -> str | None:
    """The winner, and a clause with `because` that has both values."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    because = rng.choice(("because", "since"))
    return f"{one}, {because} its {said.called} ({high}) is higher than that of {other} ({low})."


@wording("higher", "most")
def one_falls_short_of_the_other(said: Answer, rng: random.Random) -> str | None:
    """That the other with its value falls short of the winner, and the winner once more."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"With {low}, {other} falls short of {one}, which has {high}. {one} has the {_degree(said)} {said.called}."


@wording("higher")
def quoted_from_both_pages(said: Answer, rng: random.Random) -> str:
    """What each of the two pages says, in quotation marks, and what follows."""
    pages = [f"the page of {name} says “{value}”" for name, value in rng.sample(said.two, 2)]
    end = f"the higher {said.called} is {said.value}"
    if said.number is None:
        end = f"{said.two[0][0]} has the higher {said.called}"
    return f"For the {said.called}, {pages[0]} and {pages[1]}. Hence {end}."


@wording("higher")
def the_other_is_ruled_out(said: Answer, rng: random.Random) -> str | None:
    """That the other one is ruled out because of its value, and what that leaves."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"“{other}” can be ruled out, since its {said.called} is only {low}. That leaves “{one}” with {high}."
