"""The reasons for a verdict, in the words that a student is taught."""

from __future__ import annotations

import pytest

from webdojo.loops.distillation.labels import rationale
from webdojo.types import Judgement, Reward


def said(*answers: str) -> Reward:
    judgements = [Judgement(step="verdict", prompt="", answer=answer) for answer in answers]
    return Reward(value=0, success=False, reason="judged unsuccessful", judgements=judgements)


def checked(facts: list[bool], success: bool, reason: str = "not so") -> Reward:
    names = ["The list of Rugs was shown", "The answer is 42"]
    return Reward(value=success, success=success, reason=reason, facts=facts, fact_names=names[: len(facts)])


@pytest.mark.parametrize(
    ("reward", "words"),
    [
        (said("The cart is empty.\nSo no.\n\nNOT SUCCESS"), "The cart is empty.\nSo no."),
        (said("<think>Hm.</think>The cart is empty.\n**NOT SUCCESS**"), "The cart is empty."),
        (said("It holds.\nSUCCESS", "It does not.\nNOT SUCCESS"), "It does not."),
        (said("NOT SUCCESS"), "judged unsuccessful"),
        (checked([True, True], True), "The list of Rugs was shown. The answer is 42."),
        (checked([True, False], False), "The list of Rugs was shown. Not so: The answer is 42."),
        (
            checked([True], False, "mail.sent was changed, which was not asked for"),
            "The list of Rugs was shown. But mail.sent was changed, which was not asked for.",
        ),
        (Reward(value=1, success=True, reason="it says so"), "it says so"),
        (Reward(value=1, success=True), ""),
    ],
)
def test_a_rationale_is_what_the_judge_said_or_which_facts_hold(reward: Reward, words: str) -> None:
    assert rationale(reward) == words
