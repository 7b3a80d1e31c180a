"""Wrong numbers, words and names where the right one stands in the same answer."""

from __future__ import annotations

from fairness_classes.asked import Answer, falsified
from fairness_classes.case import Case
from fairness_classes.falsehoods import things_beside
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import sentence, short


@wrong_answer("value", "count", "higher", "most")
def right_in_the_text_and_wrong_in_the_box(case: Case, said: Answer, say: Say) -> str | None:
    """The right answer in a sentence, and another one in the box at the end."""
    if (wrong := _another(case, said, say)) is None:
        return None
    return f"{said.steps}. {sentence(said)}.\n\n\\boxed{{{wrong}}}"


def _another(case: Case, said: Answer, say: Say) -> str | None:
    """Another answer of the same sort, which is wrong."""
    if said.sort in ("higher", "most"):
        return said.two[1][said.number is not None]
    if said.number is not None:
        return short(falsified(said, said.number + say.rng.choice((1, 3))))
    beside = things_beside(case, say)
    return beside[0].shown(case.attribute) if case.attribute is not None and beside else None
