"""Held-back wordings of assistants that sum up at the end: the answer, how it was found, and where."""

from __future__ import annotations

import random
from urllib.parse import urlsplit

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short


@wording(*SAID)
def completed_with_what_was_found(said: Answer, rng: random.Random) -> str:
    """That the task is completed, the answer in a sentence, and where it was found."""
    return (
        f"Task completed successfully. {sentence(said)}. "
        f"The information was extracted from {said.url} and no further action is required."
    )


@wording(*SAID)
def with_a_note_on_the_way(said: Answer, rng: random.Random) -> str:
    """The answer first, and a note below or behind it on how it was found."""
    return rng.choice((f"{sentence(said)}. (Note: {said.steps}.)", f"{short(said)}\n\n*Note: {said.steps}.*"))


@wording(*SAID)
def with_a_link_to_the_host(said: Answer, rng: random.Random) -> str:
    """A sentence with a link in brackets that has the name of the site."""
    return f"{sentence(said)} ([{urlsplit(said.url).netloc}]({said.url}))."
