"""Held-back wordings by which agents end: what they see, what they did, that they checked it, and that they stop."""

from __future__ import annotations

import json
import random

from fairness_classes.asked import SAID, Answer
from fairness_classes.kinds_of_classes import wording
from fairness_classes.saying import sentence, short, within


def _says_no(said: Answer) -> bool:
    """The value itself says no, which does not go with a yes or in a hasty phrase."""
    return said.value.lower().split()[0] in ("no", "none", "not")


@wording(*SAID)
def delighted_to_see_it(said: Answer, rng: random.Random) -> str:
    """A word of delight, and what one can see now."""
    start = rng.choice(
        (
            "Perfect! I can see that",
            "Great, the page has loaded. I can now see that",
            "Excellent! I have found the information. I can see that",
        )
    )
    return f"{start} {within(sentence(said))}."


@wording(*SAID)
def told_in_one_sentence(said: Answer, rng: random.Random) -> str:
    """What one did and what this showed, all in one sentence."""
    did = said.steps.removeprefix("I ")
    return rng.choice(
        (
            f"I went to the website, {did}, and found that {within(sentence(said))}.",
            f"To answer your question, I {did}, which showed me that {within(sentence(said))}.",
        )
    )


@wording(*SAID)
def before_a_call_that_ends_the_run(said: Answer, rng: random.Random) -> str:
    """The answer in plain words, and behind it a call that only ends the run."""
    call = json.dumps({"name": "computer_use", "arguments": {"action": "terminate", "status": "success"}})
    return rng.choice(
        (
            f"{sentence(said)}.\n<tool_call>\n{call}\n</tool_call>",
            f"Thought: {sentence(said)}. That is all that the task asks for, so I can finish.\nAction: finished()",
        )
    )


@wording(*SAID, "missing", "refused")
def with_a_sign_that_ends_the_run(said: Answer, rng: random.Random) -> str:
    """The answer, and the sign by which a conversation of agents or a text of a model ends."""
    end = rng.choice(("\n\nTERMINATE", " ##TERMINATE TASK##", "<|im_end|>", "</s>"))
    return f"{rng.choice((short(said), f'{sentence(said)}.'))}{end}"


@wording(*SAID)
def after_a_check_of_oneself(said: Answer, rng: random.Random) -> str | None:
    """That one looks once more before one answers, and that it is right."""
    if _says_no(said):
        return None
    return rng.choice(
        (
            f"Let me double-check that {within(sentence(said))}. Yes, this is correct.",
            f"Wait, let me look at it once more. Yes, it is as I thought. So the answer is {short(said)}.",
            f"{sentence(said)}. Let me verify this on the site. It says the same, so this is my final answer.",
        )
    )


@wording(*SAID)
def with_how_sure_one_is(said: Answer, rng: random.Random) -> str:
    """The answer, and below it that one is sure of it."""
    text = short(said)
    return rng.choice(
        (
            f"{sentence(said)}.\n\nConfidence: high",
            f"Answer: {text}\nConfidence: 100%",
            json.dumps({"answer": text, "confidence": "high"}, ensure_ascii=False),
        )
    )


@wording(*SAID)
def typed_in_haste(said: Answer, rng: random.Random) -> str | None:
    """What a person types who leaves out apostrophes and full stops."""
    if _says_no(said):
        return None
    if len(said.names) > 1 and said.sort == "names":
        return rng.choice(("its these: {}", "theyre {}", "ok looked it up, its {}")).format(short(said))
    return rng.choice(("its {}", "thats {}", "ok looked it up, its {}")).format(short(said))
