"""The half of the classes of `wordings_refusals.py` that is held back."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording


@wording("missing")
def the_site_has_none(said: Answer, rng: random.Random) -> str:
    """That the site has nothing of this name."""
    return rng.choice((f"The site has nothing called “{said.thing}”.", f"This website doesn't have {said.thing}."))


@wording("missing")
def not_among_them(said: Answer, rng: random.Random) -> str:
    """Where one looked, and that it is not there."""
    return f"I went through everything that the search gave me, and {said.thing} isn't among it."


@wording("missing")
def no_match(said: Answer, rng: random.Random) -> str:
    """That there is no match."""
    return rng.choice((f"0 matches for “{said.thing}”", f"No match for {said.thing}."))


@wording("missing")
def not_applicable(said: Answer, rng: random.Random) -> str:
    """The letters that benchmarks ask for, with the reason."""
    return f"N/A - {said.thing} does not exist"


def _why(said: Answer) -> str:
    return f"{said.thing} is {said.reason}" if said.sort == "refused" else f"{said.thing} does not exist"


@wording("missing", "refused")
def impossible_as_json(said: Answer, rng: random.Random) -> str:
    """A status with a reason."""
    status = rng.choice(("infeasible", "failed", "impossible"))
    return json.dumps({"status": status, "reason": _why(said)}, ensure_ascii=False)


@wording("missing", "refused")
def impossible_in_bold(said: Answer, rng: random.Random) -> str:
    """Bold markdown, and the reason behind a dash."""
    return f"**Not possible** – {_why(said)}."


@wording("refused")
def the_reason_first(said: Answer, rng: random.Random) -> str:
    """The reason, and what follows."""
    return rng.choice(
        (f"Since {said.thing} is {said.reason}, this cannot be done.", f"{said.thing} is {said.reason}, so no.")
    )


@wording("refused")
def the_page_offers_no_way(said: Answer, rng: random.Random) -> str:
    """That the page has no button for it."""
    return f"The page of {said.thing} offers no way to do this; it says that it is {said.reason}."


@wording("missing", "refused")
def with_regret(said: Answer, rng: random.Random) -> str:
    """That one is sorry."""
    if said.sort == "refused":
        return f"Sorry, this isn't possible, as {said.thing} is {said.reason}."
    return rng.choice((f"Unfortunately, {said.thing} is not on this site.", f"Sorry, there is no {said.thing} here."))


@wording("missing")
def similar_names_only(said: Answer, rng: random.Random) -> str:
    """That there are similar names, and that none of them is the one."""
    return rng.choice(
        (
            f"Some names on this site are similar, but none of them is “{said.thing}”, so there is nothing to open.",
            f"The closest results have other names. A page called “{said.thing}” does not exist here.",
        )
    )


@wording("refused")
def nothing_was_sent(said: Answer, rng: random.Random) -> str:
    """That nothing was sent, and why."""
    return rng.choice(
        (
            f"I have not submitted anything, because {said.thing} is {said.reason} and this can't be done.",
            f"Nothing was sent: the page says that {said.thing} is {said.reason}, which rules this out.",
        )
    )


@wording("missing", "refused")
def the_task_takes_for_granted_what_is_not_so(said: Answer, rng: random.Random) -> str:
    """That the task takes something for granted, and that it is not so."""
    if said.sort == "refused":
        return rng.choice(
            (
                f"The task assumes that this can be done, but it can't, given that {said.thing} is {said.reason}.",
                f"What you are asking for is not possible, given that {said.thing} is {said.reason}.",
            )
        )
    return rng.choice(
        (
            f"The task assumes that “{said.thing}” exists on this site, but it does not.",
            f"Your request refers to “{said.thing}”, which does not exist on this website.",
        )
    )
