"""Wordings that reply to whoever asked: after a second look, with advice, for as long as it is so."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import short


@wording("count", "value", "higher")
def a_first_reading_corrected(said: Answer, rng: random.Random) -> str | None:
    """A first reading that was wrong, and the right one as the final answer."""
    right = short(said)
    if said.sort == "higher":
        wrong = said.two[1][said.number is not None]
        first = f"At first I took {wrong} for the higher one"
    elif said.number is not None and not said.parts:
        wrong = right.replace(str(said.number), str(said.number + rng.choice((1, 2, 10))), 1)
        first = f"At first I read {wrong}"
    else:
        return None
    return None if wrong == right else f"{first}, but that was a mistake. The final answer is {right}."


@wording("missing", "refused")
def advice_on_what_to_do_next(said: Answer, rng: random.Random) -> str:
    """Why it cannot be done, and what whoever asked might do."""
    if said.sort == "refused":
        more = "Let me know if there is anything else that I can help you with."
        return f"I could not do this: {said.thing} is {said.reason}. {more}"
    advice = rng.choice(("Please check the spelling.", "Please check that you have the right name and the right site."))
    return f"There is no “{said.thing}” on this site. {advice}"


@wording("refused")
def not_as_long_as_it_is_so(said: Answer, rng: random.Random) -> str | None:
    """That it cannot be done as long as the thing is as it is."""
    if said.reason.startswith("already"):
        return None
    return rng.choice(
        (
            f"As long as {said.thing} is {said.reason}, this is not possible.",
            f"The site does not let me do this while {said.thing} is {said.reason}.",
        )
    )
