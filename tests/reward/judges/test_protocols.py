"""What each protocol asks, in which order and with which screenshots, and what it decides from the answers."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import Mapping

import pytest
from PIL import Image

from tests.reward.judges.episodes import IMAGES, Model, episode, judged, script, seen, shot
from tests.reward.judges.protocols import (
    CRITERIA,
    FINDINGS,
    GOOD,
    PROTOCOLS,
    QUERY,
    RUBRIC,
    explained,
    scores,
)
from webdojo.errors import BudgetError, ConfigError, EngineError, Failure, TaskError
from webdojo.policy.engine import EngineConfig
from webdojo.reward.gate import Scorer
from webdojo.reward.judges import deepshop, openwebrl, process_outcome, webgym, webjudge, webvoyager
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import Judge, passed
from webdojo.reward.judges.rubric import Fact, facts_of
from webdojo.reward.judges.verdict import YES_NO, choice
from webdojo.types import Task


def image(number: int) -> str:
    """The screenshot of a step as it is sent."""
    return f"data:image/png;base64,{base64.b64encode(IMAGES.get(shot(number))).decode()}"


def labels(texts: list[str]) -> list[int]:
    return [int(text.split()[1].strip(",")) for text in texts if text.startswith("Screenshot ")]


# --- all of them ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROTOCOLS)
async def test_a_task_that_is_done_is_a_success_and_all_that_was_said_is_kept(name: str) -> None:
    protocol = PROTOCOLS[name]
    model = protocol.model()
    reward = await judged(protocol.make(model), episode(evaluator=protocol.evaluator))
    assert (reward.value, reward.success, reward.valid, reward.cause) == (1, True, True, "")
    assert len(model.asked) == len(reward.judgements) == protocol.calls
    for judgement in reward.judgements:
        (asked,) = [
            asked
            for asked in model.asked
            if judgement.prompt.startswith(asked.system)
            and len(asked.images) == len(judgement.images)
            and all(text in judgement.prompt for text in asked.texts)
        ]
        assert judgement.step
        assert [base64.b64decode(url.partition(",")[2]) for url in asked.images] == [
            IMAGES.get(each) for each in judgement.images
        ]
        for number, text in enumerate((text for text in asked.texts if text.startswith("Screenshot ")), 1):
            assert f"{text} [image {number}]" in judgement.prompt
    assert {judgement.answer for judgement in reward.judgements} <= set(map(str, protocol.replies.values()))


@pytest.mark.parametrize("name", PROTOCOLS)
async def test_a_task_that_is_not_done_is_a_failure(name: str) -> None:
    protocol = PROTOCOLS[name]
    reward = await judged(protocol.make(protocol.model(verdict=protocol.bad)), episode(evaluator=protocol.evaluator))
    assert (reward.value, reward.success, reward.valid, reward.cause) == (0, False, True, "")
    assert reward.reason


@pytest.mark.parametrize("name", PROTOCOLS)
async def test_every_question_is_put_once_more_and_then_given_up(name: str) -> None:
    protocol = PROTOCOLS[name]
    for question, good in protocol.replies.items():
        rubbish = "" if question == webjudge.KEY_POINTS else 'I think "SUCCESS", Status: success, YES\nso it is'
        once = Model({**protocol.replies, question: [rubbish, str(good)]})
        reward = await judged(protocol.make(once), episode(evaluator=protocol.evaluator))
        assert (reward.success, reward.valid) == (True, True)
        (again,) = [asked for asked in once.about(question) if "could not be read" in asked.texts[-1]]
        assert json.dumps(rubbish) in again.texts[-1]
        assert any(asked.texts == again.texts[:-1] and asked.images == again.images for asked in once.about(question))

        never = Model({**protocol.replies, question: rubbish})
        reward = await judged(protocol.make(never), episode(evaluator=protocol.evaluator))
        assert (reward.value, reward.success, reward.valid, reward.cause) == (0, False, False, "unreadable")
        assert "could not be read" in reward.reason
        assert [judgement.answer for judgement in reward.judgements].count(rubbish) >= 2
        assert any("could not be read" in judgement.prompt for judgement in reward.judgements)


@pytest.mark.parametrize("name", PROTOCOLS)
async def test_a_model_that_does_not_answer_makes_an_episode_invalid(name: str) -> None:
    protocol = PROTOCOLS[name]
    for question in protocol.replies:

        def fail(text: str) -> str:
            raise EngineError("nobody there")

        lost = episode(evaluator=protocol.evaluator)
        reward = await judged(protocol.make(Model({**protocol.replies, question: fail})), lost)
        assert (reward.value, reward.valid, reward.cause) == (0, False, "reward_failed")
        assert "nobody there" in reward.reason
        assert lost.failure == Failure.REWARD_FAILED


@pytest.mark.parametrize("name", PROTOCOLS)
async def test_an_empty_budget_is_not_a_verdict(name: str) -> None:
    protocol = PROTOCOLS[name]
    for question in protocol.replies:

        def refuse(text: str) -> str:
            raise BudgetError("all spent")

        unjudged = episode(evaluator=protocol.evaluator)
        with pytest.raises(BudgetError, match="all spent"):
            await judged(protocol.make(Model({**protocol.replies, question: refuse})), unjudged)
        assert unjudged.reward is None


@pytest.mark.parametrize(
    "name", ["openwebrl", "webvoyager", "deepshop", "deepshop_original", "webgym", "process_outcome"]
)
async def test_an_episode_without_an_answer_has_failed_unasked(name: str) -> None:
    protocol = PROTOCOLS[name]
    model = protocol.model()
    reward = await judged(protocol.make(model), episode(answer="  ", evaluator=protocol.evaluator))
    assert (reward.value, reward.valid, reward.reason, model.asked) == (0, True, "no answer", [])


@pytest.mark.parametrize("name", ["webvoyager", "deepshop", "deepshop_original"])
async def test_nor_is_anyone_asked_where_the_environment_ended_it(name: str) -> None:
    protocol = PROTOCOLS[name]
    model = protocol.model()
    reward = await judged(protocol.make(model), episode(answer=None, evaluator=protocol.evaluator))
    assert (reward.value, reward.valid, model.asked) == (0, True, [])


READ_THE_ANSWER = {
    openwebrl.SYSTEM,
    webvoyager.SYSTEM,
    deepshop.SYSTEM,
    webgym.CLAIMS,
    process_outcome.PROCESS,
    process_outcome.OUTCOME,
}


@pytest.mark.parametrize("name", PROTOCOLS)
async def test_the_final_answer_is_shown_to_the_questions_that_are_about_it(name: str) -> None:
    protocol = PROTOCOLS[name]
    model = protocol.model()
    await judged(protocol.make(model), episode(evaluator=protocol.evaluator))
    for asked in model.asked:
        shown = 'Final answer of the agent: "Blue Mug, $7"' in asked.text
        assert shown is (asked.system in READ_THE_ANSWER), asked.system


@pytest.mark.parametrize("name", ["webjudge", "agenttrek"])
async def test_a_protocol_that_judges_actions_needs_no_answer(name: str) -> None:
    protocol = PROTOCOLS[name]
    assert (await judged(protocol.make(protocol.model()), episode(answer=""))).success


DEFAULTS = {
    "openwebrl": (3, 0, 2048, None),
    "webvoyager": (15, 0, 1000, 42),
    "webjudge": (50, 0, 2048, None),
    "agenttrek": (1, 0, 2048, None),
    "deepshop": (0, 0, 1000, 42),
    "webgym": (0, 0, 2048, None),
    "process_outcome": (3, 0, 4096, None),
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_defaults_are_those_of_the_protocol(name: str) -> None:
    judge = PROTOCOLS[name].make()
    sampling = judge.sampling
    assert (judge.max_images, sampling.temperature, sampling.max_tokens, sampling.seed) == DEFAULTS[name]
    assert judge.name == name
    assert judge.costs
    assert not judge.scores_unfinished


async def test_questions_that_are_put_at_once_are_dropped_when_one_of_them_fails() -> None:
    dropped: list[str] = []
    others = asyncio.Barrier(4)

    class Slow(Model):
        async def say(self, messages, sampling):
            said = self.reply(messages)
            text = self.asked[-1].text
            if messages[0]["content"] == webjudge.SCREENSHOT and "could not be read" not in text:
                await others.wait()
                if "Screenshot 2," not in text:
                    try:
                        await asyncio.sleep(30)
                    except asyncio.CancelledError:
                        dropped.append(text)
                        raise
            return said

    protocol = PROTOCOLS["webjudge"]
    model = Slow({**protocol.replies, webjudge.SCREENSHOT: "no score"})
    async with asyncio.timeout(10):
        reward = await judged(protocol.make(model), episode())
    assert reward.cause == "unreadable"
    assert len(dropped) == 3


# --- the pictures ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "options", "mime", "size"),
    [
        ((64, 48), {}, "image/png", (64, 48)),
        ((64, 48), {"image_max_side": 32}, "image/png", (32, 24)),
        ((64, 48), {"image_max_side": 64}, "image/png", (64, 48)),
        ((64, 48), {"image_max_side": 63}, "image/png", (63, 47)),
        ((48, 64), {"image_max_side": 48}, "image/png", (36, 48)),
        ((64, 48), {"image_format": "jpeg"}, "image/jpeg", (64, 48)),
        ((64, 48), {"image_format": "webp", "image_max_side": 16}, "image/webp", (16, 12)),
        ((64, 48), {"image_format": "png"}, "image/png", (64, 48)),
    ],
)
async def test_screenshots_are_sent_in_the_size_and_format_that_is_asked_for(stored, options, mime, size) -> None:
    protocol = PROTOCOLS["openwebrl"]
    model = protocol.model()
    final = seen(4).model_copy(update={"screenshot": shot(4, *stored)})
    await judged(protocol.make(model, **options), episode(final=final))
    url = model.asked[0].images[-1]
    assert url.startswith(f"data:{mime};base64,")
    picture = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    assert (picture.format, picture.size) == (mime.removeprefix("image/").upper(), size)


# --- OpenWebRL, WebVoyager, AgentTrek ----------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "steps", "options", "shown"),
    [
        ("openwebrl", 5, {}, [4, 5, 6]),
        ("openwebrl", 1, {}, [1, 2]),
        ("openwebrl", 5, {"max_images": 1}, [6]),
        ("openwebrl", 5, {"max_images": 0}, [1, 2, 3, 4, 5, 6]),
        ("webvoyager", 20, {}, list(range(7, 22))),
        ("webvoyager", 20, {"max_images": 0}, list(range(1, 22))),
        ("agenttrek", 5, {}, [6]),
        ("agenttrek", 5, {"max_images": 2}, [5, 6]),
        ("deepshop", 20, {}, list(range(1, 22))),
        ("deepshop", 20, {"max_images": 2}, [20, 21]),
        ("deepshop_original", 20, {}, list(range(7, 22))),
        ("deepshop_original", 20, {"max_images": 2}, [20, 21]),
    ],
)
async def test_the_last_screenshots_are_shown_each_with_its_step(name, steps, options, shown) -> None:
    protocol = PROTOCOLS[name]
    model = protocol.model()
    await judged(protocol.make(model, **options), episode(steps, evaluator=protocol.evaluator))
    for asked in model.asked:
        assert labels(asked.texts) == shown
        assert asked.images == [image(number) for number in shown]


async def test_openwebrl_is_given_task_and_history_but_no_thoughts() -> None:
    model = PROTOCOLS["openwebrl"].model()
    await judged(PROTOCOLS["openwebrl"].make(model), episode())
    (asked,) = model.asked
    assert '"Find the cheapest mug"' in asked.text
    assert 'Step 2: action=[{"click": {"x": 1, "y": 2}}] feedback=["clicked 2"]' in asked.text
    assert "thought" not in asked.text


async def test_webvoyager_is_given_no_actions() -> None:
    model = PROTOCOLS["webvoyager"].model()
    await judged(PROTOCOLS["webvoyager"].make(model), episode())
    (asked,) = model.asked
    assert '"Find the cheapest mug"' in asked.text
    assert "clicked" not in asked.text


async def test_agenttrek_is_given_thoughts_and_actions() -> None:
    model = PROTOCOLS["agenttrek"].model()
    await judged(PROTOCOLS["agenttrek"].make(model), episode())
    (asked,) = model.asked
    assert 'Step 1: thought="thought 1" action=[{"click"' in asked.text


@pytest.mark.parametrize("name", ["openwebrl", "webvoyager"])
@pytest.mark.parametrize(("said", "success"), [("SUCCESS", True), ("NOT SUCCESS", False)])
async def test_the_words_decide(name: str, said: str, success: bool) -> None:
    protocol = PROTOCOLS[name]
    assert (await judged(protocol.make(protocol.model(verdict=said)), episode())).success is success
    wrong = await judged(protocol.make(protocol.model(verdict=f"Status: {said}")), episode())
    assert wrong.cause == "unreadable"


@pytest.mark.parametrize("name", ["agenttrek", "webjudge"])
@pytest.mark.parametrize(("said", "success"), [("Status: success", True), ("Status: failure", False)])
async def test_the_status_decides(name: str, said: str, success: bool) -> None:
    protocol = PROTOCOLS[name]
    assert (await judged(protocol.make(protocol.model(verdict=said)), episode())).success is success
    for wrong in ("success", "Verdict: success", "Status: not success"):
        assert (await judged(protocol.make(protocol.model(verdict=wrong)), episode())).cause == "unreadable"


# --- WebJudge -----------------------------------------------------------------------------------


def by_screenshot(scores: dict[int, int]):
    def say(text: str) -> str:
        (number,) = labels(text.split("\n"))
        return f"Reason {number}\nScore: {scores.get(number, 1)}"

    return say


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, [1, 3, 4]),
        ({"score_threshold": 4}, [3, 4]),
        ({"score_threshold": 5}, [4]),
        ({"score_threshold": 1}, [1, 2, 3, 4, 5]),
        ({"max_images": 2}, [1, 3]),
        ({"max_images": 0}, [1, 3, 4]),
    ],
)
async def test_webjudge_keeps_the_first_screenshots_of_enough_score_with_their_reasons(options, shown) -> None:
    protocol = PROTOCOLS["webjudge"]
    model = Model({**protocol.replies, webjudge.SCREENSHOT: by_screenshot({1: 3, 2: 2, 3: 4, 4: 5})})
    reward = await judged(protocol.make(model, **options), episode(4))
    (asked,) = model.about(webjudge.VERDICT)
    assert labels(asked.texts) == shown
    assert asked.images == [image(number) for number in shown]
    reasons = [text for text in asked.texts if text.startswith("What it shows: ")]
    assert reasons == [f'What it shows: "Reason {number}"' for number in shown]
    assert 'Key points: "1. a mug\\n2. cheapest"' in asked.text
    assert "Step 1: action=" in asked.text
    assert "Blue Mug" not in asked.text.replace('{"done": {"answer": "Blue Mug, $7"}}', "")
    assert reward.parts == {"screenshots": 5, "screenshots_kept": len(shown)}
    assert reward.success


async def test_webjudge_decides_without_screenshots_where_none_matters() -> None:
    protocol = PROTOCOLS["webjudge"]
    model = Model({**protocol.replies, webjudge.SCREENSHOT: "Nothing.\nScore: 2"})
    assert (await judged(protocol.make(model), episode())).success
    assert model.about(webjudge.VERDICT)[0].images == []


async def test_webjudge_asks_for_key_points_from_the_task_alone() -> None:
    model = PROTOCOLS["webjudge"].model()
    await judged(PROTOCOLS["webjudge"].make(model), episode())
    (asked,) = model.about(webjudge.KEY_POINTS)
    assert asked.images == []
    assert "mug" in asked.text
    assert "Blue Mug" not in asked.text
    assert all(len(each.images) == 1 for each in model.about(webjudge.SCREENSHOT))
    assert all("Key points: " in each.text for each in model.about(webjudge.SCREENSHOT))


@pytest.mark.parametrize("said", ["Score: 0", "Score: 6", "Score: 3.5", "3", "Score: 3/5", "Score: three", "Score: -3"])
async def test_webjudge_reads_no_other_scores(said: str) -> None:
    protocol = PROTOCOLS["webjudge"]
    model = Model({**protocol.replies, webjudge.SCREENSHOT: said})
    assert (await judged(protocol.make(model), episode())).cause == "unreadable"
    assert model.about(webjudge.VERDICT) == []


# --- DeepShop -----------------------------------------------------------------------------------


@pytest.mark.parametrize("said", [1, "true", None, [True]])
async def test_deepshop_takes_true_and_false_alone(said: object) -> None:
    protocol = PROTOCOLS["deepshop"]
    assert (await judged(protocol.make(protocol.model(verdict=explained(said))), episode())).cause == "unreadable"


@pytest.mark.parametrize("answers", [{"mug": GOOD}, {"mug": "NOT SUCCESS"}])
@pytest.mark.parametrize("last", [GOOD, "NOT SUCCESS"])
async def test_deepshops_own_verdict_is_the_product_of_the_parts_that_are_asked_for(answers, last) -> None:
    protocol = PROTOCOLS["deepshop_original"]

    def say(text: str) -> str:
        return answers["mug"] if "a blue mug" in text else last

    model = Model({webvoyager.SYSTEM: say})
    reward = await judged(protocol.make(model), episode(evaluator=QUERY))
    verdicts = {"attribute": float(answers["mug"] == GOOD), "sort": float(last == GOOD)}
    assert reward.parts == verdicts
    assert reward.value == verdicts["attribute"] * verdicts["sort"]
    assert [asked.texts[0] for asked in model.asked] == ['Task: "a blue mug"', 'Task: "cheapest first"']
    assert all("Find the cheapest mug" not in asked.text for asked in model.asked)
    wrong = [part for part, value in verdicts.items() if not value]
    assert reward.reason == (f"judged unsuccessful: {', '.join(wrong)}" if wrong else "judged successful")


def task_with(evaluator: Mapping[str, object]) -> Task:
    return Task(
        id="t", instruction="Do it", start_url="http://a.example/", website="a.example", evaluator=dict(evaluator)
    )


def test_deepshops_own_variant_needs_a_query() -> None:
    own, molmo = deepshop.DeepShopJudge(variant="original"), deepshop.DeepShopJudge()
    for evaluator in ({}, {"attribute": "None", "filter": "", "sort": None}, {"attribute": " None "}):
        with pytest.raises(TaskError, match="attribute, filter, sort"):
            own.check(task_with(evaluator))
        molmo.check(task_with(evaluator))
    own.check(task_with({"sort": "cheapest"}))


# --- WebGym -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("rubric", "facts"),
    [
        ("a mug", [Fact("", "a mug")]),
        (["a mug", "blue"], [Fact("", "a mug"), Fact("", "blue")]),
        (
            [{"id": 1, "description": "mug", "facts": ["a", "b"]}, {"id": 2, "description": "price", "facts": ["c"]}],
            [Fact("mug", "a"), Fact("mug", "b"), Fact("price", "c")],
        ),
        ([{"facts": ["a"]}, "b"], [Fact("", "a"), Fact("", "b")]),
        (None, [Fact("", "Do it")]),
        ("", [Fact("", "Do it")]),
        ([], [Fact("", "Do it")]),
    ],
)
def test_a_rubric_has_the_forms_of_webgyms_task_sets(rubric: object, facts: list[Fact]) -> None:
    assert facts_of(task_with({"evaluator_reference": rubric})) == facts
    assert facts_of(task_with({})) == [Fact("", "Do it")]


@pytest.mark.parametrize(
    "rubric", [7, {"facts": ["a"]}, [7], [{"facts": []}], [{"facts": "a"}], [{"facts": [1]}], [{"id": 1}], [" "], [{}]]
)
def test_a_rubric_of_another_form_is_one_line_before_the_task_runs(rubric: object) -> None:
    with pytest.raises(TaskError, match="task 't' has"):
        webgym.WebGymJudge().check(task_with({"evaluator_reference": rubric}))


# --- process and outcome ------------------------------------------------------------------------


async def process(outcome: str, *scored: tuple[float, str], **options: object):
    protocol = PROTOCOLS["process_outcome"]
    model = Model(
        {
            **protocol.replies,
            process_outcome.PROCESS: scores(*scored),
            process_outcome.OUTCOME: f"Outcome: {outcome}",
        }
    )
    return await judged(protocol.make(model, **options), episode()), model


@pytest.mark.parametrize(
    ("outcome", "scored", "value", "valid", "parts"),
    [
        ("SUCCESS", [(1, "none"), (1, "none")], 1, True, (1.0, 1, 0)),
        ("SUCCESS", [(0, "agent"), (1, "none")], 1, True, (0.25, 1, 0)),
        ("FAILURE", [(1, "none"), (0, "agent")], 0, True, (0.75, 0, 0)),
        ("FAILURE", [(1, "none"), (0, "environment")], 0, True, (0.75, 0, 1)),
        ("PREVENTED", [(0.5, "agent"), (0, "agent")], 0, True, (0.375, 0, 0)),
        ("PREVENTED", [(1, "none"), (0, "environment")], 0, False, (0.75, 0, 1)),
        ("PREVENTED", [(1, "environment"), (1, "environment")], 0, True, (1.0, 0, 0)),
        ("PREVENTED", [(0, "environment"), (0, "environment")], 0, False, (0.0, 0, 2)),
    ],
)
async def test_process_is_scored_apart_and_the_outcome_decides(outcome, scored, value, valid, parts) -> None:
    reward, _ = await process(outcome, *scored)
    assert (reward.value, reward.success, reward.valid) == (value, bool(value), valid)
    assert reward.cause == ("" if valid else "uncontrollable")
    assert (reward.parts["process"], reward.parts["outcome"], reward.parts["uncontrollable"]) == parts
    assert [reward.parts[f"criterion_{n}"] for n in (1, 2)] == [share for share, _ in scored]


@pytest.mark.parametrize(("window", "seen"), [(6, [[1, 2, 3, 4]]), (2, [[1, 2], [3, 4]]), (3, [[1, 2, 3], [4]])])
async def test_every_screenshot_is_seen_in_one_window(window: int, seen: list[list[int]]) -> None:
    _, model = await process("SUCCESS", (1, "none"), (1, "none"), window=window)
    windows = sorted(model.about(process_outcome.WINDOW), key=lambda asked: labels(asked.texts))
    assert [labels(asked.texts) for asked in windows] == seen
    for asked, numbers in zip(windows, seen, strict=True):
        assert [n for n in (1, 2, 3) if f"Step {n}: " in asked.text] == [n for n in numbers if n < 4]
    (process_asked,), (outcome_asked,) = model.about(process_outcome.PROCESS), model.about(process_outcome.OUTCOME)
    for asked in (process_asked, outcome_asked):
        assert asked.text.count('"shows": "a mug"') == len(seen)
        assert "Step 3: action=" in asked.text
    assert labels(process_asked.texts) == [4]
    assert labels(outcome_asked.texts) == [2, 3, 4]
    assert "Criteria: " in process_asked.text
    assert "Criteria: " not in outcome_asked.text
    assert "so it is" not in outcome_asked.text, "the outcome is asked with the scores of the process"


async def test_a_rubric_is_proposed_once_for_each_task_from_the_task_alone() -> None:
    protocol = PROTOCOLS["process_outcome"]
    model = protocol.model()
    judge = protocol.make(model)
    same, other = [episode() for _ in range(4)], episode(instruction="Find a cup")
    async with Scorer(judge, IMAGES) as scorer:
        await asyncio.gather(*map(scorer.score, [*same, other]))
    asked = model.about(process_outcome.RUBRIC)
    assert sorted(each.texts[0] for each in asked) == [
        'Task: "Find a cup"\nWebsite: "http://shop.example/"',
        'Task: "Find the cheapest mug"\nWebsite: "http://shop.example/"',
    ]
    assert all(each.images == [] for each in asked)
    for each in [*same, other]:
        assert each.reward is not None
        assert [judgement.step for judgement in each.reward.judgements] == [
            "rubric",
            "screenshots 1-4",
            "process",
            "outcome",
        ]
        assert each.reward.judgements[0].answer == CRITERIA


async def test_a_rubric_that_could_not_be_had_is_asked_for_again() -> None:
    protocol = PROTOCOLS["process_outcome"]
    model = Model({**protocol.replies, process_outcome.RUBRIC: ["", "", CRITERIA]})
    judge = protocol.make(model)
    assert (await judged(judge, episode())).cause == "unreadable"
    assert (await judged(judge, episode())).success


def criteria(*rows: object) -> str:
    return json.dumps({"criteria": list(rows)})


GOOD_CRITERION = {"criterion": "a", "points": 1}
WRONG = {
    process_outcome.RUBRIC: [
        criteria(),
        criteria(*[GOOD_CRITERION] * 9),
        criteria({"criterion": " ", "points": 1}),
        criteria({"criterion": "a", "points": 0}),
        criteria({"criterion": "a", "points": 6}),
        criteria({"criterion": "a", "points": True}),
        criteria({"criterion": "a"}),
        criteria("a"),
        "{}",
    ],
    process_outcome.WINDOW: [
        '{"evidence": []}',
        '{"obstacles": []}',
        '{"evidence": [{"criterion": 3, "shows": "a", "screenshots": []}], "obstacles": []}',
        '{"evidence": [{"criterion": 0, "shows": "a", "screenshots": []}], "obstacles": []}',
        '{"evidence": ["a"], "obstacles": []}',
        FINDINGS + " I am sure.",
    ],
    process_outcome.PROCESS: [
        scores((1, "none")),
        scores((1, "none"), (1, "none"), (1, "none")),
        scores((1, "none"), (2, "none")),
        scores((1, "none"), (-0.5, "agent")),
        scores((1, "none"), (0, "user")),
        scores((1, "none"), (True, "none")),  # type: ignore[arg-type]
        criteria(*reversed(json.loads(scores((1, "none"), (1, "none")))["criteria"])),
    ],
    process_outcome.OUTCOME: ["SUCCESS", "Outcome: NOT SUCCESS", "Outcome: SUCCESS or FAILURE", "Status: SUCCESS"],
}


@pytest.mark.parametrize(("question", "answer"), [(q, answer) for q, answers in WRONG.items() for answer in answers])
async def test_an_answer_of_another_form_is_not_read(question: str, answer: str) -> None:
    protocol = PROTOCOLS["process_outcome"]
    model = Model({**protocol.replies, question: answer})
    assert (await judged(protocol.make(model), episode())).cause == "unreadable"


@pytest.mark.parametrize("n", [1, 8])
async def test_a_rubric_may_have_so_many_criteria(n: int) -> None:
    protocol = PROTOCOLS["process_outcome"]
    replies = {
        process_outcome.RUBRIC: criteria(*[{"criterion": "a", "points": 5}] * n),
        process_outcome.PROCESS: scores(*[(0, "agent")] * n),
    }
    assert (await judged(protocol.make(Model({**protocol.replies, **replies})), episode())).parts["process"] == 0


# --- set up -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_judge_without_a_model_is_one_line_before_anything_starts(name: str) -> None:
    judge = PROTOCOLS[name].make()
    with pytest.raises(ConfigError, match=f"the judge '{judge.name}' \\(section reward\\)"):
        judge.check_setup()


def test_the_engine_is_checked_as_a_judges() -> None:
    class Fine(EngineConfig):
        name: str = "fine"

    openwebrl.OpenWebRLJudge(engine=Fine()).check_setup()


async def test_a_judge_of_ones_own_needs_one_method() -> None:
    class Mine(Judge):
        name: str = "mine"

        async def judge(self, case, hearing: Hearing):
            yes = await hearing.ask("mine", "Say YES.", [case.instruction], lambda text: choice(text, YES_NO))
            return passed(f"it said {yes}", certainty=0.5)

    reward = await judged(Mine(engine=script(Model({"Say YES.": "yes"}))), episode())
    assert (reward.value, reward.reason, reward.parts) == (1, "it said True", {"certainty": 0.5})
