"""Tasks of BrowserGym as an environment, as far as it needs no package: what recipes may say, and workers that fail.

`tests/interop/browsergym/test_tasks.py` has the package.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.codec import SmallCodec
from tests.envs.browsergym.processes import running
from tests.rollout.stage import BROWSER, IMAGES, Actor
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.browsergym.env import BrowserGym
from webdojo.envs.browsergym.process import TaskFailed, Worker, WorkerLost
from webdojo.errors import ConfigError, Failure, Missing, TaskError
from webdojo.recipe import load_recipe
from webdojo.reward.gate import Scorer
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.sites.taskgen import make_tasks
from webdojo.types import FinishReason, Sampling, Task, Termination, Trajectory

pytestmark = pytest.mark.asyncio(loop_scope="module")

STANDIN = Path(__file__).with_name("standin.py")
GOOD = "browsergym/good"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that is called as a Python is, and runs the stand-in instead of the worker."""
    file = tmp_path_factory.mktemp("standin") / "python"
    file.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} {STANDIN} "$@"\n')
    file.chmod(0o755)
    return str(file)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(BROWSER.model_copy(update={"debugging_port": True, "browsers": 1}), IMAGES) as pool:
        yield pool


def made(python: str, *names: str, **options: Any) -> BrowserGym:
    return BrowserGym(python=python, task_ids=[f"browsergym/{name}" for name in names], **options)


async def play(env: BrowserGym, pool: BrowserPool, task: Task, *answers: str) -> Trajectory:
    harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), SmallCodec())
    call = '<think>so</think><tool_call>{{"name": "{}", "arguments": {{{}}}}}</tool_call><|im_end|>'
    lines = [call.format("done", f'"answer": "{answer}"') for answer in answers]
    played = await run_episode(
        task,
        env=env,
        pool=pool,
        harness=harness,
        actor=Actor(harness.codec, list(lines or [call.format("go_back", "")]), FinishReason.STOP),
        config=RolloutConfig(task_timeout_s=60),
        sampling=Sampling(max_tokens=64),
        max_steps=len(answers) or 1,
        reward=env.reward,
    )
    await Scorer(env.reward, IMAGES).score(played)
    return played


# --- tasks ------------------------------------------------------------------------------------


async def test_seeds_come_from_the_recipes_and_training_and_held_out_ones_differ(python):
    env = made(python, "one", "two")
    train, again, other = (env.tasks("train", 5, seed) for seed in (7, 7, 8))
    assert train == again
    assert [task.website for task in train] == ["one", "two", "one", "two", "one"]
    assert len({task.id for task in [*train, *other]}) == 10
    seeds = [{task.metadata["seed"] for task in env.tasks(split, 1000, 7)} for split in ("train", "eval")]
    assert seeds[0].isdisjoint(seeds[1])
    assert len(env.samples("train", 1000, 7)) == 2
    assert env.difficulty_levels() == [1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, r"an older Playwright.*python -m venv browsergym-venv.*pip install browsergym-core websockets"),
        ({"python": "no-such-python"}, r"env\.python 'no-such-python' is no program: make an environment"),
        ({"python": sys.executable}, r"no task of BrowserGym is named: env\.task_ids"),
    ],
)
async def test_what_only_the_user_can_bring_is_named_in_a_line(options, says):
    with pytest.raises(Missing, match=says) as error:
        BrowserGym(**options).tasks("train", 1, 0)
    assert len(error.value.lines) == 1


async def test_a_recipe_with_browsers_that_nothing_can_attach_to_is_refused(python, tmp_path):
    def check(*changes: str) -> None:
        load_recipe(str(file), [*changes]).check(trains=True, demonstrates=False)

    file = tmp_path / "tasks.yaml"
    file.write_text(f"""
base: quickstart
browser: {{debugging_port: true}}
env: {{name: browsergym, python: {python}, task_ids: [{GOOD}]}}
reward: {{name: env}}
sft: {{demos: 0}}
""")
    check()
    for change, says in {
        "browser.debugging_port=false": r"set browser\.debugging_port=true",
        "browser.servers=[http://10.0.0.7:8400]": r"leave browser\.servers out",
        "browser.cdp_url=http://10.0.0.7:9222": r"leave browser\.cdp_url out",
    }.items():
        with pytest.raises(ConfigError, match=says):
            check(change)


async def test_tasks_of_others_are_refused(python):
    env, other = made(python, "good"), make_tasks(["shop"], [3], 1, seed=0)[0]
    for check in (env.check, env.reward.check):
        with pytest.raises(TaskError, match="BrowserGym"):
            check(other)


# --- what the environment lacks ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "options", "error", "says"),
    [
        (["nowhere"], {}, TaskError, r"no module registers the task 'browsergym/nowhere'.*env\.imports"),
        (["good"], {"imports": ["nowhere"]}, Missing, r"No module named 'nowhere'.*make an environment of its own"),
    ],
)
async def test_what_its_python_lacks_is_said_at_the_start(python, names, options, error, says):
    with pytest.raises(error, match=says):
        async with made(python, *names, **options):
            pass
    assert not running(STANDIN.name)


# --- episodes ---------------------------------------------------------------------------------


async def test_an_answer_ends_the_episode_and_the_verdict_is_the_tasks(python, pool):
    async with made(python, "good") as env:
        (task,) = env.tasks("train", 1, 0)
        over, left = await play(env, pool, task, "1"), await play(env, pool, task, "Infeasible: no such page")
        assert running(STANDIN.name)
    assert (over.task.instruction, over.termination, over.answer) == ("Wait.", Termination.COMPLETED, "1")
    assert over.state["browsergym"] == {"reward": 0.5, "done": True, "messages": [], "info": {"role": "assistant"}}
    assert over.reward is not None and (over.reward.value, over.reward.success) == (0.5, False)
    assert (left.termination, left.state["browsergym"]["info"]) == (Termination.COMPLETED, {"role": "infeasible"})
    assert not running(STANDIN.name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ends", "WorkerLost: the worker ended at 'setup' with exit code 3: Segmentation fault"),
        ("hangs", "WorkerLost: the worker did not answer 'setup' within 2 s"),
        ("raises", "TaskFailed: KeyError: 'row'"),
    ],
)
async def test_a_task_that_does_not_begin_makes_its_episode_invalid_and_the_next_goes_on(python, pool, name, says):
    async with made(python, name, "good", timeout_s=2) as env:
        bad, good = env.tasks("train", 2, 0)
        failed, next_one = await play(env, pool, bad), await play(env, pool, good, "1")
        assert len(running(STANDIN.name)) == 1
    assert (failed.termination, failed.failure) == (Termination.START_ERROR, Failure.ENVIRONMENT_FAILED)
    assert says in failed.error
    assert failed.reward is not None and not failed.reward.valid
    assert next_one.reward is not None and next_one.reward.valid
    assert not running(STANDIN.name)


@pytest.mark.parametrize(("name", "says"), [("silent", "tells no goal"), ("pictures", "which no harness shows")])
async def test_a_goal_that_cannot_be_given_is_the_users_to_change(python, pool, name, says):
    async with made(python, name) as env:
        with pytest.raises(TaskError, match=says):
            await play(env, pool, env.tasks("train", 1, 0)[0])
    assert not running(STANDIN.name)


async def test_a_session_that_nothing_can_attach_to_is_the_users_to_change(python):
    async with made(python, "good") as env, BrowserPool(BrowserConfig(browsers=1), IMAGES) as closed:
        with pytest.raises(ConfigError, match=r"browser\.debugging_port=true"):
            await play(env, closed, env.tasks("train", 1, 0)[0])


# --- workers ----------------------------------------------------------------------------------


async def test_a_worker_is_heard_in_order_and_ends_when_it_is_not_heard(python):
    worker = await Worker.start(python, [])
    assert await worker.ask("find", 5, tasks=["a", "nowhere"]) == {"unknown": ["nowhere"]}
    with pytest.raises(TaskFailed, match="KeyError: 'row'"):
        await worker.ask("setup", 5, task="raises")
    asking = asyncio.create_task(worker.ask("setup", 60, task="hangs"))
    await asyncio.sleep(0.1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert not worker.alive
    with pytest.raises(WorkerLost, match="exit code -9"):
        await worker.ask("find", 5, tasks=[])
