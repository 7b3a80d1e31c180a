"""Wordings that give the answer first or last, and sum up how it was found."""

from __future__ import annotations

import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import short


@wording(*SAID)
def based_on_what_the_site_shows(said: Answer, rng: random.Random) -> str:
    """An introduction, the answer in bold, and how it was found under a bold label."""
    return (
        "Based on the information that the site shows, I can now answer your question:\n\n"
        f"**{short(said)}**\n\n**How I found it:** {said.steps}."
    )
