"""Wordings that give the reason why one of two is the higher."""

from __future__ import annotations

import random
import re

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import two_of


@wording("higher", "most")
def ahead_in_percent(said: Answer, rng: random.Random) -> str | None:
    """Both values, by how much the one is more than the other in percent or times, and the winner."""
    if (two := two_of(said)) is None or said.year or any("%" in value for _, value in said.two):
        return None
    one, high, other, low = two
    more, less = (int(re.sub(r"\D", "", value)) for value in (high, low))
    if not more > less > 0:
        return None
    lead = f"{more / less:.1f} times" if more >= 3 * less else f"{100 * (more - less) / less:.1f} % more than"
    return f"{one}: {high}, {other}: {low}. The first value is {lead} the second, so the answer is {one}."
