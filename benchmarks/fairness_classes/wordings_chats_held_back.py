"""Held-back wordings of agents that chat: found it, questions to oneself, detours, offers, English of learners."""

from __future__ import annotations

import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import joined, only_names, sentence, short, within


@wording(*SAID)
def got_it(said: Answer, rng: random.Random) -> str:
    """That one has found it, and the answer alone."""
    start = rng.choice(("Got it:", "Found it!", "Okay, found it –", "Here you go:", "ok so i found it:"))
    return f"{start} {short(said)}"


@wording(*SAID)
def a_question_to_oneself(said: Answer, rng: random.Random) -> str:
    """The question in a few words, and right behind it the answer."""
    match said.sort:
        case "higher" if said.number is not None:
            asked = f"The {'later' if said.year else 'higher'} {said.called} of the two"
        case "higher":
            asked = f"Which of the two has the {'later' if said.year else 'higher'} {said.called}"
        case "most":
            asked = f"Which section had the highest {said.called}"
        case "names":
            asked = f"Which {said.called}" if len(said.names) > 1 else "Which one"
        case "count":
            asked = rng.choice(("How many are there", "The number of matches"))
        case _:
            asked = rng.choice(
                (f"The {said.called} of {said.thing}", f"So {'who' if said.person else 'what'} is the {said.called}")
            )
    text = joined(only_names(said)) if said.sort == "names" else short(said)
    return f"{asked}? {text}" if text.endswith(("?", "!")) else f"{asked}? {text}."


@wording(*SAID)
def from_what_the_page_shows(said: Answer, rng: random.Random) -> str:
    """A phrase that bases the sentence on what is listed."""
    start = rng.choice(
        ("From what the page shows", "Going by the details listed on the site", "Based on the listing that I opened")
    )
    return f"{start}, {within(sentence(said))}."


@wording(*SAID)
def with_an_offer_of_more(said: Answer, rng: random.Random) -> str:
    """The answer, and that one can have other facts as well."""
    labels = [f"“{label}”" for label, _ in said.about[:2]]
    more = joined(labels, " or ") if labels else "further details"
    return f"{sentence(said)}. {rng.choice(('If you need', 'In case you want'))} {more} as well, just tell me."


@wording(*SAID, "missing", "refused")
def in_the_english_of_a_learner(said: Answer, rng: random.Random) -> str:
    """Wrong articles and comparatives, and a word order of another language."""
    more = "more late" if said.year else "more high"
    first = said.two[0][0] if said.two else ""
    match said.sort:
        case "higher" if said.number is not None:
            return f"The {more} {said.called} from both is {said.value}."
        case "higher":
            return f"From both, it is “{first}” who is having the {more} {said.called}."
        case "most":
            return f"It is section {first} who is having the most high {said.called}."
        case "names":
            return f"I have found already, what you search is: {short(said)}."
        case "count":
            return f"Totally I have count {said.number} {said.called}."
        case "missing":
            return f"I have search it, but “{said.thing}” is not exist on this website."
        case "refused":
            return f"This I can not make, because {said.thing} is {said.reason}, sorry."
    return rng.choice(
        (
            f"For {said.thing}, {said.called} is {said.value}.",
            f"The {said.called} from {said.thing}, it is {said.value}.",
        )
    )
