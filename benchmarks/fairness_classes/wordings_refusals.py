"""That there is no such thing, or that something cannot be done, in words."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording


@wording("missing")
def nothing_found(said: Answer, rng: random.Random) -> str:
    """That a search found nothing."""
    return rng.choice(
        (
            f"I could not find {said.thing}; the search gives 0 results.",
            f"No results for “{said.thing}”.",
            f"A search for {said.thing} found nothing.",
        )
    )


@wording("missing")
def it_does_not_exist(said: Answer, rng: random.Random) -> str:
    """That it does not exist."""
    return rng.choice((f"{said.thing} does not exist on this site.", f"“{said.thing}” doesn't exist."))


@wording("refused")
def the_site_does_not_allow_it(said: Answer, rng: random.Random) -> str:
    """What the page says."""
    return f"The site does not allow it. It says “Not possible: {said.reason}.”"


@wording("refused")
def i_could_not_do_it(said: Answer, rng: random.Random) -> str:
    """In the first person."""
    return rng.choice(
        (f"I couldn't do it: {said.thing} is {said.reason}.", f"I was unable to do this, since it is {said.reason}.")
    )


@wording("missing")
def no_such_page(said: Answer, rng: random.Random) -> str:
    """That there is no such page."""
    return rng.choice(("There is no such page on this site.", f"There's no page called “{said.thing}” here."))


@wording("missing")
def so_it_cannot_be_opened(said: Answer, rng: random.Random) -> str:
    """What was tried, and what follows."""
    return f"I searched for {said.thing} but nothing came up, so I can't open it."


@wording("missing", "refused")
def the_task_is_impossible(said: Answer, rng: random.Random) -> str:
    """That the task is impossible, and why."""
    why = f"{said.thing} is {said.reason}" if said.sort == "refused" else f"{said.thing} was not found on the site"
    return rng.choice(
        (f"The task cannot be completed because {why}.", f"This is impossible: {why}.", f"Not possible. {why}.")
    )
