"""Held-back wordings of agents that end with a record: calls in tags, figures of the run, ticks, a status."""

from __future__ import annotations

import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short


@wording(*SAID, "missing", "refused")
def a_call_with_tags_for_its_parameters(said: Answer, rng: random.Random) -> str:
    """The call of a tool as coding models write it, or an action with a tag for each of its parts."""
    call = f"<function=finish>\n<parameter=answer>\n{short(said)}\n</parameter>\n</function>"
    action = f"<action>\n  <type>answer</type>\n  <text>{sentence(said)}.</text>\n</action>"
    return rng.choice((f"<tool_call>\n{call}\n</tool_call>", action))


@wording(*SAID)
def ticks_for_what_is_done(said: Answer, rng: random.Random) -> str:
    """A list of what there was to do, all of it ticked off, and the answer."""
    done = rng.choice(("- [x] {}", "✔ {}"))
    rows = [done.format(each) for each in ("Open the site", "Find what is asked for", "Read it from the page")]
    return "\n".join([*rows, "", f"{sentence(said)}."])


@wording("missing", "refused")
def a_status_and_a_reason_on_two_lines(said: Answer, rng: random.Random) -> str:
    """Two lines with labels: that it is not done, and why."""
    why = f"{said.thing} is {said.reason}"
    if said.sort == "missing":
        why = rng.choice((f"“{said.thing}” does not exist on this site", f"there is no “{said.thing}” on this site"))
    status = rng.choice(("Status: not possible", "Result: could not be done", "Outcome: task cannot be completed"))
    return f"{status}\nReason: {why}"
