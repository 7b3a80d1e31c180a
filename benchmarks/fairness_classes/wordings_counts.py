"""How many there are, in words."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import in_words, number_of, only_names


@wording("count")
def i_found_so_many(said: Answer, rng: random.Random) -> str:
    """In the first person."""
    return rng.choice((f"I found {said.number}.", f"I found {said.number} {said.called}.", f"I counted {said.number}."))


@wording("count")
def a_total(said: Answer, rng: random.Random) -> str:
    """A label with a colon."""
    return rng.choice((f"Total: {said.number}", f"Total {said.called}: {said.number}", f"Count: {said.number}"))


@wording("count")
def exactly_so_many(said: Answer, rng: random.Random) -> str:
    """With a word that says it is exact."""
    return f"There {'is' if said.number == 1 else 'are'} exactly {said.number} {said.called}."


@wording("count")
def pages_added_up(said: Answer, rng: random.Random) -> str | None:
    """What each page of the list has, and the sum."""
    if not said.parts:
        return None
    added = f"{' + '.join(map(str, said.parts))} = {said.number}"
    return rng.choice((added, f"Page by page that is {added}.", f"{added} {said.called}"))


@wording("count")
def a_count_with_the_names(said: Answer, rng: random.Random) -> str | None:
    """The number and what was counted."""
    names = only_names(said)
    return f"{said.number}: {', '.join(names)}" if 0 < len(names) <= 6 and number_of(said) == len(names) else None


@wording("count")
def so_many_match(said: Answer, rng: random.Random) -> str:
    """What was set, and how many match."""
    return f"With all of these filters set, the list shows {said.number} matching {said.called}."


@wording("count")
def a_count_in_words_and_digits(said: Answer, rng: random.Random) -> str | None:
    """The number in words with digits in brackets."""
    return f"{in_words(number_of(said)).capitalize()} ({said.number})" if number_of(said) <= 99 else None


@wording("count")
def only_one(said: Answer, rng: random.Random) -> str | None:
    """A single one, by name."""
    return f"There is only one {said.called}: {said.names[0][0]}." if said.number == 1 == len(said.names) else None
