"""The half of the classes of `wordings_endings.py` that is held back."""

from __future__ import annotations

import random

from fairness_classes.asked import Answer
from fairness_classes.kinds_of_classes import wording


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


@wording("done")
def done(said: Answer, rng: random.Random) -> str:
    """One word or two."""
    return rng.choice(("Done.", "Done", "Finished.", "All done!", "OK, done."))


@wording("done")
def the_task_is_complete(said: Answer, rng: random.Random) -> str:
    """That the task is complete."""
    return rng.choice(
        ("The task is complete.", "The task has been completed successfully.", "I have completed the task.")
    )


@wording("done")
def done_and_at_your_service(said: Answer, rng: random.Random) -> str:
    """With a closing phrase."""
    return "I have done what you asked for. Is there anything else I can help you with?"


@wording("done")
def you_can_see_it_now(said: Answer, rng: random.Random) -> str:
    """That what was wanted is on the screen."""
    return "Here you are: what you wanted is on the screen now."
