"""The half of the classes of `wordings_counts.py` that is held back."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import in_words, number_of


@wording("count")
def a_count_in_words(said: Answer, rng: random.Random) -> str | None:
    """The number in words."""
    if number_of(said) > 99:
        return None
    words = in_words(number_of(said))
    return rng.choice(
        (words, words.capitalize(), f"There {'is' if said.number == 1 else 'are'} {words} {said.called}.")
    )


@wording("count")
def so_many_results(said: Answer, rng: random.Random) -> str:
    """What the list says of itself."""
    return f"{said.number} result{'' if said.number == 1 else 's'}"


@wording("count")
def a_count_that_says_what_was_counted(said: Answer, rng: random.Random) -> str:
    """The question as a statement, with the number at the end."""
    return f"{said.restated.rstrip('?.')}: {said.number}"


@wording("count")
def the_number_of_things_is(said: Answer, rng: random.Random) -> str:
    """A sentence about the number."""
    return f"The number of {said.called} is {said.number}." if said.number != 1 else "The number is 1."
