"""The verdict of the embedded sites' rules, behind the gate."""

from __future__ import annotations

import pytest

from tests.codec import SmallCodec
from tests.rollout.records import task, trajectory
from webdojo.agent.webagent_r1 import WebAgentR1Config
from webdojo.errors import TaskError
from webdojo.reward.gate import Scorer
from webdojo.reward.rules import Rules
from webdojo.sites.answers.values import number
from webdojo.sites.goal import fact, place
from webdojo.store.images import MemoryImages
from webdojo.types import Parsed, Reward, Termination, Trajectory


def finished(termination: Termination = Termination.COMPLETED, answer: str | None = "7", *errors: str) -> Trajectory:
    """An episode whose goal is the answer 7; `errors` are format errors of turns before the last."""
    done = trajectory(task("t"), 0)
    done.task = done.task.model_copy(update={"start_url": "http://shop-1.localhost/", "website": "shop-1.localhost"})
    done.task.evaluator = {"facts": [fact("The answer is 7", answer=number(7))]}
    done.reward, done.termination, done.answer = None, termination, answer
    done.final = done.turns[0].observation
    malformed = [done.turns[0].model_copy(update={"parsed": Parsed(error=error)}) for error in errors]
    done.turns = malformed + done.turns
    return done


async def score(trajectory: Trajectory) -> Reward:
    await Scorer(Rules(), MemoryImages()).score(trajectory)
    assert trajectory.reward is not None
    return trajectory.reward


async def test_a_completed_episode_gets_the_evaluators_verdict() -> None:
    right = await score(finished())
    assert (right.value, right.success) == (1, True)
    wrong = await score(finished(answer="8"))
    assert (wrong.value, wrong.success, wrong.valid) == (0, False, True)
    assert "'8'" in wrong.reason


@pytest.mark.parametrize(
    ("termination", "value", "valid"),
    [
        (Termination.FORMAT_ERROR, -1, True),
        (Termination.MAX_STEPS, 0, True),
        (Termination.GENERATION_LENGTH, 0, True),
        (Termination.CONTEXT_LENGTH, 0, True),
        (Termination.ENV_ERROR, 0, False),
        (Termination.START_ERROR, 0, False),
        (Termination.TIMEOUT, 0, False),
        (Termination.ABORTED, 0, False),
    ],
)
async def test_the_right_answer_does_not_help_an_episode_that_ended_otherwise(
    termination: Termination, value: float, valid: bool
) -> None:
    reward = await score(finished(termination))
    assert (reward.value, reward.success, reward.valid) == (value, False, valid)
    assert termination.value in reward.reason or reward.reason == "repeated format errors"


async def test_the_facts_that_hold_are_kept_however_an_episode_ended() -> None:
    async def after(termination: Termination, answer: str | None) -> Reward:
        episode = finished(termination, answer)
        shown = fact("The page was shown", visited=[place("/a")])
        episode.task.evaluator["facts"].insert(0, shown)
        episode.state = {episode.task.website: {"state": {}, "visited": ["/a"], "seen": []}}
        return await score(episode)

    assert (await after(Termination.COMPLETED, "7")).facts == [True, True]
    assert (await after(Termination.COMPLETED, "8")).facts == [True, False]
    half = await after(Termination.MAX_STEPS, None)
    assert (half.value, half.success, half.facts) == (0, False, [True, False])
    assert (await after(Termination.FORMAT_ERROR, None)).facts == []


@pytest.mark.parametrize(
    ("answer", "reason"), [("", "answered ''"), ("  ", "answered '  '"), (None, "the agent never said done")]
)
async def test_no_answer_scores_zero(answer: str | None, reason: str) -> None:
    reward = await score(finished(Termination.COMPLETED, answer))
    assert (reward.value, reward.success) == (0, False)
    assert reason in reward.reason


@pytest.mark.parametrize("said", ["exit()", 'exit(message="")'])
async def test_a_task_that_asks_for_no_answer_is_done_without_one(said: str) -> None:
    harness = WebAgentR1Config().build(SmallCodec())
    (call,) = harness.parse(f"<think>it is open</think><answer>{said}</answer>").calls
    done = finished(answer=call.arguments["answer"])
    done.task.evaluator = {"facts": [fact("The cart is open", within=place("/cart"))]}
    assert done.final is not None
    done.final.url = f"http://{done.task.website}/cart"
    reward = await score(done)
    assert (reward.value, reward.success) == (1, True), reward.reason


async def test_only_a_permanent_failure_excuses_the_agent() -> None:
    def under(event: str, answer: str) -> Trajectory:
        done = finished(Termination.COMPLETED, answer)
        done.state = {done.task.website: {"cart": {}, "visited": [], "seen": [], "perturbations": [_noted(event)]}}
        return done

    lost = await score(under("outage", "8"))
    assert (lost.value, lost.success, lost.valid) == (0, False, False)
    assert lost.cause == "web_failed"
    assert lost.reason == "the web failed: the site was down (shop-1.localhost, page 2)"
    passed = await score(under("outage", "7"))
    assert passed.valid and passed.success
    passable = await score(under("bot_check", "8"))
    assert (passable.value, passable.valid) == (0, True)
    unfinished = under("bot_wall", "7")
    unfinished.termination = Termination.MAX_STEPS
    assert not (await score(unfinished)).valid
    unfinished.termination = Termination.FORMAT_ERROR
    malformed = await score(unfinished)
    assert malformed.value == -1 and malformed.valid


def _noted(event: str) -> dict[str, object]:
    return {"page": 2, "event": event}


async def test_a_format_error_in_any_turn_costs_the_reward_but_not_the_success() -> None:
    reward = await score(finished(Termination.COMPLETED, "7", "no think end tag"))
    assert (reward.value, reward.success, reward.valid) == (0, True, True)
    assert reward.reason.startswith("format error in turn 1")


@pytest.mark.parametrize(
    ("evaluator", "says"),
    [
        ({}, "'t' has no evaluator"),
        (
            {"type": "webarena", "eval_types": ["string_match"]},
            "'t' has an evaluator of type 'webarena', so rules cannot score it",
        ),
    ],
)
async def test_a_task_that_rules_do_not_know_needs_another_reward(evaluator: dict[str, object], says: str) -> None:
    unjudged = finished()
    unjudged.task.evaluator = evaluator
    with pytest.raises(TaskError, match=says):
        Rules().check(unjudged.task)
    with pytest.raises(TaskError, match=says):
        await score(unjudged)
