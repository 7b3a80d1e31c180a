"""Held-back wordings with reserves that are no doubts: at which time it was so."""

from __future__ import annotations

import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, within


@wording(*SAID, "missing", "refused")
def as_of_the_visit(said: Answer, rng: random.Random) -> str:
    """That it is so at the time at which one looked."""
    when = rng.choice(("As of my visit to the site", "At the time of writing", "At the moment"))
    return f"{when}, {within(sentence(said))}."
