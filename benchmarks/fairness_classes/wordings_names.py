"""Names of several things, in words."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import only_names


@wording("names")
def a_bulleted_list(said: Answer, rng: random.Random) -> str:
    """A list with bullets, one a line."""
    sign = rng.choice("-*•")
    return "\n".join(f"{sign} {name}" for name in only_names(said))


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
