"""Wrong answers to comparisons."""

from __future__ import annotations

import re

from fairness_classes.asked import Answer
from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import Say, wrong_answer


def _digits(value: str) -> int:
    return int(re.sub(r"\D", "", value))


@wrong_answer("higher")
def the_winner_with_a_wrong_value(case: Case, said: Answer, say: Say) -> str | None:
    """The right one of the two with a wrong number; where its name is asked for, one that is less than the other's."""
    (one, high), (other, low) = said.two
    if said.number is not None:
        wrong = high.replace(str(said.number), str(said.number + say.rng.choice((2, 11))))
        return f"{one} has the higher {said.called}: {wrong}."
    number = _digits(low)
    if number < 2:
        return None
    below = low.replace(str(number), str(say.rng.randrange(1, number)))
    return f"{one} has {below}, which is less than the {low} of {other}."
