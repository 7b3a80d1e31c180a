"""That something cannot be done, and that all is done, in words."""

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


@wording("missing")
def sorry_it_is_not_there(said: Answer, rng: random.Random) -> str:
    """An apology."""
    return f"Sorry, I was unable to find {said.thing} on this website. It is not listed."


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


@wording("refused")
def sorry_it_is_refused(said: Answer, rng: random.Random) -> str:
    """An apology."""
    return f"Unfortunately, that can't be done, because {said.thing} is {said.reason}."


@wording("done")
def done_with_the_task_in_other_words(said: Answer, rng: random.Random) -> str:
    """That it is done, and what was to be done."""
    return f"Done. The task was: {said.restated}"


@wording("done")
def done_with_a_sign(said: Answer, rng: random.Random) -> str:
    """With a tick."""
    return rng.choice(("✅ Done", "✓ Task completed."))


@wording("done")
def done_as_asked(said: Answer, rng: random.Random) -> str:
    """That it is as it was asked for, with the words of the instruction."""
    return f"As you asked (“{said.instruction}”), it is done."


@wording("done")
def success_as_json(said: Answer, rng: random.Random) -> str:
    """A status as JSON."""
    return rng.choice(('{"status": "success"}', '{"status": "complete", "answer": "done"}'))
