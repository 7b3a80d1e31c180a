"""The half of the classes of `wordings_counts.py` that is held back."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import number_of, only_names


@wording("count")
def that_makes_so_many(said: Answer, rng: random.Random) -> str:
    """What it comes to."""
    return rng.choice((f"That makes {said.number} in total.", f"It comes to {said.number} altogether."))


@wording("count")
def a_count_as_a_json_number(said: Answer, rng: random.Random) -> str:
    """An object with a number."""
    return json.dumps({rng.choice(("count", "total", "number")): said.number})


@wording("count")
def so_many_items(said: Answer, rng: random.Random) -> str:
    """A word that fits all things."""
    one = said.number == 1
    return rng.choice((f"{said.number} item{'' if one else 's'}", f"{said.number} of them", f"{said.number} in all"))


@wording("count")
def the_pages_in_words(said: Answer, rng: random.Random) -> str | None:
    """How many the first page has, and how many the second."""
    if len(said.parts) != 2:
        return None
    first, second = said.parts
    return f"{first} on the first page and {second} on the second, {said.number} in total."


@wording("count")
def a_numbered_list_of_what_was_counted(said: Answer, rng: random.Random) -> str | None:
    """All of them with numbers, and how many they are."""
    names = only_names(said)
    if not 2 <= len(names) <= 9 or len(names) != number_of(said):
        return None
    rows = "\n".join(f"{i}. {name}" for i, name in enumerate(names, 1))
    return f"{rows}\n\nSo there are {said.number}."


@wording("count")
def so_many_meet_the_conditions(said: Answer, rng: random.Random) -> str:
    """A sentence about conditions."""
    return f"A total of {said.number} {said.called} meet{'s' if said.number == 1 else ''} these conditions."


@wording("count")
def counted_up_to_the_last(said: Answer, rng: random.Random) -> str | None:
    """Which place the last of them has, and that there are so many."""
    number = number_of(said)
    if not 2 <= number <= 100:
        return None
    end = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"I counted them one by one. The last one is the {number}{end}, so there are {number} {said.called}."


@wording("count")
def from_the_first_to_the_last(said: Answer, rng: random.Random) -> str | None:
    """What the list begins and ends with, and how many it has."""
    names = only_names(said)
    if len(names) < 3 or len(names) != said.number:
        return None
    return f"The list begins with “{names[0]}”, ends with “{names[-1]}”, and has {said.number} {said.called} in all."
