"""Held-back wordings that reply to whoever asked: by the way of the question, exactly, with a question."""

from __future__ import annotations

import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import in_words, joined, only_names, sentence, short, within


def _why(said: Answer) -> str:
    if said.sort == "refused":
        return f"{said.thing} is {said.reason}"
    return f"there is no “{said.thing}” on this site"


@wording(*SAID, "missing", "refused")
def a_reply_to_the_way_it_was_asked(said: Answer, rng: random.Random) -> str | None:
    """A reply that fits the form of the question: what to tell others, that one has checked, that one cannot do it."""
    asked = said.instruction
    if said.sort in ("missing", "refused"):
        if asked.startswith(("Can you", "Could you")):
            return f"No, I can't, because {_why(said)}."
        return (
            f"I would have liked to do this for you, but {_why(said)}." if not asked.startswith("Your task") else None
        )
    if asked.endswith("What should I say?"):
        return rng.choice((f"Tell them that {within(sentence(said))}.", f"You can say: {short(said)}."))
    if asked.endswith("Can you check?"):
        return rng.choice((f"I checked for you, and {within(sentence(said))}.", f"Yes. {sentence(said)}."))
    return f"Sure! {sentence(said)}." if asked.startswith(("Could you", "Can you")) else None


@wording(*SAID)
def visible_on_the_page_and_so_done(said: Answer, rng: random.Random) -> str:
    """That the page on the screen shows it, and that no further steps are needed."""
    return rng.choice(
        (
            f"{sentence(said)}, as can be seen on the current page. No further steps are needed.",
            f"The page in the screenshot answers the question. {sentence(said)}.",
        )
    )


@wording("count", "value")
def exactly_so_many(said: Answer, rng: random.Random) -> str | None:
    """The number, and that it is exact."""
    if said.number is None or said.year:
        return None
    if said.sort == "count":
        return f"Exactly {said.number} {said.called}, no more and no fewer."
    return rng.choice((f"Exactly {said.value}.", f"The {said.called} of {said.thing} is exactly {said.value}."))


@wording("names")
def only_these_and_no_others(said: Answer, rng: random.Random) -> str | None:
    """All names in quotation marks, and that there are no others."""
    if said.ordered:
        return None
    names = joined([f"“{name}”" for name in only_names(said)])
    return rng.choice((f"Only {names}, and no others.", f"{names}. Nothing else on the site meets the conditions."))


@wording("names")
def names_in_that_order(said: Answer, rng: random.Random) -> str | None:
    """All names, and that this is their order."""
    if not said.ordered or len(said.names) < 2:
        return None
    names = joined(only_names(said))
    many = in_words(len(said.names))
    return rng.choice(
        (f"{names}, in that order.", f"In the order you asked for, the {many} {said.called} are {names}.")
    )


@wording(*SAID, "missing", "refused")
def with_a_question_at_the_end(said: Answer, rng: random.Random) -> str:
    """The answer, and a question whether there is more to do."""
    more = ("Is there anything else I can help you with?", "Would you like me to look up something else on this site?")
    return f"{sentence(said)}. {rng.choice(more)}"
