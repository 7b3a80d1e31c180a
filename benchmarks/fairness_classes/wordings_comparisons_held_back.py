"""The half of the classes of `wordings_comparisons.py` that is held back."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import two_of


@wording("higher", "most")
def both_values_in_brackets(said: Answer, rng: random.Random) -> str | None:
    """The winner, with both values."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"{one} ({high}) has a higher {said.called} than {other} ({low})."


@wording("higher", "most")
def both_values_and_then_the_winner(said: Answer, rng: random.Random) -> str | None:
    """Both values with colons, and the winner at the end."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    first, second = rng.sample([f"{one}: {high}", f"{other}: {low}"], 2)
    return f"{first}\n{second}\n\n{one} is higher."


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
def the_other_has_less(said: Answer, rng: random.Random) -> str | None:
    """What the other has less of, and the winner."""
    if (two := two_of(said)) is None:
        return None
    return f"{two[0]}. The {said.called} of {two[2]} is lower."


@wording("higher", "most")
def values_in_sentences(said: Answer, rng: random.Random) -> str | None:
    """A sentence for each, and one with the winner."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    first, second = rng.sample([f"The {said.called} of {one} is {high}.", f"The {said.called} of {other} is {low}."], 2)
    return f"{first} {second} Therefore, {one} has the higher one."


@wording("higher", "most")
def the_winner_is_the_one(said: Answer, rng: random.Random) -> str | None:
    """The winner after what it is."""
    if (two := two_of(said)) is None:
        return None
    return f"The one with the {'higher' if said.sort == 'higher' else 'highest'} {said.called} is {two[0]}."
