"""The half of the classes of `wordings_names.py` that is held back."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import joined, only_names


@wording("names")
def names_with_bars(said: Answer, rng: random.Random) -> str:
    """Bars or slashes between them."""
    return rng.choice((" | ", " / ")).join(only_names(said))


@wording("names")
def names_with_letters(said: Answer, rng: random.Random) -> str:
    """A letter before each."""
    return "\n".join(f"{letter}) {name}" for letter, name in zip("abcdefghij", only_names(said), strict=False))


@wording("names")
def names_with_ordinal_numbers(said: Answer, rng: random.Random) -> str:
    """The place of each."""
    places = ("1st", "2nd", "3rd", *(f"{i}th" for i in range(4, 12)))
    return ", ".join(f"{place}: {name}" for place, name in zip(places, only_names(said), strict=False))


@wording("names")
def names_followed_by_names(said: Answer, rng: random.Random) -> str | None:
    """One follows the other."""
    names = only_names(said)
    return rng.choice((", followed by ", " → ")).join(names) if len(names) > 1 else None


@wording("names")
def names_as_json_records(said: Answer, rng: random.Random) -> str:
    """A record with a rank for each."""
    records = [{"rank": i, "name": name} for i, name in enumerate(only_names(said), 1)]
    return json.dumps(records, ensure_ascii=False)


@wording("names")
def names_with_values_on_lines(said: Answer, rng: random.Random) -> str | None:
    """Each on a line, with what the list says of it."""
    if not all(value for _, value in said.names):
        return None
    return "\n".join(f"- {name}: {value}" for name, value in said.names)


@wording("names")
def names_with_numbers_in_brackets(said: Answer, rng: random.Random) -> str:
    """Numbers in brackets in one line."""
    return " ".join(f"({i}) {name}" for i, name in enumerate(only_names(said), 1))


@wording("names")
def names_as_well_as_the_last(said: Answer, rng: random.Random) -> str | None:
    """The last after other words than `and`."""
    names = only_names(said)
    return f"{joined(names, rng.choice((' as well as ', ', plus ', ' & ')))}." if len(names) > 1 else None


@wording("names")
def names_behind_their_values(said: Answer, rng: random.Random) -> str | None:
    """A line for each with the value that they are ordered by in front of the name."""
    if not said.ordered or not all(value for _, value in said.names):
        return None
    return "\n".join(f"{value}: {name}" for name, value in said.names)


@wording("names")
def names_on_lines_of_their_own(said: Answer, rng: random.Random) -> str:
    """Each on a line, behind a bullet or nothing."""
    bullet = rng.choice(("", "- ", "* ", "• "))
    return "\n".join(f"{bullet}{name}" for name in only_names(said))


@wording("names")
def names_as_a_list_of_python(said: Answer, rng: random.Random) -> str:
    """A list as Python prints it, alone or behind a name."""
    return f"{rng.choice(('', 'answer = ', 'Final answer: '))}{only_names(said)!r}"
