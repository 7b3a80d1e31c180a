"""BrowserGym's own environment, browser and actions on our tasks.

`make test-interop` makes the environment that this runs in; elsewhere it is skipped.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interop.policies import SMALL
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.errors import ConfigError
from webdojo.store.run import RunStore
from webdojo.types import Termination, ToolCall, Trajectory

pytest.importorskip("browsergym", reason="not installed here: make test-interop")
ROOT = Path(__file__).parents[3]
SIDE = 320


SOLVE = """
import asyncio, json
from tests.interop.policies import host, solution

async def main():
    async with host(None) as episodes:
        task = episodes.choose(seed=1)
        turns = await solution(episodes, task)
        print(json.dumps([task.id, [[call.model_dump() for call in calls] for calls in turns]]))

asyncio.run(main())
"""
"""Runs with our own Playwright, since BrowserGym's cannot drive our sessions."""


@pytest.fixture(scope="module")
def solved() -> tuple[str, list[list[ToolCall]]]:
    """The id of a task, and what the oracle calls, turn by turn."""
    done = subprocess.run([ROOT / ".venv/bin/python", "-c", SOLVE], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    id, turns = json.loads(done.stdout)
    return id, [[ToolCall.model_validate(call) for call in calls] for calls in turns]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browsergym") / "run"


@pytest.fixture(scope="module")
def launches_ours() -> Iterator[None]:
    """BrowserGym's Playwright starts our Chromium."""
    from playwright.sync_api import BrowserType

    launch, ours = BrowserType.launch, find_chromium(BrowserConfig())

    def launch_it(self: BrowserType, **options: Any) -> Any:
        return launch(self, **{"executable_path": ours, **options})  # BrowserGym's chat window names none

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BrowserType, "launch", launch_it)
        yield


@pytest.fixture(scope="module")
def env(solved: tuple[str, Any], run: Path, launches_ours: None) -> Iterator[Any]:
    import gymnasium
    from browsergym.core.action.highlevel import HighLevelActionSet

    import webdojo.interop.browsergym  # noqa: F401 (registers)

    made = gymnasium.make(
        "browsergym/webdojo.train",
        task_kwargs={"overrides": SMALL, "tasks": 10, "run": str(run), "task": solved[0]},
        action_mapping=HighLevelActionSet(["coord", "chat", "infeas"], multiaction=True).to_python_code,
        pre_observation_delay=0.1,
        disable_env_checker=True,
    )
    yield made
    made.close()


def in_their_words(call: ToolCall) -> str:
    given = call.arguments
    if call.name == "click":
        return f"mouse_click({given['x'] * SIDE / 1000}, {given['y'] * SIDE / 1000})"
    if call.name == "scroll":
        return f"scroll(0, {SIDE * given.get('amount', 0.5) * (-1 if given['direction'] == 'up' else 1)})"
    assert call.name == "done", call
    return f"send_msg_to_user({given.get('answer', '')!r})"


def stored(run: Path, id: str) -> Trajectory:
    with RunStore.open(run, readonly=True) as store:
        return store.trajectory(id)


def test_a_task_is_solved_by_its_actions_and_stored(env, solved, run):
    id, turns = solved
    seen, info = env.reset(seed=0)
    assert info["task_info"]["task_id"] == id
    assert seen["screenshot"].shape == (SIDE, SIDE, 3)
    actions = ["\n".join(map(in_their_words, calls)) for calls in turns]
    for action in actions:
        seen, reward, terminated, _, _ = env.step(action)
        assert not seen["last_action_error"]
    assert (reward, terminated) == (1.0, True)
    trajectory = stored(run, info["task_info"]["trajectory"])
    assert (trajectory.termination, [turn.text for turn in trajectory.turns]) == (Termination.COMPLETED, actions)
    assert trajectory.reward is not None and trajectory.reward.success


def test_a_wrong_answer_fails(env, run):
    _, info = env.reset(seed=0)
    _, reward, terminated, _, after = env.step("send_msg_to_user('nonsense')")
    assert (reward, terminated, after["task_info"]["success"]) == (0.0, True, False)
    assert stored(run, info["task_info"]["trajectory"]).answer == "nonsense"


def test_an_episode_that_is_left_is_unfinished(env, run):
    _, info = env.reset(seed=0)
    assert not env.step("noop()")[2]
    env.reset(seed=0)
    trajectory = stored(run, info["task_info"]["trajectory"])
    assert (trajectory.termination, trajectory.steps) == (Termination.MAX_STEPS, 1)
    assert trajectory.reward is not None and trajectory.reward.valid and not trajectory.reward.success


def test_saying_that_it_cannot_be_done_is_an_answer(env, run):
    _, info = env.reset(seed=0)
    assert env.step("report_infeasible('There is no such page.')")[2]
    assert stored(run, info["task_info"]["trajectory"]).answer == "There is no such page."


def test_an_unknown_option_is_named():
    from webdojo.interop.browsergym import make

    with pytest.raises(ConfigError, match="unknown task_kwargs 'goal'"):
        make("eval", {"goal": "x"})
