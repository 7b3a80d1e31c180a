"""Wordings with tables."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import two_of


@wording("higher", "most")
def two_things_as_columns(said: Answer, rng: random.Random) -> str | None:
    """A table with a column for each of the two, and a row with a tick below the winner."""
    if two_of(said) is None:
        return None
    columns = rng.sample(said.two, 2)
    degree = "Higher" if said.sort == "higher" else "Highest"
    ticks = ["✅" if each is said.two[0] else "❌" for each in columns]
    rows = [
        ["", *(name for name, _ in columns)],
        ["---"] * 3,
        [said.called, *(value for _, value in columns)],
        [f"{degree}?", *ticks],
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
