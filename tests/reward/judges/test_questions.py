"""How much a judge asks at most, which a dry run plans with, against what it asks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reward.judges.episodes import episode, judged
from tests.reward.judges.protocols import PROTOCOLS
from webdojo.types import Reward, Trajectory

FACTS = {"evaluator_reference": ["It is a mug", "It is blue", "It is cheap", "It is in the cart"]}
PARTS = {"attribute": "a blue mug", "filter": "below $8", "sort": "cheapest first"}
SIZE = (64, 48)
STEP_TOKENS = 40


def long_episode(steps: int) -> Trajectory:
    """All is asked about it: it has a rubric, all parts of a query, and no screen twice."""
    return episode(steps, evaluator=FACTS | PARTS)


def images(reward: Reward) -> list[int]:
    """Of each request, in order of their number."""
    return sorted(len(each.images) for each in reward.judgements)


@pytest.mark.parametrize("steps", [1, 2, 7, 30, 70])
@pytest.mark.parametrize("name", PROTOCOLS)
async def test_an_episode_that_is_done_is_asked_about_as_much_as_is_planned(name: str, steps: int) -> None:
    protocol = PROTOCOLS[name]
    judge = protocol.make(protocol.model())
    reward = await judged(judge, long_episode(steps))
    planned = judge.questions(steps, len(FACTS["evaluator_reference"]))
    assert reward.success
    assert images(reward) == sorted(each.images for each in planned)
    asked = judge.most_asked(steps, len(FACTS["evaluator_reference"]), STEP_TOKENS, SIZE)
    assert (asked.requests, asked.images) == (len(reward.judgements), sum(images(reward)))
    assert sum(len(each.prompt) for each in reward.judgements) / 4 <= asked.text_tokens
    assert asked.answer_tokens == asked.requests * judge.sampling.max_tokens


@pytest.mark.parametrize(
    ("name", "options", "steps", "planned"),
    [
        ("openwebrl", {}, 30, [3]),
        ("openwebrl", {"max_images": 0}, 30, [31]),
        ("webvoyager", {}, 30, [15]),
        ("agenttrek", {}, 30, [1]),
        ("deepshop", {}, 30, [31]),
        ("deepshop_original", {}, 30, [15, 15, 15]),
        ("deepshop_original", {"max_images": 2}, 30, [2, 2, 2]),
        ("webgym", {}, 2, [1, 1, 3, 3, 3, 3]),
        ("webgym", {"max_images": 2}, 2, [1, 1, 2, 2, 2, 2]),
        ("webjudge", {}, 2, [0, 1, 1, 1, 3]),
        ("webjudge", {"max_images": 2}, 2, [0, 1, 1, 1, 2]),
        ("process_outcome", {}, 30, [0, 6, 6, 6, 6, 6, 1, 1, 3]),
        ("process_outcome", {"window": 31, "max_images": 0}, 30, [0, 31, 1, 31]),
    ],
)
def test_the_images_of_each_request_are_those_of_the_protocol(
    name: str, options: dict[str, Any], steps: int, planned: list[int]
) -> None:
    assert [each.images for each in PROTOCOLS[name].make(**options).questions(steps, 2)] == planned


def test_facts_cost_the_judge_of_webgym_a_request_each() -> None:
    judge = PROTOCOLS["webgym"].make()
    few, many = (judge.most_asked(10, facts, STEP_TOKENS, SIZE) for facts in (1, 9))
    assert (few.requests, many.requests) == (10 + 3, 10 + 11)
    assert many.images - few.images == 8 * 11
