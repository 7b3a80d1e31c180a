"""NeMo-Gym's own agent against our resources server, in real Chromium, over HTTP.

`make test-interop` makes the environment that this runs in, where there is a Python that NeMo-Gym takes; elsewhere it
is skipped.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import uvicorn
import yaml
from fastapi import FastAPI
from PIL import Image

from tests.interop.policies import GIVE_UP, SMALL, solution
from webdojo.interop.host import EpisodeHost
from webdojo.types import Termination, ToolCall, Trajectory

pytest.importorskip("nemo_gym", reason="not installed here: make test-interop")
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]
ROOT = Path(__file__).parents[3]
SCROLL = ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})


@asynccontextmanager
async def listening(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    """Serve an application; yields where, as NeMo-Gym's configurations have it."""
    with socket.create_server(("127.0.0.1", 0)) as at:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        serving = asyncio.create_task(server.serve([at]))
        while not server.started:
            assert not serving.done(), serving.exception()
            await asyncio.sleep(0.05)
        yield {"host": "127.0.0.1", "port": at.getsockname()[1]}
        server.should_exit = True
        await serving


class Model:
    """Answers `/v1/responses` by a script."""

    def __init__(self) -> None:
        self.turns: list[Sequence[ToolCall]] = []
        self.asked: list[dict[str, Any]] = []
        self.app = FastAPI()
        self.app.post("/v1/responses")(self.answer)

    def say(self, turns: Sequence[Sequence[ToolCall]]) -> None:
        self.turns, self.asked = list(turns), []

    async def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        calls = self.turns[len(self.asked)]
        self.asked.append(body)
        output: list[dict[str, Any]] = [
            {
                "type": "function_call",
                "call_id": f"call_{n}",
                "name": call.name,
                "arguments": json.dumps(call.arguments),
            }
            for n, call in enumerate(calls)
        ]
        said = {"type": "output_text", "text": "I give up.", "annotations": []}
        message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [said]}
        return {
            "id": f"answer-{len(self.asked)}",
            "object": "response",
            "created_at": 0,
            "model": "script",
            "output": output or [message],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }


class Stage:
    """NeMo-Gym's agent, the scripted model and our server, each at an address of its own."""

    def __init__(self, agent: Any, model: Model, host: EpisodeHost) -> None:
        self.agent, self.model, self.host = agent, model, host

    async def play(self, turns: Sequence[Sequence[ToolCall]], task: int = 0) -> tuple[Any, Trajectory]:
        """What the agent's run answers, and the trajectory that is stored."""
        from responses_api_agents.aviary_agent.app import AviaryAgentRunRequest

        self.model.say(turns)
        done = await self.agent.run(AviaryAgentRunRequest(task_idx=task))
        return done, self.host.store.trajectory(done.response.env_id)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    from nemo_gym.config_types import BaseServerConfig
    from nemo_gym.server_utils import GlobalAIOHTTPAsyncClientConfig, ServerClient, set_global_aiohttp_client
    from omegaconf import OmegaConf
    from responses_api_agents.aviary_agent.app import AviaryAgent, AviaryAgentConfig

    from webdojo.interop.nemo_gym.server import WebdojoResourcesServer, WebdojoResourcesServerConfig

    nowhere = {"host": "127.0.0.1", "port": 1, "entrypoint": "app.py"}
    head = BaseServerConfig(host="127.0.0.1", port=1)
    client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create({}))
    run = tmp_path_factory.mktemp("nemo_gym") / "run"
    config = WebdojoResourcesServerConfig(name="webdojo", overrides=SMALL, tasks=10, run=run, **nowhere)
    server, model = WebdojoResourcesServer(config=config, server_client=client), Model()
    async with listening(server.setup_webserver()) as ours, listening(model.app) as policy:
        addresses = {
            "webdojo": {"resources_servers": {"webdojo": ours}},
            "policy_model": {"responses_api_models": {"script": policy}},
        }
        set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
        agent = AviaryAgent(
            config=AviaryAgentConfig(
                name="agent",
                resources_server={"type": "resources_servers", "name": "webdojo"},
                model_server={"type": "responses_api_models", "name": "policy_model"},
                **nowhere,
            ),
            server_client=ServerClient(head_server_config=head, global_config_dict=OmegaConf.create(addresses)),
        )
        yield Stage(agent, model, server._host)


async def test_its_agent_succeeds_by_screenshots(stage):
    task = next(iter(stage.host.tasks.values()))
    turns = await solution(stage.host, task)
    done, stored = await stage.play(turns)
    assert (done.reward, done.success, done.mask_sample) == (1.0, 1.0, False)
    assert (stored.task.id, stored.termination) == (task.id, Termination.COMPLETED)
    assert [list(turn.parsed.calls) for turn in stored.turns] == [list(calls) for calls in turns]
    first = stage.model.asked[0]
    assert task.instruction in first["input"][1]["content"][0]["text"]
    kind, _, data = first["input"][1]["content"][1]["image_url"].partition(",")
    assert kind.startswith("data:image/") and Image.open(io.BytesIO(base64.b64decode(data))).size == (320, 320)
    assert {"click", "scroll", "done"} <= {tool["name"] for tool in first["tools"]}
    shown = [part for item in stage.model.asked[-1]["input"] for part in item.get("content", []) if "image_url" in part]
    assert len(shown) == len(turns), "one screenshot for each turn"


async def test_a_wrong_answer_fails_and_each_call_is_told_what_became_of_it(stage):
    done, stored = await stage.play([[SCROLL, SCROLL], [GIVE_UP]])
    assert (done.reward, done.success, done.mask_sample, done.truncated) == (0.0, 0.0, False, 0.0)
    told = [item for item in stage.model.asked[1]["input"] if item.get("type") == "function_call_output"]
    assert [each["call_id"] for each in told] == ["call_0", "call_1"]
    assert all(each["output"].startswith("scroll") for each in told)
    assert stored.answer == "nonsense"


async def test_an_agent_that_stops_calling_leaves_an_unfinished_episode(stage):
    done, stored = await stage.play([[SCROLL], []])
    assert (done.reward, done.truncated, stored.termination) == (0.0, 1.0, Termination.MAX_STEPS)
    assert not stage.host.episodes


async def test_arguments_that_cannot_be_read_are_told(stage):
    client, seed = stage.agent.server_client, stage.agent._seed_session
    seeded = await seed(0)
    broken = {"type": "function_call", "call_id": "c", "name": "click", "arguments": "{x: 1}"}
    body = {"action": [broken], "env_id": seeded.env_id}
    answer = await (await client.post(server_name="webdojo", url_path="/step", json=body)).json()
    assert answer["obs"][0]["output"].startswith("tool call 1: its arguments are no JSON object")
    assert not answer["done"]
    await client.post(server_name="webdojo", url_path="/close", json={"env_id": seeded.env_id})
    late = await (await client.post(server_name="webdojo", url_path="/step", json=body)).json()
    assert late["done"], "an episode that is over stays over"


async def test_a_failure_of_the_system_is_masked(stage):
    seeded = await stage.agent._seed_session(0)
    (episode,) = stage.host.episodes
    await episode.give_up("its caller is gone")
    response = {
        "id": "r",
        "object": "response",
        "created_at": 0,
        "model": "script",
        "output": [],
        "tools": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "env_id": seeded.env_id,
        "group_id": "0",
        "contains_transitions": False,
    }
    body = {"responses_create_params": {"input": []}, "response": response}
    verdict = await (await stage.agent.server_client.post(server_name="webdojo", url_path="/verify", json=body)).json()
    assert (verdict["reward"], verdict["mask_sample"]) == (0.0, True)


async def test_what_is_not_there_is_named(stage):
    client = stage.agent.server_client
    answer = await client.post(server_name="webdojo", url_path="/seed_session", json={"task_idx": 10})
    assert (answer.status, await answer.json()) == (422, {"detail": "there is no task_idx 10: give one from 0 to 9"})


async def test_the_folder_of_the_server_is_what_its_classes_read():
    from responses_api_agents.aviary_agent.app import AviaryAgentConfig, AviaryAgentRunRequest

    from webdojo.interop.nemo_gym.server import WebdojoResourcesServerConfig

    folder = ROOT / "deploy" / "nemo_gym" / "resources_servers" / "webdojo"
    config = yaml.safe_load((folder / "configs" / "webdojo.yaml").read_text())
    at = {"name": "x", "host": "127.0.0.1", "port": 1}
    ours = config["webdojo_resources_server"]["resources_servers"]["webdojo"]
    known = set(WebdojoResourcesServerConfig.model_validate(ours | at).model_fields_set)
    assert set(ours) - known == {"description", "verified"}, "which NeMo-Gym's command reads"
    agent = AviaryAgentConfig.model_validate(config["webdojo_agent"]["responses_api_agents"]["aviary_agent"] | at)
    assert agent.resources_server.name in config
    assert (folder / ours["entrypoint"]).exists()
    rows = [json.loads(line) for line in (folder / "data" / "example.jsonl").read_text().splitlines()]
    assert [AviaryAgentRunRequest.model_validate(row).task_idx for row in rows] == [0, 1, 2, 3, 4]
