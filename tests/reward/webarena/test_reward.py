"""The reward `webarena` on stored episodes: what it needs, what it refuses, and when it asks a grader."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.reward.judges.episodes import judged, script
from tests.reward.webarena.test_grading import Grader
from webdojo.errors import ConfigError, TaskError
from webdojo.recipe import load_recipe
from webdojo.reward.webarena.reward import WebArenaReward
from webdojo.types import ImageRef, Observation, Reward, Task, Termination, Trajectory

SHOP = "http://shop:7770"
NOT_ACHIEVABLE: dict[str, Any] = {"reference_answers": {"fuzzy_match": "N/A"}, "string_note": "There is no such order."}


def episode(answer: str | None, url: str = f"{SHOP}/contact", targets: Any = None, **spec: Any) -> Trajectory:
    kinds = [
        kind
        for kind, key in (
            ("string_match", "reference_answers"),
            ("url_match", "reference_url"),
            ("program_html", "program_html"),
        )
        if key in spec
    ]
    task = Task(
        id="7",
        instruction="How many?",
        start_url=SHOP,
        website="shop",
        evaluator={"type": "webarena", "eval_types": kinds, **spec},
    )
    shot = ImageRef(sha="0" * 64, width=1, height=1, mime="image/png")
    final = Observation(screenshot=shot, url=url, title="", tabs=[], viewport_px=(1, 1))
    return Trajectory(
        id="7-0",
        task=task,
        turns=[],
        final=final,
        termination=Termination.COMPLETED,
        answer=answer,
        evidence={} if targets is None else {"targets": targets},
    )


async def scored(trajectory: Trajectory, grader: Grader | None = None, **options: Any) -> Reward:
    if grader is not None:
        options["engine"] = script(grader)
    function = WebArenaReward(**options)
    function.check(trajectory.task)
    return await judged(function, trajectory)


async def test_all_evaluators_must_hold() -> None:
    spec: dict[str, Any] = {"reference_answers": {"must_include": ["3"]}, "reference_url": f"{SHOP}/contact"}
    good = await scored(episode("3", **spec))
    assert (good.value, good.success, good.facts, good.reason) == (1.0, True, [True, True], "all 2 checks hold")
    silly = await scored(episode("4", **spec))
    assert (silly.value, silly.success, silly.facts) == (0.0, False, [False, True])
    wrong = await scored(episode("3", url=f"{SHOP}/contacts", **spec))
    assert (wrong.value, wrong.facts) == (0.0, [True, False])
    assert wrong.reason == f"not so: the last page is {SHOP}/contact"
    assert (await scored(episode("3", url=f"{SHOP}/contacts", **spec), strict_compat=True)).success


@pytest.mark.parametrize("answer", ["", " "])
async def test_an_empty_answer_fails_where_one_is_asked_for(answer: str) -> None:
    grader = Grader("same")
    silent = await scored(episode(answer, **NOT_ACHIEVABLE), grader)
    assert (silent.valid, silent.value, silent.reason, grader.asked) == (True, 0.0, "no answer", [])
    assert (await scored(episode(answer, reference_url=f"{SHOP}/contact"))).success


async def test_an_environment_that_ends_without_an_answer_fails_too() -> None:
    grader = Grader("same")
    assert (await scored(episode(None, **NOT_ACHIEVABLE), grader)).facts == [False]
    assert not grader.asked


@pytest.mark.parametrize("answer", ["N/A", "n/a", " 'N/A' "])
async def test_not_achievable_needs_no_grader_for_the_bare_words(answer: str) -> None:
    grader = Grader("different")
    assert (await scored(episode(answer, **NOT_ACHIEVABLE), grader)).success
    assert not grader.asked


async def test_a_reason_is_compared_with_the_actual_one() -> None:
    for reply, success in (("same", True), ("different", False)):
        grader = Grader(reply)
        assert (await scored(episode("No order of that kind", **NOT_ACHIEVABLE), grader)).success is success
        ((_, user),) = grader.asked
        assert "There is no such order." in user and "no order of that kind" in user and "How many?" in user


async def test_without_an_actual_reason_only_the_bare_words_count() -> None:
    grader = Grader("same")
    assert not (await scored(episode("no", reference_answers={"fuzzy_match": "N/A"}, string_note=""), grader)).success
    assert not grader.asked


async def test_published_a_matching_reason_outweighs_what_failed_before() -> None:
    spec: dict[str, Any] = {**NOT_ACHIEVABLE, "reference_answers": {"exact_match": "no", "fuzzy_match": "N/A"}}
    for answer in ("N/A", "There is none"):
        assert (await scored(episode(answer, **spec), Grader("same"))).facts == [False, True]
        assert (await scored(episode(answer, **spec), Grader("same"), strict_compat=True)).facts == [True, True]


async def test_an_exact_reference_is_no_reason() -> None:
    grader = Grader("same")
    spec: dict[str, Any] = {**NOT_ACHIEVABLE, "reference_answers": {"exact_match": "N/A"}}
    assert (await scored(episode("There is none", **spec), grader)).facts == [False]
    assert not grader.asked


@pytest.mark.parametrize(("dialect", "calls"), [("webarena", 2), ("webarena_lite", 1)])
async def test_a_grader_sees_each_reference_or_all_at_once(dialect: str, calls: int) -> None:
    spec: dict[str, Any] = {"reference_answers": {"fuzzy_match": ["1h 23min", "Main Street"]}}
    grader = Grader("correct")
    assert (await scored(episode("83 minutes by Main St", **spec), grader, dialect=dialect)).success
    assert len(grader.asked) == calls
    assert ("1h 23min, Main Street" in grader.asked[0][1]) is (calls == 1)


async def test_a_grader_is_asked_only_where_all_else_holds() -> None:
    spec: dict[str, Any] = {"reference_answers": {"fuzzy_match": ["x"]}, "reference_url": f"{SHOP}/contact"}
    grader = Grader("correct")
    elsewhere = await scored(episode("x", url=f"{SHOP}/", **spec), grader)
    assert (elsewhere.success, elsewhere.facts, grader.asked) == (False, [False], [])


async def test_a_grader_without_a_verdict_makes_the_episode_invalid() -> None:
    reward = await scored(episode("x", reference_answers={"fuzzy_match": ["x"]}), Grader("who knows"))
    assert (reward.valid, reward.cause, len(reward.judgements)) == (False, "unreadable", 2)


PAGE = {"url": "last", "locator": "document.title", "required_contents": {"exact_match": "A & B"}}


@pytest.mark.parametrize(
    ("found", "options", "valid", "success"),
    [
        ([{"url": "u", "value": "A &amp; B"}], {}, True, True),
        ([{"url": "u", "value": "A &amp; B"}], {"strict_compat": True}, True, True),
        ([{"url": "u", "value": "A &amp; B"}], {"dialect": "webarena_lite"}, True, True),
        ([{"url": "u", "value": "A &amp; B"}], {"dialect": "webarena_lite", "strict_compat": True}, True, False),
        ([{"url": "u", "value": "A"}], {}, True, False),
        ([{"url": "u", "error": "TypeError"}], {}, True, False),
        ([], {}, False, False),
        (None, {}, False, False),
    ],
)
async def test_pages_are_judged_from_the_evidence(
    found: Any, options: dict[str, Any], valid: bool, success: bool
) -> None:
    reward = await scored(episode("x", targets=found, program_html=[PAGE]), **options)
    assert (reward.valid, reward.success) == (valid, success)


@pytest.mark.parametrize(
    ("read", "repaired", "published"),
    [({"value": None}, False, True), ({"error": "TypeError"}, False, False), ({"value": "None"}, True, True)],
)
async def test_a_locator_that_finds_nothing_was_the_text_none(read: Any, repaired: bool, published: bool) -> None:
    page = {**PAGE, "required_contents": {"exact_match": "None"}}
    for strict, expected in ((False, repaired), (True, published)):
        trajectory = episode("x", targets=[{"url": "u", **read}], program_html=[page])
        assert (await scored(trajectory, strict_compat=strict)).success is expected


@pytest.mark.parametrize(
    ("value", "repaired", "published"),
    [(True, True, True), ("true", True, True), (0, False, False), (None, False, False), ("", False, False)],
)
async def test_a_lambda_that_finds_nothing_fails(value: object, repaired: bool, published: bool) -> None:
    page = {**PAGE, "locator": "lambda:() => x", "required_contents": {"exact_match": "true"}}
    for strict, expected in ((False, repaired), (True, published)):
        trajectory = episode("x", targets=[{"url": "u", "value": value}], program_html=[page])
        assert (await scored(trajectory, dialect="webarena_lite", strict_compat=strict)).success is expected
    zero = {**page, "required_contents": {"required_values": ["== 0"]}}
    for strict in (False, True):
        trajectory = episode("x", targets=[{"url": "u", "value": 0}], program_html=[zero])
        assert (await scored(trajectory, dialect="webarena_lite", strict_compat=strict)).success is not strict


@pytest.mark.parametrize(
    ("evaluator", "says"),
    [
        ({}, "task '7' has no evaluators of WebArena: name another reward"),
        ({"type": "miniwob"}, "task '7' has no evaluators of WebArena: name another reward"),
        ({"type": "webarena", "eval_types": ["x"]}, "the evaluator of task '7' cannot be read: eval_types has 'x'"),
        (
            {"type": "webarena", "eval_types": ["url_match"], "reference_url": "__MAP__/x"},
            "the evaluator of task '7' has __MAP__ in place of an address: give env.sites",
        ),
        (
            {"type": "webarena", "eval_types": ["url_match"], "reference_url": "__SHOPPING_ADMIN__/x"},
            "the evaluator of task '7' has __SHOPPING_ADMIN__ in place of an address: give env.sites",
        ),
        (
            {"type": "webarena", "eval_types": ["string_match"], "reference_answers": {"fuzzy_match": ["x"]}},
            "the evaluator of task '7' asks a language model, and none is set",
        ),
        (
            {
                "type": "webarena",
                "eval_types": ["program_html"],
                "program_html": [{**PAGE, "url": "func:shopping_get_latest_order_url()"}],
            },
            "task '7': its evaluator asks the shop, whose address it does not have",
        ),
    ],
)
def test_a_task_that_cannot_be_scored_is_refused_in_one_line(evaluator: dict[str, Any], says: str) -> None:
    task = Task(id="7", instruction="x", start_url=SHOP, website="shop", evaluator=evaluator)
    with pytest.raises(TaskError, match=re.escape(says)) as caught:
        WebArenaReward().check(task)
    assert "\n" not in str(caught.value)


def test_a_recipe_names_it_and_its_grader() -> None:
    recipe = load_recipe("quickstart", ["env={name: web}", "reward={name: webarena, dialect: webarena_lite}"])
    assert recipe.reward_function == WebArenaReward(dialect="webarena_lite")
    recipe.reward_function.check_setup()
    assert (recipe.reward_function.address, recipe.reward_function.silence()) == ("", "")
    address = "http://127.0.0.1:9/v1"
    changes = ["env=webarena", "reward.name=webarena", f"reward.engine.base_url={address}"]
    with pytest.raises(ConfigError, match=r"the judge 'webarena' \(section reward\): reward.engine.model is empty"):
        load_recipe("quickstart", changes).reward_function.check_setup()
    asks = load_recipe("quickstart", [*changes, "reward.engine.model=m"]).reward_function
    asks.check_setup()
    asks.check(episode("x", reference_answers={"fuzzy_match": ["x"]}).task)
    assert (asks.address, asks.most_asked(9, 1, 500, (640, 640)).requests) == (address, 1)


async def test_secrets_of_an_episode_reach_no_grader() -> None:
    grader = Grader("incorrect")
    said = episode("My password is hunter2", reference_answers={"fuzzy_match": ["1"]})
    await scored(said.model_copy(update={"secrets": ["hunter2"]}), grader)
    ((_, user),) = grader.asked
    assert "password is" in user and "hunter2" not in user


async def test_what_a_grader_was_asked_is_kept() -> None:
    reward = await scored(episode("one", reference_answers={"fuzzy_match": ["1"]}), Grader("It is.\ncorrect"))
    (said,) = reward.judgements
    assert (said.step, said.answer, reward.success) == ("answer", "It is.\ncorrect", True)
    assert '"reference_answer": "1"' in said.prompt
