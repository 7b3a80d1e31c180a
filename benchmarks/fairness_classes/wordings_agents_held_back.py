"""Held-back wordings of the messages and calls by which agents end a task: lists said twice, calls, checklists."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import only_names, short

_PLACES = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth")


@wording("names")
def names_in_sentences(said: Answer, rng: random.Random) -> str | None:
    """A sentence for each name; with its place where an order is asked for."""
    names = [f"“{name}”" for name in only_names(said)]
    if not 2 <= len(names) <= len(_PLACES):
        return None
    if said.ordered:
        return " ".join(f"{place} comes {name}." for place, name in zip(_PLACES, names, strict=False))
    others = [f"Another one is {name}." for name in names[1:-1]]
    return " ".join([f"One of them is {names[0]}.", *others, f"The last one is {names[-1]}."])


@wording("names")
def names_in_a_list_and_again_in_a_row(said: Answer, rng: random.Random) -> str:
    """A numbered list of what was found, and the same names once more as the answer."""
    names = only_names(said)
    rows = "\n".join(f"{i}. {name}" for i, name in enumerate(names, 1))
    return f"What I found on the site:\n{rows}\n\nFinal answer: {', '.join(names)}"


@wording("missing", "refused")
def a_call_that_reports_that_it_cannot_be_done(said: Answer, rng: random.Random) -> str:
    """The call by which agents say that a task cannot be done, with the reason."""
    why = f"There is no {said.thing} on this site."
    if said.sort == "refused":
        why = f"{said.thing} is {said.reason}, so the site does not allow this."
    reason = json.dumps(why, ensure_ascii=False)
    return rng.choice((f"report_infeasible({reason})", f'terminate(status="failure", reason={reason})'))


@wording(*SAID)
def a_tool_call_with_the_answer(said: Answer, rng: random.Random) -> str:
    """The call of a tool as models write it, with the answer as one of its arguments."""
    computer = {"name": "computer_use", "arguments": {"action": "answer", "text": short(said)}}
    browser = {"action": [{"done": {"text": short(said), "success": True}}]}
    return rng.choice(
        (
            f"<tool_call>\n{json.dumps(computer, ensure_ascii=False)}\n</tool_call>",
            json.dumps(browser, ensure_ascii=False),
        )
    )


@wording("done")
def complete_and_without_problems(said: Answer, rng: random.Random) -> str:
    """That all is done, and that nothing went wrong and nothing is left."""
    return rng.choice(
        (
            "The task is complete. There were no errors, and nothing is left for you to do.",
            "Completed without any problems; no further steps are needed.",
        )
    )


@wording("done")
def a_checklist_of_what_was_asked(said: Answer, rng: random.Random) -> str:
    """A list of tasks, all of which are ticked."""
    return f"- [x] Open the site\n- [x] {said.restated.rstrip('.')}\n\nStatus: complete"
