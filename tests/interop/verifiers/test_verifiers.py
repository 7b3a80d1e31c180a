"""`verifiers` loads `webdojo` by its name and runs episodes of it, in real Chromium against a scripted endpoint.

`make test-interop` makes the environment that this runs in; elsewhere it is skipped.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.interop.chat_endpoint import Script, answering
from tests.interop.policies import GIVE_UP, SMALL, solution
from webdojo.store.run import RunStore
from webdojo.types import ToolCall

pytest.importorskip("verifiers", reason="not installed here: make test-interop")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
DOCS = Path(__file__).parents[3] / "docs" / "interop.md"
SCROLL = ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.5})


def environment(run: Path, calls: str = "native", **options: Any) -> Any:
    """What `vf-eval webdojo` makes of its options."""
    import verifiers.v1 as vf
    from verifiers.v1.utils.loaders import resolve_env_config

    taskset = {"id": "webdojo", "overrides": SMALL, "tasks": 3, "run": run}
    agent = {"harness": {"id": "webdojo", "calls": calls}, **options}
    return vf.load_environment(resolve_env_config({"taskset": taskset, "agent": agent}))


async def rollout(env: Any, script: Script) -> Any:
    """One episode of the first task, whose model is the script."""
    import verifiers.v1 as vf

    async with answering(script) as url:
        client = vf.EvalClientConfig(base_url=url, api_key_var="NONE")
        ctx = vf.ModelContext(client=client, model="script", sampling=vf.SamplingConfig())
        async with env.serving():
            return await env.run_episode(next(iter(env.taskset)), ctx)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def solved(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The calls that do the first task."""
    env = environment(tmp_path_factory.mktemp("solved") / "run")
    async with env.taskset.config.make_host() as host:
        return await solution(host, next(iter(host.tasks.values())))


async def test_a_solved_task_has_its_reward_and_every_screenshot_in_the_conversation(tmp_path, solved):
    script = Script(solved)
    episode = await rollout(environment(tmp_path / "run"), script)
    (trace,) = episode.traces
    assert episode.ok, (episode.errors, trace.errors)
    assert trace.reward == 1 and trace.metrics["success"] == 1
    pictures = sum(
        part["type"] == "image_url"
        for message in script.asked[-1]["messages"]
        for part in (message["content"] if isinstance(message["content"], list) else [])
    )
    assert pictures == len(solved)
    assert {tool["function"]["name"] for tool in script.asked[0]["tools"]} >= {"click", "done"}
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        (stored,) = store.trajectories("verifiers")
    assert stored.id == trace.info["webdojo"]["trajectory"]
    assert [list(turn.parsed.calls) for turn in stored.turns] == solved


async def test_calls_in_text_and_a_wrong_answer(tmp_path):
    script = Script([[SCROLL], [GIVE_UP]], native=False)
    episode = await rollout(environment(tmp_path / "run", calls="text"), script)
    (trace,) = episode.traces
    assert episode.ok, (episode.errors, trace.errors)
    assert trace.reward == 0 and trace.metrics["success"] == 0
    assert "tools" not in script.asked[0]
    assert "<tool_response>" in script.asked[1]["messages"][-1]["content"][0]["text"]


async def test_the_limit_of_turns_of_verifiers_leaves_an_unfinished_episode(tmp_path):
    env = environment(tmp_path / "run", max_turns=2)
    episode = await rollout(env, Script([[SCROLL]] * 3))
    (trace,) = episode.traces
    assert trace.stop_condition == "max_turns"
    assert trace.reward == 0 and trace.metrics["truncated"] == 1


async def test_vf_eval_with_the_configuration_of_the_docs(tmp_path, solved):
    (block,) = re.findall(r"```toml\n(\[env\.taskset\].*?)```", DOCS.read_text(), re.DOTALL)
    config = tomllib.loads(block)
    config["env"]["taskset"] |= {"overrides": SMALL, "tasks": 3, "run": str(tmp_path / "run")}
    (tmp_path / "eval.json").write_text(json.dumps(config))
    async with answering(Script([*solved, [GIVE_UP]])) as url:
        options = ["-n", "2", "-c", "1", "--no-push", "--model", "script", "--client.base-url", url]
        evaluation = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("vf-eval"),
            *["@", tmp_path / "eval.json", "--output-dir", tmp_path / "out", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output, _ = await evaluation.communicate()
    assert evaluation.returncode == 0, output.decode()
    (file,) = (tmp_path / "out").glob("*/traces.jsonl")
    traces = [trace for line in file.read_text().splitlines() for trace in json.loads(line)["traces"]]
    assert [trace["rewards"]["verdict"]["score"] for trace in traces] == [1, 0]
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        stored = [trajectory.id for trajectory in store.trajectories("verifiers")]
    assert stored == [trace["info"]["webdojo"]["trajectory"] for trace in traces]
