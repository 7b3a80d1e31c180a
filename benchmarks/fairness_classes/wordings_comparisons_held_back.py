"""The half of the classes of `wordings_comparisons.py` that is held back."""

from __future__ import annotations

import json
import random
import re

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import two_of


@wording("higher", "most")
def the_winner_and_by_how_much(said: Answer, rng: random.Random) -> str | None:
    """Both values, and how far the winner is ahead."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    by = int(re.sub(r"\D", "", high)) - int(re.sub(r"\D", "", low))
    return f"{one} is ahead of {other} by {by} ({high} against {low})."


@wording("higher", "most")
def a_list_with_a_mark(said: Answer, rng: random.Random) -> str | None:
    """Both with bullets, the winner with a mark."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    rows = rng.sample([f"- {one}: {high} ← {'higher' if said.sort == 'higher' else 'highest'}", f"- {other}: {low}"], 2)
    return "\n".join(rows)


@wording("higher", "most")
def a_ranking(said: Answer, rng: random.Random) -> str | None:
    """A ranking from high to low."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"From the highest {said.called} to the lowest:\n1. {one} ({high})\n2. {other} ({low})"


@wording("higher", "most")
def both_and_the_winner_as_json(said: Answer, rng: random.Random) -> str | None:
    """An object with both values and the winner."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    key = "higher" if said.sort == "higher" else "highest"
    return json.dumps({"values": {other: low, one: high}, key: one}, ensure_ascii=False)


@wording("higher", "most")
def the_winner_beats_the_other(said: Answer, rng: random.Random) -> str | None:
    """A verb that says who wins."""
    if (two := two_of(said)) is None:
        return None
    return f"{two[0]} {rng.choice(('beats', 'exceeds', 'surpasses'))} {two[2]} in {said.called}."


@wording("higher")
def the_higher_number_and_then_the_other(said: Answer, rng: random.Random) -> str | None:
    """The higher number, and that the other is lower."""
    if said.number is None:
        return None
    return f"{said.value}, since the other one is only {said.two[1][1]}."


@wording("higher")
def of_the_two(said: Answer, rng: random.Random) -> str | None:
    """That it is one of the two, without the name of the other."""
    if (two := two_of(said)) is None:
        return None
    return f"Of the two, {two[0]} has the higher {said.called}."


@wording("higher", "most")
def a_winner_and_a_runner_up(said: Answer, rng: random.Random) -> str | None:
    """The labels of a contest."""
    if (two := two_of(said)) is None:
        return None
    return f"Winner: {two[0]}. Runner-up: {two[2]}."


@wording("higher")
def the_lower_and_the_higher_number(said: Answer, rng: random.Random) -> str | None:
    """Both numbers, each with its rank."""
    if said.number is None:
        return None
    low = int(re.sub(r"\D", "", said.two[1][1]))
    return f"The lower one is {low} and the higher one is {said.number}."


@wording("higher", "most")
def the_winner_in_a_clause(said: Answer, rng: random.Random) -> str | None:
    """The winner, which has its value as against that of the other."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    return f"The answer is {one}, which has {high} compared with {low} for {other}."


@wording("higher")
def whose_the_lower_and_whose_the_higher_is(said: Answer, rng: random.Random) -> str | None:
    """Whose value is the lower one, and whose is the higher one."""
    if (two := two_of(said)) is None:
        return None
    one, high, other, low = two
    less, more = ("earlier", "later") if said.year else ("lower", "higher")
    return f"The {less} {said.called} is that of “{other}” ({low}), and the {more} one is that of “{one}” ({high})."


@wording("higher", "most")
def not_the_other_but_the_winner(said: Answer, rng: random.Random) -> str:
    """That it is not the other one, and which one it is instead."""
    one, other = (each[said.number is not None] for each in said.two)
    return rng.choice((f"Not {other}, but {one}.", f"It is not {other} but {one}.", f"{other}? No, it is {one}."))
