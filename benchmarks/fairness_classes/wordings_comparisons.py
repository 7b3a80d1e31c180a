"""Which of two is higher, in words."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import two_of


@wording("higher", "most")
def the_winner_against_the_other(said: Answer, rng: random.Random) -> str | None:
    """The winner first, with what the other has."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"{one}, with {high} against {low} for {other}."


@wording("higher", "most")
def the_winner_with_its_value(said: Answer, rng: random.Random) -> str | None:
    """The winner and its value."""
    if (two := two_of(said)) is None:
        return None
    return rng.choice((f"{two[0]} ({two[1]})", f"{two[0]} with {two[1]}", f"{two[0]}: {two[1]}"))


@wording("higher", "most")
def a_table_of_both(said: Answer, rng: random.Random) -> str | None:
    """A markdown table, and the winner below it."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"| Name | {said.called} |\n|---|---|\n| {other} | {low} |\n| {one} | {high} |\n\n**{one}** has more."


@wording("higher")
def the_higher_number_and_whose_it_is(said: Answer, rng: random.Random) -> str | None:
    """The higher number with the name of the thing that has it."""
    if said.number is None:
        return None
    return f"{said.value} ({said.two[0][0]})"


@wording("higher")
def both_numbers_and_the_higher(said: Answer, rng: random.Random) -> str | None:
    """Both numbers with their names, and then the higher one."""
    if said.number is None:
        return None
    (one, high), (other, low) = said.two
    return f"{other} has {low} and {one} has {high}, so the higher {said.called} is {said.value}."
