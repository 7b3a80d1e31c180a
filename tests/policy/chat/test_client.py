"""The client against a server that answers well, badly, late, or not at all."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.policy.chat.endpoint import Endpoint, completion, drop, refuse, say, truncate
from webdojo.errors import ConfigError, EngineError, EngineRefused, StoreError
from webdojo.policy.chat import client as client_module
from webdojo.policy.chat.client import ChatClient
from webdojo.policy.chat.endpoint import Answer, retry_after
from webdojo.policy.chat.ledger import Spending
from webdojo.policy.engine import ChatConfig
from webdojo.types import FinishReason, Sampling

HELLO = [{"role": "user", "content": "hello"}]
GREEDY = Sampling(temperature=0, max_tokens=20)
KEY = "sk-secret-0123456789abcdef"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    """Pauses are as jittered and growing as ever, but a hundredth as long."""
    monkeypatch.setattr(client_module, "FIRST_PAUSE_S", 0.005)


async def ask(config: ChatConfig, sampling: Sampling = GREEDY) -> Answer:
    async with ChatClient(config) as client:
        return await client.complete(HELLO, sampling)


async def test_a_request_says_everything_that_the_sampling_says():
    with Endpoint() as endpoint:
        sampling = Sampling(temperature=0.5, top_p=0.9, top_k=7, max_tokens=33, seed=0, stop=("\n\n",))
        answer = await ask(endpoint.config(), sampling)
    assert endpoint.bodies == [
        {
            "model": "m",
            "messages": HELLO,
            "max_tokens": 33,
            "temperature": 0.5,
            "top_p": 0.9,
            "top_k": 7,
            "seed": 0,
            "stop": ["\n\n"],
        }
    ]
    assert endpoint.headers[0]["path"] == "/v1/chat/completions"
    assert "authorization" not in endpoint.headers[0]
    assert (answer.text, answer.finish_reason) == ("fine", FinishReason.STOP)
    assert (answer.input_tokens, answer.output_tokens) == (100, 10)


async def test_extra_fields_are_added_and_null_takes_a_field_out():
    extra = {"max_tokens": None, "max_completion_tokens": 50, "reasoning_effort": "low"}
    with Endpoint() as endpoint:
        await ask(endpoint.config(extra_body=extra))
    body = endpoint.bodies[0]
    assert (body["max_completion_tokens"], body["reasoning_effort"]) == (50, "low")
    assert "max_tokens" not in body
    assert not {"top_k", "seed", "stop", "tools"} & set(body)


PASSING = {
    "429": refuse(429, Retry_After="0"),
    "500": refuse(500),
    "503": refuse(503),
    "502 html": say("<html>bad gateway</html>", 502, "text/html"),
    "200 html": say("<html>log in first</html>", 200, "text/html"),
    "malformed": say('{"choices": [{"mess', 200),
    "no choice": say({"choices": []}),
    "error in 200": say({"error": {"message": "upstream failed"}}),
    "a list": say([1, 2, 3]),
    "deep": say("[" * 100_000),
    "dropped": drop,
    "truncated": truncate,
}


@pytest.mark.parametrize("fault", PASSING)
async def test_a_fault_that_may_pass_is_tried_again(fault):
    with Endpoint(PASSING[fault], PASSING[fault]) as endpoint:
        answer = await ask(endpoint.config())
    assert answer.text == "fine"
    assert len(endpoint.bodies) == 3
    assert endpoint.bodies[0] == endpoint.bodies[2]


async def test_a_try_that_takes_too_long_is_given_up():
    release = threading.Event()

    def hang(http: BaseHTTPRequestHandler) -> None:
        release.wait(30)
        http.close_connection = True

    with Endpoint(hang, default=say(completion("late"))) as endpoint:
        answer = await ask(endpoint.config(timeout_s=0.5))
        release.set()
    assert answer.text == "late"


async def test_an_answer_that_drips_is_given_up_as_well():
    release = threading.Event()

    def drip(http: BaseHTTPRequestHandler) -> None:
        http.send_response(200)
        http.send_header("Content-Length", "1000000")
        http.end_headers()
        while not release.wait(0.05):
            http.wfile.write(b" ")
        http.close_connection = True

    with Endpoint(drip) as endpoint:
        with pytest.raises(EngineError, match=r"no answer within 0\.7 s \(engine\.timeout_s\)"):
            await ask(endpoint.config(timeout_s=0.7, max_retries=0))
        release.set()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (refuse(401, "bad key"), "status 401: bad key; check engine.api_key_env, which is empty"),
        (refuse(404, "no such model"), "status 404: no such model; check engine.base_url and engine.model"),
        (refuse(400, "top_k is\nunknown"), "status 400: top_k is unknown"),
        (refuse(429, "pay first", "insufficient_quota"), "status 429: pay first"),
        (refuse(429, "tomorrow", Retry_After="86400"), "it asks to come back in 86400 s"),
        (say("", 301, Location="http://elsewhere.example/"), "status 301"),
    ],
)
async def test_a_fault_that_will_not_pass_is_one_line_at_once(fault, message):
    with Endpoint(default=fault) as endpoint:
        with pytest.raises(EngineError) as caught:
            await ask(endpoint.config())
        assert len(endpoint.bodies) == 1
    text = str(caught.value)
    assert message in text
    assert endpoint.url in text
    assert "\n" not in text


async def test_giving_up_says_how_often_it_tried_and_what_was_last():
    with Endpoint(default=refuse(503, "overloaded")) as endpoint:
        with pytest.raises(EngineError, match=r"failed 3 times \(engine\.max_retries\), last: status 503: overloaded"):
            await ask(endpoint.config(max_retries=2))
        assert len(endpoint.bodies) == 3


async def test_nobody_there():
    with Endpoint() as endpoint:
        config = endpoint.config(max_retries=1)
    with pytest.raises(EngineError, match="cannot connect"):
        await ask(config)


async def test_a_limit_is_waited_for_as_long_as_it_asks():
    with Endpoint(refuse(429, Retry_After="1")) as endpoint:
        started = time.monotonic()
        await ask(endpoint.config())
        assert time.monotonic() - started >= 1


def test_retry_after_is_a_number_or_a_date():
    assert retry_after("2.5", now=0) == 2.5
    assert retry_after("-1", now=0) == 0
    assert retry_after(formatdate(1_000_030, usegmt=True), now=1_000_000) == 30
    assert retry_after(formatdate(999_000, usegmt=True), now=1_000_000) == 0
    for nonsense in ("", "soon", "nan"):
        assert retry_after(nonsense, now=0) is None


async def test_no_more_requests_at_once_than_allowed():
    def slow(http: BaseHTTPRequestHandler) -> None:
        time.sleep(0.05)
        say(completion())(http)

    with Endpoint(default=slow) as endpoint:
        async with ChatClient(endpoint.config(max_concurrency=3)) as client:
            await asyncio.gather(*(client.complete(HELLO, GREEDY) for _ in range(12)))
    assert endpoint.most_at_once == 3


async def test_the_account_tells_tries_tokens_and_money():
    with Endpoint(refuse(500), drop) as endpoint:
        async with ChatClient(endpoint.config(price_input=2.0, price_output=10.0)) as client:
            await client.complete(HELLO, GREEDY)
            totals = client.totals()
    assert (totals.requests, totals.lost, totals.cached) == (3, 1, 0)
    assert "3 requests (1 lost: no whole answer came, so each counts as the most it can cost), 100 " in str(totals)
    assert (totals.input_tokens, totals.output_tokens) == (100, 10)
    answered = (100 * 2.0 + 10 * 10.0) / 1e6
    # The dropped one may have been charged, so the most that it can have cost is in.
    assert totals.usd > answered + 20 * 10.0 / 1e6


async def test_a_budget_is_never_passed_by_requests_in_flight():
    """Forty at once, each of which costs less than what has to be set aside for it."""
    with Endpoint(default=say(completion(prompt_tokens=40, completion_tokens=10))) as endpoint:
        budget = 10_000 / 1e6
        config = endpoint.config(price_input=1.0, price_output=100.0, budget_usd=budget, max_concurrency=40)
        async with ChatClient(config) as client:
            results = await asyncio.gather(*(client.complete(HELLO, GREEDY) for _ in range(40)), return_exceptions=True)
            totals = client.totals()
    failed = [result for result in results if isinstance(result, BaseException)]
    assert failed
    assert all(isinstance(error, EngineError) and "budget of 0.01 USD" in str(error) for error in failed)
    assert all("raise engine.budget_usd" in str(error) for error in failed)
    assert totals.usd <= budget
    # Requests waited for others to settle instead of failing on what was only set aside.
    each = (40 * 1.0 + 10 * 100.0) / 1e6
    assert totals.requests == len(endpoint.bodies) == 40 - len(failed) == 8
    assert totals.usd == pytest.approx(8 * each)


async def test_answers_that_got_lost_use_up_the_budget_too():
    with Endpoint(default=drop) as endpoint:
        config = endpoint.config(price_output=100.0, budget_usd=0.005, max_retries=20)
        async with ChatClient(config) as client:
            with pytest.raises(EngineError, match="budget"):
                await client.complete(HELLO, GREEDY)
            assert client.totals().usd <= 0.005
    assert len(endpoint.bodies) == 2  # at 0.002 USD each, a third has no room


async def test_a_cancelled_request_counts_as_lost():
    arrived, release = threading.Event(), threading.Event()

    def hang(http: BaseHTTPRequestHandler) -> None:
        arrived.set()
        release.wait(30)

    with Endpoint(hang) as endpoint:
        async with ChatClient(endpoint.config(price_output=100.0)) as client:
            task = asyncio.create_task(client.complete(HELLO, GREEDY))
            await asyncio.to_thread(arrived.wait, 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert client.totals().lost == 1
            assert client.totals().usd == pytest.approx(0.002)
        release.set()


async def test_an_answer_without_usage_counts_as_the_most_that_it_can_cost():
    body = completion()
    del body["usage"]
    with Endpoint(default=say(body)) as endpoint:
        async with ChatClient(endpoint.config(price_output=100.0)) as client:
            await client.complete(HELLO, GREEDY)
            assert client.totals().usd == pytest.approx(0.002)


async def test_a_run_that_is_resumed_goes_on_with_what_is_left(tmp_path):
    account = tmp_path / "spending.sqlite"
    with Endpoint(default=say(completion(prompt_tokens=0, completion_tokens=20))) as endpoint:
        config = endpoint.config(price_output=100.0, budget_usd=0.005)
        for _ in range(2):
            async with ChatClient(config, account) as client:
                await client.complete(HELLO, GREEDY)
        async with ChatClient(config, account) as client:
            with pytest.raises(EngineError, match=r"0\.0040 USD are spent"):
                await client.complete(HELLO, GREEDY)


async def test_what_was_in_flight_when_a_run_died_counts_as_lost(tmp_path):
    config = ChatConfig(model="m", budget_usd=0.005)
    in_flight = asyncio.Event()

    async def hang() -> Answer:
        in_flight.set()
        await asyncio.sleep(60)
        raise AssertionError

    async def answer() -> Answer:
        return Answer(text="fine", finish_reason=FinishReason.STOP, input_tokens=1, output_tokens=1)

    died = Spending(config, tmp_path / "spending.sqlite")
    task = asyncio.create_task(died.pay(0.003, hang))
    await in_flight.wait()
    died.close()
    resumed = Spending(config, tmp_path / "spending.sqlite")
    assert (resumed.totals().lost, resumed.totals().usd) == (1, 0.003)
    with pytest.raises(EngineError, match="budget"):
        await resumed.pay(0.003, answer)
    assert (await resumed.pay(0.002, answer)).text == "fine"
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_request_without_a_bound_has_no_place_under_a_budget():
    with Endpoint() as endpoint:
        config = endpoint.config(price_output=1.0, budget_usd=1.0, extra_body={"max_tokens": None})
        with pytest.raises(EngineError, match="max_completion_tokens"):
            await ask(config)
        assert not endpoint.bodies


async def test_a_cached_answer_costs_nothing_also_in_a_later_run(tmp_path):
    cache = str(tmp_path / "answers" / "cache.sqlite")
    with Endpoint(say(completion("first"))) as endpoint:
        config = endpoint.config(cache=cache, price_input=1.0, price_output=1.0, budget_usd=0.001)
        first = await ask(config)
        async with ChatClient(config) as client:
            again = await client.complete(HELLO, GREEDY)
            totals = client.totals()
            assert (await client.complete(HELLO, Sampling(temperature=0, max_tokens=21))).text == "fine"
        assert len(endpoint.bodies) == 2
    assert first == again
    assert (totals.requests, totals.cached, totals.usd) == (0, 1, 0.0)


async def test_samples_of_one_prompt_stay_different_and_come_back_in_order(tmp_path):
    script = [say(completion(text)) for text in ("a", "b", "c")]
    sampling = Sampling(temperature=1.0, max_tokens=20)
    with Endpoint(*script) as endpoint:
        config = endpoint.config(cache=str(tmp_path / "cache.sqlite"))
        for _ in range(2):
            async with ChatClient(config) as client:
                assert [(await client.complete(HELLO, sampling)).text for _ in range(3)] == ["a", "b", "c"]
    assert len(endpoint.bodies) == 3


async def test_a_file_that_is_no_cache_is_one_line(tmp_path):
    (tmp_path / "cache").write_text("something else entirely, and long enough to be looked at as a database")
    with Endpoint() as endpoint, pytest.raises(StoreError, match=r"engine\.cache"):
        await ask(endpoint.config(cache=str(tmp_path / "cache")))


async def test_failures_are_not_cached(tmp_path):
    with Endpoint(refuse(400)) as endpoint:
        config = endpoint.config(cache=str(tmp_path / "cache.sqlite"))
        with pytest.raises(EngineError):
            await ask(config)
        assert (await ask(config)).text == "fine"


async def test_an_endpoint_that_is_down_is_told_once_until_it_answers(caplog):
    caplog.set_level(logging.INFO, "webdojo")
    down = [refuse(503)] * 3
    with Endpoint(*down, say(completion()), *down) as endpoint:
        async with ChatClient(endpoint.config()) as client:
            for _ in range(2):
                await client.complete(HELLO, GREEDY)
    assert [text.partition(";")[2][:7] for text in caplog.messages if "; try " in text] == [" try 2 "] * 2


async def test_the_key_is_sent_and_written_nowhere(tmp_path, monkeypatch, caplog, capfd):
    """The server repeats it in every body."""
    monkeypatch.setenv("MY_KEY", f"{KEY}\n")
    caplog.set_level(logging.DEBUG)
    echo = completion(f"your key is {KEY}", reasoning_content=KEY)
    echo["choices"][0]["message"]["tool_calls"] = [{"function": {"name": KEY, "arguments": f'{{"text": "{KEY}"}}'}}]
    faults = [refuse(500, f"bad {KEY}"), say(f"<b>{KEY}</b>", 200, "text/html"), say({"error": KEY}), say(echo)]
    with Endpoint(*faults, default=refuse(401, f"Incorrect API key provided: {KEY}")) as endpoint:
        config = endpoint.config(api_key_env="MY_KEY", cache=str(tmp_path / "cache.sqlite"))
        async with ChatClient(config, tmp_path / "account.sqlite") as client:
            answer = await client.complete(HELLO, GREEDY)
            with pytest.raises(EngineError, match=r"\[key\]; check the key in MY_KEY") as refused:
                await client.complete(HELLO, Sampling(temperature=0, max_tokens=1))
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert answer.text == "your key is [key]"
    said = capfd.readouterr()
    everything = [str(refused.value), repr(client), answer.model_dump_json(), config.model_dump_json()]
    assert not [text for text in [*everything, caplog.text, said.out, said.err] if KEY in text]
    assert "try 2" in caplog.text
    files = [path.read_bytes() for path in Path(tmp_path).rglob("*") if path.is_file()]
    assert files
    assert not [data for data in files if KEY.encode() in data]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "api.openai.com/v1"}, "engine.base_url is 'api.openai.com/v1'"),
        ({"base_url": "http://[::1"}, "engine.base_url"),
        ({"base_url": "http://host:port/v1"}, "engine.base_url"),
        ({"base_url": f"http://u:{KEY}@host/v1"}, "without user, password"),
        ({"model": ""}, "engine.model is empty"),
        ({"api_key_env": "NOT_SET_ANYWHERE"}, "NOT_SET_ANYWHERE, which is not in the environment"),
        ({"budget_usd": 1.0}, "engine.price_input"),
        ({"extra_body": {"n": 2}}, "sets 'n'"),
    ],
)
def test_an_endpoint_that_cannot_be_used_is_one_line(options, message):
    config = ChatConfig(**{"base_url": "http://127.0.0.1:1/v1", "model": "m"} | options)
    with pytest.raises(ConfigError) as caught:
        ChatClient(config)
    assert message in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_key_that_no_header_can_hold(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-sécret-0123456789")
    with pytest.raises(ConfigError, match="the value of MY_KEY is no key") as caught:
        ChatClient(ChatConfig(base_url="http://127.0.0.1:1/v1", model="m", api_key_env="MY_KEY"))
    assert "cret" not in str(caught.value)


def test_logit_bias_cannot_be_sent():
    client = ChatClient(ChatConfig(base_url="http://127.0.0.1:1/v1", model="m"))
    with pytest.raises(EngineError, match="logit_bias"):
        asyncio.run(client.complete(HELLO, Sampling(logit_bias={5: 1.0})))


async def test_redirects_are_not_followed_with_the_key(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with Endpoint() as elsewhere, Endpoint(say("", 307, Location=f"{elsewhere.url}/chat/completions")) as endpoint:
        with pytest.raises(EngineError, match="status 307"):
            await ask(endpoint.config(api_key_env="MY_KEY"))
        assert not elsewhere.bodies


async def test_a_refusal_is_for_good_only_before_the_first_answer():
    no = refuse(404, "no such model")
    with Endpoint(no, say(completion()), default=no) as endpoint:
        async with ChatClient(endpoint.config()) as client:
            with pytest.raises(EngineRefused):
                await client.complete(HELLO, GREEDY)
            await client.complete(HELLO, GREEDY)
            with pytest.raises(EngineError) as failed:
                await client.complete(HELLO, GREEDY)
    assert not isinstance(failed.value, EngineRefused)
