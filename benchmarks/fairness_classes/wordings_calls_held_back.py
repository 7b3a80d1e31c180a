"""Held-back wordings of harnesses: the actions and records by which their logs end, with the answer in them."""

from __future__ import annotations

import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short


@wording(*SAID)
def an_action_that_answers(said: Answer, rng: random.Random) -> str:
    """The word for the action, a semicolon, and the answer."""
    content = rng.choice((f"{sentence(said)}.", f"[{short(said)}]"))
    return f"Thought: {said.steps}. The information is there.\nAction: ANSWER; {content}"
