"""Held-back wordings with other signs: spaces and hyphens that do not break, and punctuation as Americans set it."""

from __future__ import annotations

import random
import re

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import only_names, sentence, short


@wording(*SAID)
def signs_that_do_not_break(said: Answer, rng: random.Random) -> str | None:
    """Behind a number a space that does not break, hyphens that do not break either, and curly apostrophes."""
    text = rng.choice((short(said), f"{sentence(said)}."))
    space = rng.choice(("\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"))
    changed = re.sub(r"(?<=\d) (?=[%A-Za-z])", space, text)
    changed = changed.replace("-", "\N{NON-BREAKING HYPHEN}").replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
    return changed if changed != text else None


def _ended(text: str, sign: str) -> str:
    return text if text.endswith(("?", "!", ".")) else f"{text}{sign}"


@wording(*SAID)
def punctuation_within_the_quotation_marks(said: Answer, rng: random.Random) -> str | None:
    """The commas and the full stop of the sentence inside of the quotation marks."""
    if said.number is not None:
        return None
    *others, last = only_names(said) if said.sort == "names" else [short(said)]
    quoted = [f"“{_ended(each, ',' if others[1:] else '')}”" for each in others]
    end = f"“{_ended(last, '.')}”"
    if quoted:
        return f"They are {' '.join(quoted)} and {end}"
    return rng.choice((f"The answer is {end}", f"The site says {end}")) if said.sort == "value" else f"I found {end}"
