"""Which of two is higher, in words."""

from __future__ import annotations

import random
import re

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import number_of, two_of


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


@wording("higher", "most")
def both_values_in_brackets(said: Answer, rng: random.Random) -> str | None:
    """The winner, with both values."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"{one} ({high}) has a higher {said.called} than {other} ({low})."


@wording("higher", "most")
def the_other_first(said: Answer, rng: random.Random) -> str | None:
    """The other one first, and then the winner."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"{other} has only {low}, whereas {one} has {high}, so the answer is {one}."


@wording("higher", "most")
def a_comparison_with_a_sign(said: Answer, rng: random.Random) -> str | None:
    """A sign between the two."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"{one} ({high}) > {other} ({low})"


@wording("higher", "most")
def the_winner_rather_than_the_other(said: Answer, rng: random.Random) -> str | None:
    """The winner, and that it is not the other."""
    if (two := two_of(said)) is None:
        return None
    return f"It is {two[0]} rather than {two[2]}."


@wording("higher", "most")
def values_in_sentences(said: Answer, rng: random.Random) -> str | None:
    """A sentence for each, and one with the winner."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    first, second = rng.sample([f"The {said.called} of {one} is {high}.", f"The {said.called} of {other} is {low}."], 2)
    return f"{first} {second} Therefore, {one} has the higher one."


@wording("higher", "most")
def one_versus_the_other(said: Answer, rng: random.Random) -> str | None:
    """A line with `vs.`, and an arrow to the winner."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    pair = rng.sample([f"{one} {high}", f"{other} {low}"], 2)
    return f"{pair[0]} vs. {pair[1]} → {one}"


@wording("higher", "most")
def values_and_a_conclusion(said: Answer, rng: random.Random) -> str | None:
    """Which value is less than which, and the winner."""
    if (two := two_of(said)) is None:
        return None
    one, high, _, low = two
    return f"{low} < {high}, so the answer is {one}."


@wording("higher")
def the_maximum_of_both(said: Answer, rng: random.Random) -> str | None:
    """A formula."""
    if said.number is None:
        return None
    low = int(re.sub(r"\D", "", said.two[1][1]))
    first, second = rng.sample([low, number_of(said)], 2)
    return f"max({first}, {second}) = {said.number}"


@wording("higher", "most")
def two_options_with_letters(said: Answer, rng: random.Random) -> str:
    """Both with letters and values, and the letter of the higher one with its name or its number."""
    options = rng.sample(said.two, 2)
    rows = [f"{letter}. {name} – {said.called}: {value}" for letter, (name, value) in zip("AB", options, strict=True)]
    chosen = "AB"[options.index(said.two[0])]
    return "\n".join([*rows, "", f"Answer: {chosen} ({said.value if said.number is not None else said.two[0][0]})"])
