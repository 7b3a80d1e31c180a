"""Held-back wordings of the messages and calls by which agents end a task, with lists that are said twice."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import only_names


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
