"""Held-back wordings with tables: two things as columns, details below the answer, lists in HTML."""

from __future__ import annotations

import html
import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import only_names


@wording("value")
def further_details_below_the_answer(said: Answer, rng: random.Random) -> str | None:
    """The value in bold, and below it a table of what else the page says."""
    if not said.about:
        return None
    rows = "\n".join(f"| {label} | {value} |" for label, value in said.about)
    return (
        f"**{said.value}**\n\nFor your reference, other details of {said.thing} on the same page:\n\n"
        f"| Field | Value |\n|---|---|\n{rows}"
    )


@wording("names")
def names_in_a_list_of_html(said: Answer, rng: random.Random) -> str:
    """A list in HTML, with numbers where an order is asked for."""
    tag = "ol" if said.ordered else "ul"
    items = "\n".join(f"  <li>{html.escape(name, quote=False)}</li>" for name in only_names(said))
    return f"<{tag}>\n{items}\n</{tag}>"
