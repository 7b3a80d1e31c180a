"""What holds for every protocol: what is asked and kept, what becomes of answers, and what a judge is shown."""

from __future__ import annotations

import asyncio
import base64
import io
import json

import pytest
from PIL import Image

from tests.reward.judges.episodes import IMAGES, Model, episode, judged, script, seen, shot
from tests.reward.judges.protocols import PROTOCOLS, image, labels
from webdojo.errors import BudgetError, ConfigError, EngineError, Failure
from webdojo.policy.engine import EngineConfig
from webdojo.reward.judges import agenttrek, deepshop, openwebrl, process_outcome, webgym, webjudge, webvoyager
from webdojo.reward.judges.hearing import Hearing
from webdojo.reward.judges.judge import Judge, passed
from webdojo.reward.judges.verdict import YES_NO, choice

WANTED = {
    openwebrl.SYSTEM: "SUCCESS or NOT SUCCESS.",
    webvoyager.SYSTEM: "SUCCESS or NOT SUCCESS.",
    webjudge.KEY_POINTS: "numbered list of key points, one a line, and nothing else.",
    webjudge.SCREENSHOT: "with a number from 1 to 5: Score: N",
    webjudge.VERDICT: "exactly one of these forms: Status: success Status: failure",
    agenttrek.SYSTEM: "exactly one of these forms: Status: success Status: failure",
    deepshop.SYSTEM: 'then "success", which is true or false.',
    webgym.KEY_SCREENSHOT: "YES or NO.",
    webgym.BLOCKING: "YES or NO.",
    webgym.CLAIMS: "SUCCESS or NOT SUCCESS.",
    webgym.FACT: "SUCCESS or NOT SUCCESS.",
    process_outcome.RUBRIC: '{"criteria": [{"criterion": "...", "points": 1}]}',
    process_outcome.WINDOW: '"obstacles": ["..."]}',
    process_outcome.PROCESS: '"score": 1, "blame": "none"}]}',
    process_outcome.OUTCOME: "Outcome: SUCCESS Outcome: FAILURE Outcome: PREVENTED",
}
"""How what is said of an answer that cannot be read ends: with the form that was wanted."""

# --- all of them -------------------------------------------------------------------------------


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
        assert reward.reason.endswith(WANTED[question]), "which form was wanted?"
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
        async def say(self, messages, sampling, keep=bool):
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


# --- the protocols of one question -------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        ("openwebrl", 'Step 2: action=[{"click": {"x": 1, "y": 2}}] feedback=["clicked 2"]', "thought"),
        (
            "agenttrek",
            'Step 2: thought="thought 2" action=[{"click": {"x": 1, "y": 2}}] feedback=["clicked 2"]',
            "Website",
        ),
        ("webvoyager", 'Task: "Find the cheapest mug"', "clicked"),
    ],
)
async def test_the_one_question_has_what_the_protocol_gives(name: str, has: str, lacks: str) -> None:
    model = PROTOCOLS[name].model()
    await judged(PROTOCOLS[name].make(model), episode())
    (asked,) = model.asked
    assert '"Find the cheapest mug"' in asked.text
    assert has in asked.text
    assert lacks not in asked.text


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


# --- set up ------------------------------------------------------------------------------------


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
