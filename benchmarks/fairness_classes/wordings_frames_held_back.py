"""The half of the classes of `wordings_frames.py` that is held back."""

from __future__ import annotations

import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short


@wording(*SAID)
def bold(said: Answer, rng: random.Random) -> str:
    """The answer in bold markdown, alone or in a sentence."""
    return rng.choice((f"**{short(said)}**", f"The answer is **{short(said)}**."))


@wording(*SAID)
def in_backticks(said: Answer, rng: random.Random) -> str:
    """The answer as code."""
    return f"`{short(said)}`"


@wording(*SAID)
def in_a_box(said: Answer, rng: random.Random) -> str:
    """The answer in a box, as models trained on mathematics say it."""
    return f"\\boxed{{{short(said)}}}"


@wording(*SAID, "missing", "refused")
def in_tags(said: Answer, rng: random.Random) -> str:
    """The answer between tags."""
    return f"<answer>{short(said)}</answer>"


@wording(*SAID, "missing", "refused")
def politely(said: Answer, rng: random.Random) -> str:
    """With an opening and a closing phrase."""
    return f"Sure! {sentence(said)}. {rng.choice(('Let me know if you need anything else.', 'I hope this helps!'))}"


@wording(*SAID, "missing", "refused")
def after_the_question(said: Answer, rng: random.Random) -> str:
    """The question once more, and then the answer."""
    return f"You asked: “{said.instruction}”\n\n{sentence(said)}."


@wording(*SAID)
def after_a_statement_of_the_task(said: Answer, rng: random.Random) -> str:
    """What was to be found in other words, and then the answer."""
    return f"The task was: {said.restated} I looked it up. The answer: {short(said)}."


@wording(*SAID)
def with_the_address(said: Answer, rng: random.Random) -> str:
    """The answer with the address where it was found."""
    return f"{short(said)} (source: {said.url})"


@wording(*SAID)
def in_quotation_marks(said: Answer, rng: random.Random) -> str:
    """The answer in quotation marks."""
    return rng.choice(("“{}”", '"{}"', "'{}'")).format(short(said))


@wording(*SAID)
def as_a_heading_and_a_list(said: Answer, rng: random.Random) -> str:
    """Markdown with a heading and a bullet."""
    return f"## Result\n\n- {sentence(said)}."


@wording(*SAID)
def in_small_letters(said: Answer, rng: random.Random) -> str | None:
    """The answer in small letters."""
    text = short(said).lower()
    return text if text != short(said) else None
