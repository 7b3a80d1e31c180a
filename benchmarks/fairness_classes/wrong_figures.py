"""Wrong numbers, words and names where the right one stands in the same answer."""

from __future__ import annotations

from fairness_classes.asked import Answer
from fairness_classes.case import Case
from fairness_classes.falsehoods import another_answer
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import sentence


@wrong_answer("value", "count", "higher", "most")
def right_in_the_text_and_wrong_in_the_box(case: Case, said: Answer, say: Say) -> str | None:
    """The right answer in a sentence, and another one in the box at the end."""
    if (wrong := another_answer(case, said, say)) is None:
        return None
    return f"{said.steps}. {sentence(said)}.\n\n\\boxed{{{wrong}}}"
