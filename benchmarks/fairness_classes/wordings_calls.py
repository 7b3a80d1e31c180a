"""Wordings of harnesses: the actions and records by which their logs end, with the answer in them."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import only_names, sentence, short


@wording(*SAID)
def finished_with_content(said: Answer, rng: random.Random) -> str:
    """A thought and the action of agents that see screenshots, with the answer in single quotation marks."""
    content = rng.choice((short(said), f"{sentence(said)}.")).replace("'", "\\'")
    return f"Thought: {said.steps}, so I have all that the task asks for.\nAction: finished(content='{content}')"


@wording(*SAID)
def a_summary_with_a_stop(said: Answer, rng: random.Random) -> str:
    """Thoughts step by step, and the action that stops with the answer in brackets."""
    return (
        f"Let's think step-by-step. {said.steps}. {sentence(said)}. "
        f"In summary, the next action I will perform is ```stop [{short(said)}]```"
    )


@wording(*SAID)
def a_record_of_retrieved_data(said: Answer, rng: random.Random) -> str:
    """An object with the type of the task, its status, and a list of what was retrieved."""
    data: list[str] | list[int] = [short(said)]
    if said.sort == "names":
        data = only_names(said)
    elif said.sort == "count" and said.number is not None:
        data = [said.number]
    record = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": data, "error_details": None}
    return json.dumps(record, indent=rng.choice((None, 2)), ensure_ascii=False)


@wording("missing", "refused")
def a_record_with_an_error(said: Answer, rng: random.Random) -> str:
    """An object with the type of the task, the status of an error, and the reason in its details."""
    kind, status = "NAVIGATE", "NOT_FOUND_ERROR"
    if said.sort == "refused":
        kind, status = "MUTATE", "ACTION_NOT_ALLOWED_ERROR"
    record = {"task_type": kind, "status": status, "retrieved_data": None, "error_details": f"{sentence(said)}."}
    return json.dumps(record, indent=rng.choice((None, 2)), ensure_ascii=False)


@wording(*SAID, "missing", "refused")
def an_object_with_figures_of_the_run(said: Answer, rng: random.Random) -> str:
    """An object with the answer, and with steps, seconds and the last address of the run."""
    steps = rng.choice([number for number in range(4, 16) if number != said.number])
    record = {
        "status": "finished",
        "answer": short(said) if said.sort in SAID else f"{sentence(said)}.",
        "steps_taken": steps,
        "seconds": round(2.9 * steps + rng.random(), 1),
        "final_url": said.url,
    }
    return json.dumps(record, indent=rng.choice((None, 2)), ensure_ascii=False)
