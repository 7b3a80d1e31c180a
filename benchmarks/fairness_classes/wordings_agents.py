"""Wordings of agents that tell what they found."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import only_names

_PLACES = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth")


@wording("names")
def names_in_sentences(said: Answer, rng: random.Random) -> str | None:
    """A sentence for each name; with its place where an order is asked for."""
    names = [f"“{name}”" for name in only_names(said)]
    if not 2 <= len(names) <= len(_PLACES):
        return None
    if said.ordered:
        return " ".join(f"{place} comes {name}." for place, name in zip(_PLACES, names, strict=False))
    others = [f"Another one is {name}." for name in names[1:-1]]
    return " ".join([f"One of them is {names[0]}.", *others, f"The last one is {names[-1]}."])
