"""Held-back wordings of harnesses: the actions and records by which their logs end, with the answer in them."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short


@wording(*SAID)
def an_action_that_answers(said: Answer, rng: random.Random) -> str:
    """The word for the action, a semicolon, and the answer."""
    content = rng.choice((f"{sentence(said)}.", f"[{short(said)}]"))
    return f"Thought: {said.steps}. The information is there.\nAction: ANSWER; {content}"


@wording(*SAID)
def code_that_gives_the_answer(said: Answer, rng: random.Random) -> str:
    """A thought, and lines of code that set a variable and end with it."""
    text = json.dumps(short(said), ensure_ascii=False)
    code = f"```py\nanswer = {text}\nfinal_answer(answer)\n```"
    return f"Thought: {said.steps}. Now I return the answer.\nCode:\n{code}<end_code>"
