"""WebGym: key screenshots, a site that shuts agents out, claims, facts, and a reference answer."""

from __future__ import annotations

import pytest

from tests.reward.judges.episodes import Model, episode, judged
from tests.reward.judges.protocols import GOOD, PROTOCOLS, RUBRIC, image, labels
from webdojo.reward.judges import webgym


def yes_for(*numbers: int):
    return lambda text: "YES" if labels(text.split("\n"))[0] in numbers else "NO"


async def test_webgym_shows_key_screenshots_and_always_the_last() -> None:
    protocol = PROTOCOLS["webgym"]
    model = Model({**protocol.replies, webgym.KEY_SCREENSHOT: yes_for(2)})
    reward = await judged(protocol.make(model), episode(4, evaluator=RUBRIC))
    assert [labels(asked.texts) for asked in model.about(webgym.KEY_SCREENSHOT)] == [[1], [2], [3], [4]]
    for system in (webgym.BLOCKING, webgym.CLAIMS, webgym.FACT):
        for asked in model.about(system):
            assert asked.images == [image(2), image(5)]
    assert reward.parts == {"key_screenshots": 2, "criterion_b": 1, "fact_1": 1, "fact_2": 1}


async def test_webgym_may_show_the_last_key_screenshots_alone() -> None:
    protocol = PROTOCOLS["webgym"]
    model = protocol.model()
    await judged(protocol.make(model, max_images=2), episode(4, evaluator=RUBRIC))
    assert all(labels(asked.texts) == [4, 5] for asked in model.about(webgym.CLAIMS) + model.about(webgym.FACT))


async def test_webgym_asks_in_the_order_of_the_protocol() -> None:
    protocol = PROTOCOLS["webgym"]
    reward = await judged(protocol.make(protocol.model()), episode(2, evaluator=RUBRIC))
    assert [judgement.step for judgement in reward.judgements] == [
        "screenshot 1",
        "screenshot 2",
        "blocking",
        "criterion B",
        "criterion A, fact 1",
        "criterion A, fact 2",
    ]


async def test_webgym_stops_at_the_first_fact_that_is_not_shown() -> None:
    protocol = PROTOCOLS["webgym"]
    facts = {"evaluator_reference": ["one", "two", "three"]}
    model = Model({**protocol.replies, webgym.FACT: [GOOD, "NOT SUCCESS", GOOD]})
    reward = await judged(protocol.make(model), episode(evaluator=facts))
    assert len(model.about(webgym.FACT)) == 2
    assert (reward.value, reward.valid) == (0, True)
    assert reward.reason == "criterion A: fact 2 of 3 is not shown: two"
    assert (reward.parts["fact_1"], reward.parts["fact_2"], "fact_3" in reward.parts) == (1, 0, False)


async def test_webgym_asks_about_no_fact_where_the_answer_is_made_up() -> None:
    protocol = PROTOCOLS["webgym"]
    model = Model({**protocol.replies, webgym.CLAIMS: "NOT SUCCESS"})
    reward = await judged(protocol.make(model), episode(evaluator=RUBRIC))
    assert (reward.value, reward.valid, model.about(webgym.FACT)) == (0, True, [])
    assert reward.reason.startswith("criterion B")
    assert reward.parts["criterion_b"] == 0


async def test_webgym_excuses_an_agent_that_was_shut_out() -> None:
    protocol = PROTOCOLS["webgym"]
    model = Model({**protocol.replies, webgym.BLOCKING: "A CAPTCHA.\nYES"})
    reward = await judged(protocol.make(model), episode(evaluator=RUBRIC))
    assert (reward.valid, reward.cause, reward.value) == (False, "blocked", 0)
    assert model.about(webgym.CLAIMS) == []
    assert len(reward.judgements) == 4


async def test_webgym_tells_each_question_what_it_needs() -> None:
    protocol = PROTOCOLS["webgym"]
    model = protocol.model()
    await judged(protocol.make(model), episode(evaluator=RUBRIC))
    (claims,), (first, second) = model.about(webgym.CLAIMS), model.about(webgym.FACT)
    assert "Step 1" not in claims.text
    assert 'Fact: "It is a mug"' in first.text
    assert 'Its group: "the mug"' in first.text
    assert 'Fact: "It is the cheapest"' in second.text
    assert "It is a mug" not in second.text
    assert "Step 1: action=" in first.text
    assert '["It is a mug", "It is the cheapest"]' in model.about(webgym.KEY_SCREENSHOT)[0].text
    assert "Step 1: action=" in model.about(webgym.BLOCKING)[0].text


REFERENCED = {**RUBRIC, "definite_answer": "blue  mug, $7 "}


@pytest.mark.parametrize(("reference", "answer"), [("blue  mug, $7 ", "Blue Mug, $7"), (0, "0"), (7.5, " 7.5\n")])
async def test_a_reference_answer_that_is_given_needs_no_judge(reference: object, answer: str) -> None:
    model = PROTOCOLS["webgym"].model()
    given = episode(answer=answer, evaluator={**RUBRIC, "definite_answer": reference})
    reward = await judged(PROTOCOLS["webgym"].make(model), given)
    assert (reward.value, reward.parts, model.asked) == (1, {"reference": 1}, [])


@pytest.mark.parametrize("answer", ["The blue mug for seven dollars", "7", "Blue Mug, $70"])
async def test_a_reference_answer_overrides_the_rubric(answer: str) -> None:
    protocol = PROTOCOLS["webgym"]
    right = Model({webgym.REFERENCE: GOOD})
    reward = await judged(protocol.make(right), episode(answer=answer, evaluator=REFERENCED))
    assert (reward.value, reward.parts, len(right.asked)) == (1, {"reference": 1}, 1)
    assert '"blue  mug, $7"' in right.asked[0].text
    assert right.asked[0].images == []

    wrong = Model({**protocol.replies, webgym.REFERENCE: "NOT SUCCESS"})
    reward = await judged(protocol.make(wrong), episode(answer=answer, evaluator=REFERENCED))
    assert (reward.value, reward.valid, reward.parts) == (0, True, {"reference": 0})
    assert wrong.about(webgym.CLAIMS) + wrong.about(webgym.FACT) == []

    shut_out = Model({**wrong.replies, webgym.BLOCKING: "YES"})
    reward = await judged(protocol.make(shut_out), episode(answer=answer, evaluator=REFERENCED))
    assert (reward.valid, reward.cause) == (False, "blocked")
