"""Wordings of agents that tell what they found."""

from __future__ import annotations

import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import only_names, sentence

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


@wording(*SAID)
def after_a_detour(said: Answer, rng: random.Random) -> str:
    """What did not work at first, and then the answer."""
    detour = rng.choice(
        (
            "My first search found nothing because I had mistyped it, but the second one worked.",
            "The page did not load at first, so I reloaded it.",
            "I did not see it at once and had to scroll down.",
            "I opened the wrong page by mistake, so I went back and tried again.",
        )
    )
    return f"{detour} {sentence(said)}."


@wording(*SAID)
def after_so_many_steps(said: Answer, rng: random.Random) -> str:
    """How many steps it took, and the answer."""
    steps = rng.choice([number for number in range(4, 16) if number != said.number])
    return rng.choice(
        (
            f"Finished after {steps} steps. {sentence(said)}.",
            f"Step {steps}: I have what I need and can stop here. {sentence(said)}.",
            f"{sentence(said)}. (It took me {steps} steps to find this.)",
        )
    )
