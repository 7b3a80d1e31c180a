"""How many there are, in words."""

from __future__ import annotations

import random
from itertools import accumulate

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
def only_one(said: Answer, rng: random.Random) -> str | None:
    """A single one, by name."""
    return f"There is only one {said.called}: {said.names[0][0]}." if said.number == 1 == len(said.names) else None


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
def a_running_total_over_the_pages(said: Answer, rng: random.Random) -> str | None:
    """What each page of the list has, and how many they are so far."""
    if len(said.parts) < 2 or min(said.parts) <= 0 or sum(said.parts) != number_of(said):
        return None
    totals = accumulate(said.parts)
    rows = [
        f"- Page {i}: {part} (so far: {total})"
        for i, (part, total) in enumerate(zip(said.parts, totals, strict=True), 1)
    ]
    return "\n".join([*rows, f"\nSo the whole list has {said.number} {said.called}."])
