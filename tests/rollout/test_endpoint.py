"""A whole episode whose agent is asked over HTTP: harness, browser, site, `ChatEngine` and a server of the model."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from tests.policy.chat.endpoint import Answering, Endpoint, completion, say
from webdojo.agent.openwebrl import OpenWebRLConfig
from webdojo.agent.toolcall import IM_END
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.dojo import Dojo
from webdojo.loops.models import open_engine
from webdojo.policy.chat.client import ChatClient
from webdojo.policy.chat.engine import ChatEngine
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.recipe import load_recipe
from webdojo.reward.gate import Scorer
from webdojo.reward.rules import Rules
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.types import Engine, ImageSegment, Prompt, Sampling, Task, Termination, TextSegment, Trajectory

SAMPLING = Sampling(temperature=0, max_tokens=96)


@pytest.fixture(scope="module")
def processor() -> Processor:
    return Processor.load(model_folder("tiny"))


@pytest_asyncio.fixture
async def env() -> AsyncIterator[Dojo]:
    async with Dojo(layout="compact") as env:
        yield env


async def play(task: Task, engine: Engine, images: MemoryImages, env: Dojo, codec: Processor) -> Trajectory:
    config = OpenWebRLConfig(tool_schemas="signature")
    async with BrowserPool(BrowserConfig(viewport_px=(320, 320)), images, dict(env.hosts)) as pool:
        trajectory = await run_episode(
            task,
            env=env,
            pool=pool,
            harness=config.build(codec),
            actor=lambda task, session: engine,
            config=RolloutConfig(task_timeout_s=120),
            sampling=SAMPLING,
            max_steps=4,
        )
    await Scorer(Rules(), images).score(trajectory)
    return trajectory


def chatml(messages: list[dict[str, Any]], codec: Processor, images: MemoryImages) -> Prompt:
    """The prompt that a model server makes of messages, with the screenshots of their data URLs."""
    segments: list[TextSegment | ImageSegment] = []
    for message in messages:
        content, text = message["content"], f"<|im_start|>{message['role']}\n"
        parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            if part["type"] == "text":
                text += part["text"]
                continue
            data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            image = images.put(data, *Image.open(io.BytesIO(data)).size, "image/jpeg")
            segments.append(TextSegment(ids=tuple(codec.encode(f"{text}<|vision_start|>"))))
            segments.append(ImageSegment(image=image, tokens=codec.image_tokens(image.width, image.height)))
            text = "<|vision_end|>"
        segments.append(TextSegment(ids=tuple(codec.encode(f"{text}{IM_END}\n"))))
    return Prompt(segments=(*segments, TextSegment(ids=tuple(codec.encode("<|im_start|>assistant\n")))))


def by_model(server: Endpoint, engine: Engine, codec: Processor, images: MemoryImages) -> Answering:
    """Answer what was asked last with what a model samples."""

    def answer(http: BaseHTTPRequestHandler) -> None:
        asked = server.bodies[-1]
        prompt = chatml(asked["messages"], codec, images)
        sampling = Sampling(temperature=asked["temperature"], max_tokens=asked["max_tokens"])
        response = asyncio.run(engine.generate(prompt, sampling))
        body = completion(codec.decode(response.ids).removesuffix(IM_END), len(prompt), len(response.ids))
        body["choices"][0]["finish_reason"] = response.finish_reason
        say(body)(http)

    return answer


async def test_an_episode_over_the_api_is_the_one_of_the_engine_itself(env, processor):
    """Greedy, on the same pages: the same screens, words and calls, turn by turn."""
    task, images = make_tasks(["shop"], [0], 1, seed=5, layout="compact")[0], MemoryImages()
    received = MemoryImages()
    with Endpoint() as server:
        async with (
            open_engine(load_recipe("quickstart"), received, "tiny") as engine,
            ChatClient(server.config(max_retries=0)) as client,
        ):
            server.default = by_model(server, engine, processor, received)
            far = await play(task, ChatEngine(client, processor, images), images, env, processor)
            totals = client.totals()
    async with open_engine(load_recipe("quickstart"), images, "tiny") as engine:
        near = await play(task, engine, images, env, processor)
    assert not far.termination.is_infra, far.error
    assert far.turns
    assert [turn.text for turn in far.turns] == [turn.text for turn in near.turns]
    assert [turn.parsed for turn in far.turns] == [turn.parsed for turn in near.turns]
    assert far.termination is near.termination
    assert totals.requests == len(far.turns)
    assert totals.input_tokens == sum(len(turn.prompt) for turn in far.turns)
    assert all(set(turn.response.logprobs) == {0.0} for turn in far.turns)


def says(thought: str, tool: str, arguments: str) -> Answering:
    """An answer that calls a tool."""
    return say(completion(thought, tool_calls=[{"function": {"name": tool, "arguments": arguments}}]))


async def test_an_agent_with_native_tool_calls_does_a_task(env, processor):
    """The endpoint is a program that answers the task's question by a call of `done`."""
    task, images = make_tasks(["shop"], [0], 1, seed=5, layout="compact")[0], MemoryImages()
    script = [
        says("Down.", "scroll", '{"direction": "down", "amount": 0.5}'),
        says("Hm.", "scrol", "{}"),
        says("So.", "done", '{"answer": "42"}'),
    ]
    with Endpoint(*script) as endpoint:
        async with ChatClient(endpoint.config(tool_calls="native")) as client:
            trajectory = await play(task, ChatEngine(client, processor, images), images, env, processor)
    assert trajectory.termination is Termination.COMPLETED, trajectory.error
    assert trajectory.answer == "42"
    assert [turn.parsed.think for turn in trajectory.turns] == ["Down.", "Hm.", "So."]
    assert "did you mean scroll" in (trajectory.turns[1].parsed.error or "")
    assert trajectory.turns[0].feedback[0].ok
    last = endpoint.bodies[-1]
    assert len(last["tools"]) == 13
    roles = [message["role"] for message in last["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user", "assistant", "user"]
    assert isinstance(last["messages"][-1]["content"], list)


async def test_a_budget_that_is_used_up_ends_the_episode_and_says_so(env, processor):
    task, images = make_tasks(["shop"], [0], 1, seed=5, layout="compact")[0], MemoryImages()
    with Endpoint() as endpoint:
        config = endpoint.config(price_output=1000.0, budget_usd=0.01)
        async with ChatClient(config) as client:
            trajectory = await play(task, ChatEngine(client, processor, images), images, env, processor)
        assert not endpoint.bodies
    assert trajectory.termination is Termination.ABORTED
    assert "engine.budget_usd" in trajectory.error
