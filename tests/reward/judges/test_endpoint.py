"""Each judge against a server that speaks the chat protocol, and answers well, badly, late, or not at all."""

from __future__ import annotations

import asyncio
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.policy.chat.endpoint import Answering, Endpoint, completion, drop, refuse, replying, say, truncate
from tests.reward.judges.episodes import IMAGES, Model, episode
from tests.reward.judges.protocols import PROTOCOLS, Protocol
from webdojo.errors import BudgetError, EngineRefused
from webdojo.policy.chat import client as client_module
from webdojo.policy.engine import ChatConfig
from webdojo.policy.engines import Chat
from webdojo.reward.gate import Scorer
from webdojo.reward.judges.judge import Judge
from webdojo.types import Reward


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(client_module, "FIRST_PAUSE_S", 0.005)


def judge_at(endpoint: Endpoint, protocol: Protocol, **options: object) -> Judge:
    config: ChatConfig = endpoint.config(**options)
    return protocol.make(engine=Chat(**config.model_dump()))


async def scored(judge: Judge, *folder: Path, task: str = "the cheapest mug", evaluator=None) -> Reward:
    trajectory = episode(answer=f"I found {task}", instruction=f"Find {task}", evaluator=evaluator)
    async with Scorer(judge, IMAGES, *folder) as scorer:
        await scorer.score(trajectory)
    assert trajectory.reward is not None
    return trajectory.reward


def slow(http: BaseHTTPRequestHandler) -> None:
    """Later than a try may take."""
    threading.Event().wait(1.5)
    http.close_connection = True


PASSING: dict[str, Answering] = {
    "malformed": say('{"choices": [{"mess'),
    "no choice": say({"choices": []}),
    "slow": slow,
    "429": refuse(429, Retry_After="0"),
    "500": refuse(500),
    "cut": truncate,
    "dropped": drop,
    "unreadable": say(completion("I cannot tell.")),
}


FAULTS = [
    (name, fault)
    for name in PROTOCOLS
    for fault in PASSING
    if (name, fault) != ("webjudge", "unreadable")  # its first answer is a text of any kind
]


@pytest.mark.parametrize(("name", "fault"), FAULTS)
async def test_a_fault_that_passes_changes_no_verdict(name: str, fault: str) -> None:
    protocol = PROTOCOLS[name]
    for verdict, value in ((None, 1), (protocol.bad, 0)):
        model = protocol.model() if verdict is None else protocol.model(verdict=verdict)
        with Endpoint(PASSING[fault], default=replying(model.reply)) as endpoint:
            judge = judge_at(endpoint, protocol, timeout_s=1 if fault == "slow" else 20)
            reward = await scored(judge, evaluator=protocol.evaluator)
        assert (reward.value, reward.valid, reward.cause) == (value, True, "")
        if verdict is None:
            assert len(endpoint.bodies) == protocol.calls + 1
        assert {body["temperature"] for body in endpoint.bodies} == {0}


LASTING: dict[str, tuple[Answering, str]] = {
    "500": (refuse(500, "broken"), "status 500: broken"),
    "429": (refuse(429, "tomorrow", Retry_After="86400"), "come back in 86400 s"),
    "malformed": (say("<html>"), "failed 2 times"),
    "cut": (truncate, "failed 2 times"),
    "slow": (slow, "no answer within 0.3 s"),
}


@pytest.mark.parametrize("fault", LASTING)
@pytest.mark.parametrize("name", ["openwebrl", "webgym", "process_outcome"])
async def test_a_fault_that_lasts_makes_an_episode_invalid_and_says_why(name: str, fault: str) -> None:
    protocol = PROTOCOLS[name]
    answer, says = LASTING[fault]
    with Endpoint(default=answer) as endpoint:
        judge = judge_at(endpoint, protocol, max_retries=1, timeout_s=0.3 if fault == "slow" else 20)
        reward = await scored(judge, evaluator=protocol.evaluator)
    assert (reward.value, reward.success, reward.valid, reward.cause) == (0, False, False, "reward_failed")
    assert says in reward.reason


@pytest.mark.parametrize("name", ["openwebrl", "webgym", "process_outcome"])
async def test_an_endpoint_that_has_refused_everything_ends_the_run(name: str) -> None:
    protocol = PROTOCOLS[name]
    told = r"status 401: bad key; check reward\.engine\.api_key_env, which is empty"
    with Endpoint(default=refuse(401, "bad key")) as endpoint, pytest.raises(EngineRefused, match=told):
        await scored(judge_at(endpoint, protocol), evaluator=protocol.evaluator)


async def test_an_answer_that_cannot_be_read_is_asked_for_again_another_time(tmp_path: Path) -> None:
    protocol = PROTOCOLS["openwebrl"]
    bad, good = completion("I cannot tell."), completion(str(protocol.replies[protocol.verdict]))
    with Endpoint(say(bad), say(bad), default=say(good)) as endpoint:
        judge = judge_at(endpoint, protocol)
        assert (await scored(judge, tmp_path)).cause == "unreadable"
        assert (await scored(judge, tmp_path)).success, "the answer before was kept"
        assert (await scored(judge, tmp_path)).success
        assert len(endpoint.bodies) == 3, "an answer that could be read was paid twice"


async def test_a_server_that_asks_for_time_is_given_it() -> None:
    protocol = PROTOCOLS["openwebrl"]
    with Endpoint(refuse(429, Retry_After="1"), default=replying(protocol.model().reply)) as endpoint:
        began = time.monotonic()
        assert (await scored(judge_at(endpoint, protocol))).success
        assert time.monotonic() - began >= 1


async def test_a_verdict_that_takes_too_long_is_none() -> None:
    protocol = PROTOCOLS["openwebrl"]
    release = threading.Event()

    def hang(http: BaseHTTPRequestHandler) -> None:
        release.wait(30)
        http.close_connection = True

    with Endpoint(default=hang) as endpoint:
        judge = judge_at(endpoint, protocol).model_copy(update={"timeout_s": 0.3})
        reward = await scored(judge)
        release.set()
    assert (reward.valid, reward.cause) == (False, "reward_failed")
    assert "reward.timeout_s" in reward.reason


async def test_many_episodes_are_judged_at_once_but_no_more_than_allowed() -> None:
    protocol = PROTOCOLS["webjudge"]

    def answer(http: BaseHTTPRequestHandler) -> None:
        time.sleep(0.02)
        replying(protocol.model().reply)(http)

    with Endpoint(default=answer) as endpoint:
        episodes = [episode(instruction=f"Find mug {number}") for number in range(6)]
        async with Scorer(judge_at(endpoint, protocol, max_concurrency=5), IMAGES) as scorer:
            await asyncio.gather(*map(scorer.score, episodes))
    assert all(each.reward is not None and each.reward.success for each in episodes)
    assert endpoint.most_at_once == 5
    assert len(endpoint.bodies) == 6 * protocol.calls


@pytest.mark.parametrize("name", PROTOCOLS)
async def test_what_was_answered_once_is_not_paid_again_in_the_same_run(name: str, tmp_path: Path) -> None:
    protocol = PROTOCOLS[name]
    with Endpoint(default=replying(protocol.model().reply)) as endpoint:
        judge = judge_at(endpoint, protocol)
        first = await scored(judge, tmp_path, evaluator=protocol.evaluator)
        again = await scored(judge_at(endpoint, protocol), tmp_path, evaluator=protocol.evaluator)
        assert len(endpoint.bodies) == protocol.calls
        assert first == again
        await scored(judge, tmp_path, task="a cup", evaluator=protocol.evaluator)
        assert len(endpoint.bodies) > protocol.calls
        await scored(judge, tmp_path / "another", evaluator=protocol.evaluator)
    assert len(endpoint.bodies) > 2 * protocol.calls


@pytest.mark.parametrize(
    ("budget", "warns", "says"),
    [
        ({"budget_requests": 5}, "has used 4 of its budget of 5 requests", "all 5 requests to m are used up"),
        (
            {"budget_usd": 0.05, "price_input": 1.0, "price_output": 1.0, "image_tokens": 10},
            "of its budget of 0.05 USD",
            "the budget of 0.05 USD for this endpoint is used up",
        ),
    ],
)
async def test_a_budget_warns_and_then_stops_and_a_larger_one_goes_on(
    tmp_path: Path, caplog, budget, warns, says
) -> None:
    protocol = PROTOCOLS["openwebrl"]
    with Endpoint(default=replying(protocol.model().reply, prompt_tokens=2500, completion_tokens=1000)) as endpoint:
        verdicts = 0
        with pytest.raises(BudgetError, match=says):
            for number in range(20):
                await scored(judge_at(endpoint, protocol, **budget), tmp_path, task=f"mug {number}")
                verdicts += 1
        assert 1 <= verdicts == len(endpoint.bodies)
        assert warns in caplog.text
        larger = {key: value * (10 if key.startswith("budget") else 1) for key, value in budget.items()}
        assert (await scored(judge_at(endpoint, protocol, **larger), tmp_path, task="mug 99")).success
        assert len(endpoint.bodies) == verdicts + 1


async def test_screenshots_and_roles_are_as_the_protocol_of_the_endpoint_has_them() -> None:
    protocol = PROTOCOLS["openwebrl"]
    seen = Model(protocol.replies)
    with Endpoint(default=replying(seen.reply)) as endpoint:
        await scored(judge_at(endpoint, protocol, model="gpt", extra_body={"reasoning_effort": "low"}))
    (body,) = endpoint.bodies
    assert (body["model"], body["reasoning_effort"], body["max_tokens"]) == ("gpt", "low", 2048)
    assert len(seen.asked[0].images) == 3
