"""Held-back wordings with labels that say what is asked for, in bold or with the unit."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import number_in, short

_UNITS = {
    "$": ("$", "dollars"),
    "%": ("%", "percent"),
    "g": ("g", "grams"),
    "KB": ("KB", "kb"),
    "min": ("min", "minutes"),
    "minutes": ("minutes", "minutes"),
    "hours": ("hours", "hours"),
    "days": ("days", "days"),
    "months": ("months", "months"),
}
"""How a label writes a unit in brackets, and how the key of a record ends with it."""


@wording(*SAID)
def a_bold_label_for_what_is_asked(said: Answer, rng: random.Random) -> str:
    """A label in bold that says what is asked for, and the answer behind it."""
    label = said.called[0].upper() + said.called[1:]
    degree = "later" if said.year else "higher"
    match said.sort:
        case "higher" if said.number is not None:
            label = f"{degree.capitalize()} {said.called}"
        case "higher":
            label = f"The one with the {degree} {said.called}"
        case "most":
            label = f"Section with the highest {said.called}"
        case "count":
            label = "Total found" if said.number == 1 else f"Number of {said.called}"
    return f"{rng.choice(('', '- '))}**{label}:** {short(said)}"


@wording("value")
def the_unit_in_the_label(said: Answer, rng: random.Random) -> str | None:
    """The number alone, behind a label or a key that has the unit."""
    number = number_in(said, *_UNITS)
    if number is None or said.called.startswith("number of"):
        return None
    called = said.called.removesuffix(" in KB")
    bracketed, ending = _UNITS[said.unit]
    record = {"name": said.thing, f"{called.replace(' ', '_')}_{ending}": number}
    return rng.choice(
        (f"{called[0].upper()}{called[1:]} ({bracketed}): {number}", json.dumps(record, ensure_ascii=False))
    )
