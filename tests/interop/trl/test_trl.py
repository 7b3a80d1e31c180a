"""The environments for TRL: tools that it can read, episodes as its trainer drives them, and a training of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from transformers.utils.chat_template_utils import get_json_schema

from tests.interop.policies import SMALL, recipe, solution
from webdojo.browser.tools import TOOLS, json_schema
from webdojo.errors import ConfigError
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
    assert [trajectory.termination for trajectory in stored[-2:]] == ["completed", "stopped"]


def test_a_call_that_cannot_be_is_answered_as_a_models_is(environments):
    env = environments.make()
    env.reset(**environments.rows()[0])
    assert 'click has no argument "z"; use click(x, y' in env.click(x=1, y=1, z=1)[0]["text"]
    assert "click needs y" in env.click(x=1)[0]["text"]
    with pytest.raises(TypeError):
        env.new_tab(1)
    assert env.get_reward() == 0


def test_the_protocol_says_what_trl_does(environments):
    system = environments.rows()[0]["prompt"][0]["content"]
    assert "Several calls in one turn run in order; each shows the screen after it." in system
    assert "All screenshots and your words stay." in system
    assert "Only" not in system


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"overrides": "env.kinds=[wiki]"}, r"must be a list: \['env.kinds=\[wiki\]'\]"),
        ({"tasks": 0}, "tasks = 0 must be a number of tasks"),
        ({"tasks": ["wiki-0"]}, r"tasks = \['wiki-0'\] must be a number of tasks"),
        ({"recipe": None}, "recipe = None must be a name"),
        ({"recipe": recipe(), "overrides": ["seed=1"]}, "change a recipe that is named"),
    ],
)
def test_wrong_arguments_are_one_clear_line(options, says):
    with pytest.raises(ConfigError, match=says):
        Environments(**options)


@pytest.mark.slow
def test_grpo_trainer_learns_from_a_solved_and_a_failed_rollout_of_each_task(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.interop.trl.grpo", tmp_path / "run"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    steps = json.loads(done.stdout.splitlines()[-1])[:-1]
    assert len(steps) == 2
    for step in steps:
        assert step["rewards/BrowserEnvironment/mean"] == 0.5
        assert step["tools/call_frequency"] > 1 and step["tools/failure_frequency"] == 0
        assert step["grad_norm"] > 0
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        # Before them the oracle has done all four tasks.
        trained = store.trajectories("trl")[4:]
    assert sorted(trajectory.reward.value for trajectory in trained if trajectory.reward) == [0, 0, 1, 1]


ON_CPU = """
import transformers

from tests.interop.trl.processor import load

transformers.AutoProcessor.from_pretrained = load
"""


@pytest.mark.slow
def test_the_example_of_the_docs_trains(tmp_path):
    root = Path(__file__).parents[3]
    page = (root / "docs" / "interop.md").read_text()
    block = re.search(r"^## TRL$.*?^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert block is not None
    done = subprocess.run(
        [sys.executable, "-c", ON_CPU + block[1]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    with RunStore.open(tmp_path / "runs" / "trl", readonly=True) as store:
        ends = {(row.termination, row.reward) for row in store.rows("trl")}
    assert ends == {("stopped", 0)}
