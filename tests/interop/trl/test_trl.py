"""The environments for TRL: tools that it can read, episodes as its trainer drives them, and a training of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from transformers.utils.chat_template_utils import get_json_schema

from tests.interop.policies import SMALL, solution
from webdojo.browser.tools import TOOLS, json_schema
from webdojo.interop.trl import BrowserEnvironment, Environments
from webdojo.store.run import RunStore


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environments]:
    with Environments("quickstart", SMALL, run=tmp_path_factory.mktemp("trl") / "run", tasks=10) as started:
        yield started


@pytest.mark.parametrize("name", TOOLS)
def test_trl_reads_the_schema_that_we_check_calls_by(name):
    read = get_json_schema(getattr(BrowserEnvironment, name))["function"]
    ours = json_schema(name)["function"]
    assert (read["name"], read["description"]) == (name, ours["description"])
    assert read["parameters"].get("required", []) == ours["parameters"]["required"]
    assert list(read["parameters"]["properties"]) == list(ours["parameters"]["properties"])
    for argument, schema in ours["parameters"]["properties"].items():
        found = read["parameters"]["properties"][argument]
        assert (found["type"], found.get("enum")) == (schema["type"], schema.get("enum"))


def test_a_solved_task_has_its_reward_and_an_unfinished_one_none(environments):
    host = environments.host
    row = environments.rows()[0]
    turns = environments._loop.run(solution(host, host.tasks[row["task"]]))
    env = environments.make()
    text, image = env.reset(seed=0, **row)
    assert host.tasks[row["task"]].instruction in text["text"]
    assert image["image"].size == (320, 320)
    for call in (call for calls in turns for call in calls):
        text, image = getattr(env, call.name)(**call.arguments)
    assert env.get_reward() == 1
    text, _ = env.reset(**row)
    text, _ = env.scroll(direction="down", amount=0.5)
    assert "scroll" in text["text"].lower()
    assert env.get_reward() == 0
    stored = host.store.trajectories("trl")
    assert [trajectory.termination for trajectory in stored[-2:]] == ["completed", "max_steps"]


@pytest.mark.slow
def test_trl_trains_the_tiny_model_on_embedded_tasks(tmp_path):
    script = Path(__file__).parent / "grpo.py"
    assert len(script.read_text().splitlines()) < 60
    done = subprocess.run(
        [sys.executable, script, tmp_path / "run"], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "steps 2" in done.stdout
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert len(store.rows("trl")) == 4
