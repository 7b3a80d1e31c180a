"""Names of several things, in words."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import joined, only_names


@wording("names")
def names_with_semicolons(said: Answer, rng: random.Random) -> str:
    """Semicolons between them."""
    return "; ".join(only_names(said))


@wording("names")
def names_as_json(said: Answer, rng: random.Random) -> str:
    """A JSON list."""
    return json.dumps(only_names(said), ensure_ascii=False)


@wording("names")
def names_as_a_table(said: Answer, rng: random.Random) -> str:
    """A markdown table with ranks."""
    rows = "\n".join(f"| {i} | {name} |" for i, name in enumerate(only_names(said), 1))
    return f"| # | Name |\n|---|---|\n{rows}"


@wording("names")
def a_numbered_list(said: Answer, rng: random.Random) -> str:
    """A numbered list, one a line."""
    return "\n".join(f"{i}. {name}" for i, name in enumerate(only_names(said), 1))


@wording("names")
def names_with_and(said: Answer, rng: random.Random) -> str:
    """The last after `and`, with or without a comma."""
    return joined(only_names(said), rng.choice((" and ", ", and ")))


@wording("names")
def names_with_values_in_brackets(said: Answer, rng: random.Random) -> str | None:
    """Each with what the list says of it."""
    if not all(value for _, value in said.names):
        return None
    return ", ".join(f"{name} ({value})" for name, value in said.names)


@wording("names")
def names_in_another_order(said: Answer, rng: random.Random) -> str | None:
    """Another order, where none is asked for."""
    if said.ordered or len(said.names) < 2:
        return None
    return ", ".join(only_names(replace(said, names=said.names[::-1])))


@wording("names")
def names_with_ordinals(said: Answer, rng: random.Random) -> str | None:
    """First, then, finally."""
    names = only_names(said)
    if len(names) < 3:
        return None
    return f"First {names[0]}, then {joined(names[1:-1])}, and finally {names[-1]}."


@wording("names")
def names_after_an_introduction(said: Answer, rng: random.Random) -> str:
    """An introduction with how many there are, and a numbered list."""
    names = only_names(said)
    rows = "\n".join(f"{i}. **{name}**" for i, name in enumerate(names, 1))
    return (
        f"Here are the {len(names)} {said.called} that you asked for:\n\n{rows}"
        if len(names) > 1
        else f"**{names[0]}**"
    )
