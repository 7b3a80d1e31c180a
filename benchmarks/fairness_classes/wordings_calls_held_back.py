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


@wording("missing", "refused")
def a_record_with_an_error(said: Answer, rng: random.Random) -> str:
    """An object with the type of the task, the status of an error, and the reason in its details."""
    kind, status = "NAVIGATE", "NOT_FOUND_ERROR"
    if said.sort == "refused":
        kind, status = "MUTATE", "ACTION_NOT_ALLOWED_ERROR"
    record = {"task_type": kind, "status": status, "retrieved_data": None, "error_details": f"{sentence(said)}."}
    return json.dumps(record, indent=rng.choice((None, 2)), ensure_ascii=False)
