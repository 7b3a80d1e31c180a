"""The server as OpenAI's own client sees it, on the tiny model."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import openai
import pytest

from tests.policy.serve.conftest import data_url, picture
from tests.policy.serve.served import Served
from webdojo.policy.hf import HFEngine
from webdojo.policy.serve.app import ChatService
from webdojo.policy.serve.pictures import Pictures
from webdojo.policy.serve.prompts import image_urls, prompt_of
from webdojo.policy.serve.wire import ChatMessage
from webdojo.types import Response, Sampling

HELLO: list[Any] = [{"role": "system", "content": "You are a web agent."}, {"role": "user", "content": "task open it"}]


@pytest.fixture
def client(server: Served) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)


def shown(*pictures: bytes, text: str = "What is this?") -> list[Any]:
    parts = [{"type": "image_url", "image_url": {"url": data_url(data)}} for data in pictures]
    return [{"role": "user", "content": [{"type": "text", "text": text}, *parts]}]


def directly(engine: HFEngine, pictures: Pictures, messages: list[Any], sampling: Sampling) -> tuple[int, Response]:
    """Tokens of the prompt, and what the engine itself says to the same messages."""
    asked = [ChatMessage(**message) for message in messages]
    with pictures.hold(image_urls(asked)) as images:
        prompt = prompt_of(asked, images, engine.processor)
        return len(prompt), asyncio.run(engine.generate(prompt, sampling))


def greedy(client: openai.OpenAI, messages: list[Any], max_tokens: int = 40, **options: Any) -> Any:
    return client.chat.completions.create(
        model="tiny", messages=messages, temperature=0, max_tokens=max_tokens, **options
    )


def test_models_are_listed(client):
    assert [model.id for model in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").owned_by == "webdojo"
    with pytest.raises(openai.NotFoundError, match="there is no model 'other' here but 'tiny'") as caught:
        client.models.retrieve("other")
    assert caught.value.code == "model_not_found"


def test_an_answer_is_what_the_engine_says(client, engine, pictures, episode):
    answer = greedy(client, episode)
    asked, said = directly(engine, pictures, episode, Sampling(temperature=0, max_tokens=40))
    choice = answer.choices[0]
    assert choice.message.role == "assistant"
    assert choice.message.content == engine.processor.decode(said.ids).removesuffix("<|im_end|>")
    assert choice.message.content.startswith("<think>")
    assert choice.finish_reason == str(said.finish_reason)
    usage = answer.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (asked, len(said.ids))
    assert usage.total_tokens == asked + len(said.ids)
    assert choice.logprobs is None


def test_logprobs_are_those_of_the_engine_and_their_tokens_make_the_text(client, engine, pictures, episode):
    choice = greedy(client, episode, logprobs=True).choices[0]
    _, said = directly(engine, pictures, episode, Sampling(temperature=0, max_tokens=40))
    content = choice.logprobs.content
    assert "".join(token.token for token in content) == choice.message.content
    assert b"".join(bytes(token.bytes) for token in content).decode() == choice.message.content
    assert [token.logprob for token in content] == pytest.approx(said.logprobs[: len(content)], abs=1e-4)
    assert len(said.ids) - len(content) in (0, 1)  # the token that ends the turn is no text


def test_a_stream_says_the_same_in_pieces(client, episode):
    whole = greedy(client, episode, logprobs=True)
    chunks = list(greedy(client, episode, logprobs=True, stream=True, stream_options={"include_usage": True}))
    said = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert len(said) > 1
    assert "".join(choice.delta.content or "" for choice in said) == whole.choices[0].message.content
    assert said[0].delta.role == "assistant"
    assert [choice.finish_reason for choice in said[:-1]] == [None] * (len(said) - 1)
    assert said[-1].finish_reason == whole.choices[0].finish_reason
    tokens = [token for choice in said if choice.logprobs for token in choice.logprobs.content]
    assert [token.token for token in tokens] == [token.token for token in whole.choices[0].logprobs.content]
    assert chunks[-1].usage == whole.usage
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_stream_ends_with_done(server):
    body = {"model": "tiny", "messages": HELLO, "max_tokens": 3, "stream": True}
    answer = httpx.post(f"{server.url}/chat/completions", json=body, trust_env=False, timeout=60)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith("data: [DONE]\n\n")


def test_several_choices_are_sampled_apart(client, episode):
    answer = client.chat.completions.create(model="tiny", messages=episode, n=4, max_tokens=12, temperature=2)
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    assert len({choice.message.content for choice in answer.choices}) > 1
    assert answer.usage.completion_tokens > 12


def test_several_choices_stream_side_by_side(client, episode):
    options: dict[str, Any] = {"n": 3, "max_tokens": 9, "temperature": 1}
    chunks = client.chat.completions.create(model="tiny", messages=episode, stream=True, **options)
    reasons = {c.index: c.finish_reason for chunk in chunks for c in chunk.choices if c.finish_reason}
    assert set(reasons) == {0, 1, 2}


def test_a_seed_gives_the_same_answer_again(client, episode):
    def said(seed: int) -> list[str]:
        answer = client.chat.completions.create(
            model="tiny", messages=episode, n=2, max_tokens=12, temperature=2, seed=seed
        )
        return [choice.message.content for choice in answer.choices]

    first = said(7)
    assert said(7) == first
    assert first[0] != first[1]
    assert said(8) != first


def test_a_logit_bias_makes_tokens_certain_or_keeps_them_out(client, engine, episode):
    wanted = engine.processor.encode("task")
    certain = greedy(client, episode, max_tokens=3, logit_bias={str(wanted[0]): 100})
    assert certain.choices[0].message.content == engine.processor.decode(wanted[:1] * 3)
    plain = greedy(client, episode, max_tokens=3, logprobs=True).choices[0]
    first = engine.processor.encode(plain.logprobs.content[0].token)
    without = greedy(client, episode, max_tokens=3, logit_bias={str(first[0]): -100}).choices[0]
    assert not without.message.content.startswith(plain.logprobs.content[0].token)


@pytest.mark.parametrize("stream", [False, True])
def test_text_ends_before_a_stop_text(client, episode, stream):
    whole = greedy(client, episode).choices[0].message.content
    stop = whole[17:22]
    begin = whole.index(stop)
    answer = greedy(client, episode, stop=["never said", stop], stream=stream, logprobs=True)
    choices = [chunk.choices[0] for chunk in answer] if stream else answer.choices
    said = [choice.delta.content for choice in choices] if stream else [choices[0].message.content]
    assert "".join(said) == whole[:begin]
    assert choices[-1].finish_reason == "stop"
    tokens = [token.token for choice in choices if choice.logprobs for token in choice.logprobs.content]
    assert whole[:begin].startswith("".join(tokens))


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_longest_answer_is_what_was_asked_for(client, episode, name):
    answer = client.chat.completions.create(model="tiny", messages=episode, temperature=0, **{name: 5})
    assert answer.usage.completion_tokens == 5
    assert answer.choices[0].finish_reason == "length"


def test_pictures_are_seen_and_counted(client, engine, pictures):
    first = greedy(client, shown(picture(10)), 8, logprobs=True)
    again = greedy(client, shown(picture(10)), 8, logprobs=True)
    other = greedy(client, shown(picture(200)), 8, logprobs=True)

    def logprobs(answer: Any) -> list[float]:
        return [token.logprob for token in answer.choices[0].logprobs.content]

    assert logprobs(first) == pytest.approx(logprobs(again), abs=1e-4)
    assert logprobs(first) != pytest.approx(logprobs(other), abs=1e-4)
    without = greedy(client, shown(), 1).usage.prompt_tokens
    two = greedy(client, shown(picture(10), picture(20)), 1).usage.prompt_tokens
    assert two - first.usage.prompt_tokens == first.usage.prompt_tokens - without
    assert first.usage.prompt_tokens - without == engine.processor.image_tokens(320, 320) + 2  # and its two markers
    assert len(pictures) == 0


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://example.org/cat.png", "this server fetches nothing"),
        ("file:///etc/passwd", "this server fetches nothing"),
        ("data:image/png;base64,%%%", "base64 that cannot be decoded"),
        (data_url(b"GIF89a nothing"), "no picture that can be read; known: JPEG, PNG, WEBP"),
        (data_url(picture(3)[:200]), "no picture that can be read"),
        (data_url(picture(3, (1000, 2))), "no side may be over 200 times the other"),
    ],
)
def test_a_picture_that_cannot_be_read_is_the_clients_error(client, pictures, url, message):
    messages = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]
    with pytest.raises(openai.BadRequestError, match=message):
        greedy(client, messages)
    assert len(pictures) == 0


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"model": "other"}, "model_not_found", "no model 'other'"),
        ({"tools": [{"type": "function"}]}, "unknown_parameter", "'tools' is not supported here"),
        ({"temperature": -1}, "invalid_value", "temperature: input should be greater"),
        ({"top_logprobs": 3, "logprobs": True}, "invalid_value", "top_logprobs"),
        ({"frequency_penalty": 0.5}, "invalid_value", "frequency_penalty"),
        ({"messages": []}, "invalid_value", "messages"),
        ({"messages": [{"role": "wizard", "content": "hi"}]}, "invalid_value", "messages.0.role"),
        ({"messages": [{"role": "user", "content": [{"type": "audio"}]}]}, "invalid_value", "audio"),
        ({"logit_bias": {"99999": 1}}, None, "logit_bias has token id 99999"),
        ({"max_tokens": 100_000}, "context_length_exceeded", "context holds 2048"),
        ({"messages": [{"role": "user", "content": "word " * 3000}]}, "context_length_exceeded", "context holds 2048"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_errors_have_openais_shape_and_say_what_is_wrong(server, change, code, message, stream):
    body = {"model": "tiny", "messages": HELLO, "max_tokens": 4, "stream": stream} | change
    answer = httpx.post(f"{server.url}/chat/completions", json=body, trust_env=False, timeout=60)
    assert answer.status_code in (400, 404)
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert (error["type"], error["code"]) == ("invalid_request_error", code)
    assert message in error["message"]


def test_a_body_that_is_no_json_and_a_path_that_is_not_there(server):
    http = httpx.Client(trust_env=False)
    bad = http.post(
        f"{server.url}/chat/completions", content=b'{"model": ', headers={"Content-Type": "application/json"}
    )
    assert (bad.status_code, bad.json()["error"]["type"]) == (400, "invalid_request_error")
    lost = http.get(f"{server.url}/embeddings")
    assert lost.status_code == 404
    assert "/v1/embeddings" in lost.json()["error"]["message"]


def test_null_is_the_same_as_left_out(server):
    body = {"model": "tiny", "messages": HELLO, "max_tokens": 2, "temperature": None, "stop": None, "seed": None}
    assert httpx.post(f"{server.url}/chat/completions", json=body, trust_env=False, timeout=60).status_code == 200


def test_a_token_is_asked_for_where_there_is_one(service):
    with Served(service, token="the-token") as server:
        wrong = openai.OpenAI(base_url=server.url, api_key="wrong", max_retries=0)
        with pytest.raises(openai.AuthenticationError, match=r"Bearer \$WEBDOJO_SERVE_TOKEN") as caught:
            wrong.models.list()
        assert caught.value.code == "invalid_api_key"
        assert [m.id for m in openai.OpenAI(base_url=server.url, api_key="the-token").models.list()] == ["tiny"]
        assert httpx.get(server.url.replace("/v1", "/health"), trust_env=False).status_code == 200


def test_web_pages_have_no_access_without_a_token(server):
    answer = httpx.get(f"{server.url}/models", headers={"Origin": "https://evil.example"}, trust_env=False)
    assert answer.status_code == 403
    assert "a web page asks" in answer.json()["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
async def test_who_hangs_up_takes_his_request_along(server, pictures, episode, stream):
    body = {"model": "tiny", "messages": episode, "max_tokens": 1000, "n": 64, "temperature": 2, "stream": stream}
    async with httpx.AsyncClient(trust_env=False) as http:
        asking = asyncio.create_task(http.post(f"{server.url}/chat/completions", json=body, timeout=60))
        deadline = time.monotonic() + 30
        while not len(pictures):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        while len(pictures):
            assert time.monotonic() < deadline, "the request still runs"
            await asyncio.sleep(0.01)


def test_an_engine_that_fails_is_a_server_error(loaded, images):
    model, processor = loaded
    broken = HFEngine(model, processor, images, threads=1)
    broken.close()
    service = ChatService(broken, processor, Pictures(), name="tiny", context_tokens=2048)
    with Served(service) as server:
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        with pytest.raises(openai.InternalServerError, match="the engine was closed"):
            greedy(client, HELLO)
        with pytest.raises(openai.InternalServerError, match="the engine was closed"):
            list(greedy(client, HELLO, stream=True))
