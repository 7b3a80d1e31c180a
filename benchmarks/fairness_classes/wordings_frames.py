"""What stands around an answer of any sort: politeness, markdown, explanations."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short, within


@wording(*SAID)
def bare(said: Answer, rng: random.Random) -> str:
    """Nothing but the answer."""
    return short(said)


@wording(*SAID, "missing", "refused")
def with_a_full_stop(said: Answer, rng: random.Random) -> str:
    """The answer with a full stop."""
    return f"{short(said)}."


@wording(*SAID, "missing", "refused")
def a_plain_sentence(said: Answer, rng: random.Random) -> str:
    """A sentence that says what the answer is."""
    return f"{sentence(said)}."


@wording(*SAID, "missing", "refused")
def according_to_the_site(said: Answer, rng: random.Random) -> str:
    """A sentence that names its source."""
    return f"According to the site, {within(sentence(said))}."


@wording(*SAID, "missing", "refused")
def as_json(said: Answer, rng: random.Random) -> str:
    """The answer as a JSON object."""
    return json.dumps({rng.choice(("answer", "result", "final_answer")): short(said)}, ensure_ascii=False)


@wording(*SAID, "missing", "refused")
def after_the_word_answer(said: Answer, rng: random.Random) -> str:
    """The answer after a label."""
    return f"{rng.choice(('Answer', 'ANSWER', 'Result'))}: {short(said)}"


@wording(*SAID, "missing", "refused")
def as_the_final_answer(said: Answer, rng: random.Random) -> str:
    """The phrase that many agents end with."""
    return f"{rng.choice(('Final answer', 'FINAL ANSWER', 'The final answer is'))}: {short(said)}"


@wording(*SAID, "missing", "refused")
def after_how_it_was_found(said: Answer, rng: random.Random) -> str:
    """An explanation of how it was found, and then the answer."""
    return f"{said.steps}. {sentence(said)}."


@wording(*SAID)
def before_how_it_was_found(said: Answer, rng: random.Random) -> str:
    """The answer, and then how it was found."""
    return f"{short(said)}. {said.steps}."


@wording(*SAID, "missing", "refused")
def in_two_paragraphs(said: Answer, rng: random.Random) -> str:
    """A remark, and the answer in a paragraph of its own."""
    return f"I have found the information that you are looking for.\n\n{sentence(said)}."


@wording(*SAID)
def it_is(said: Answer, rng: random.Random) -> str:
    """The answer after `It is`."""
    start = "They are" if said.sort == "names" else rng.choice(("It is", "It’s", "It's", "That would be"))
    return f"{start} {short(said)}."


@wording(*SAID, "missing", "refused")
def after_i_found_that(said: Answer, rng: random.Random) -> str:
    """In the first person."""
    start = rng.choice(("I found that", "I can see that", "After looking around, I can tell you that"))
    return f"{start} {within(sentence(said))}."


@wording(*SAID)
def in_capitals(said: Answer, rng: random.Random) -> str | None:
    """The answer in capitals."""
    text = short(said).upper()
    return text if text != short(said) else None


@wording(*SAID)
def thinks_before_answering(said: Answer, rng: random.Random) -> str:
    """Thoughts as a model writes them, and then the answer."""
    return f"The page shows what I need, so the task is complete.\n\nAnswer: {short(said)}"
