"""One task from the command line's insides: any page, interruption, what is kept."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.policy.chat.endpoint import Endpoint, completion, say
from webdojo.envs.dojo import Dojo
from webdojo.envs.web import Web
from webdojo.errors import ConfigError, TaskError
from webdojo.loops.act import act
from webdojo.loops.request import check_display, newest_checkpoint, own_task, recipe_of, task_at
from webdojo.recipe import Recipe, load_recipe
from webdojo.store.run import RunStore
from webdojo.types import Termination, Trajectory, Turn

CALL = '<think>why</think><tool_call>{"name": "scroll", "arguments": {"direction": "down", "amount": 0.5}}</tool_call>'
DONE = '<think>so</think><tool_call>{"name": "done", "arguments": {"answer": "twelve"}}</tool_call>'
SHOP = "http://shop-0.localhost/"


def recipe(endpoint: Endpoint, *overrides: str) -> Recipe:
    given = ["engine.name=chat", f"engine.base_url={endpoint.url}", "engine.model=m", "harness.tool_schemas=signature"]
    return load_recipe("openwebrl-dojo", [*given, "browser.viewport_px=[320,320]", *overrides])


async def run(recipe: Recipe, folder: Path, url: str = SHOP) -> tuple[Trajectory | None, bool, list[Turn]]:
    turns: list[Turn] = []
    return *await act(task_at(recipe.env, "How many?", url), recipe, "tiny", folder, turns.append), turns


async def test_an_endpoint_does_a_task_and_everything_is_kept(tmp_path, caplog):
    caplog.set_level(logging.INFO, "webdojo")
    with Endpoint(say(completion(CALL)), say(completion(DONE))) as endpoint:
        done, interrupted, turns = await run(recipe(endpoint), tmp_path / "run")
    assert done is not None
    assert done.termination is Termination.COMPLETED, done.error
    assert done.answer == "twelve"
    assert not interrupted
    assert done.reward is None, "who scores a task that somebody made up?"
    assert "endpoint: 2 requests, 200 tokens in" in caplog.text
    assert [turn.parsed.calls[0].name for turn in turns] == ["scroll", "done"]
    assert turns[0].feedback[0].ok
    assert "top_k" not in endpoint.bodies[0]
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert store.trajectories("act") == [done]
        for turn in done.turns:
            store.images.get(turn.observation.screenshot)


async def test_native_tools_are_told_to_the_endpoint_and_not_in_the_prompt(tmp_path):
    called = completion("", tool_calls=[{"function": {"name": "done", "arguments": '{"answer": "twelve"}'}}])
    with Endpoint(say(completion("I do not know.")), say(called)) as endpoint:
        done, _, _ = await run(recipe(endpoint, "engine.tool_calls=native"), tmp_path / "run")
    assert done is not None and done.answer == "twelve"
    for asked in endpoint.bodies:
        assert "done" in [tool["function"]["name"] for tool in asked["tools"]]
        assert "<tool_call>" not in str(asked["messages"]) and "<think>" not in str(asked["messages"])
    assert endpoint.bodies[1]["messages"][2] == {"role": "assistant", "content": "I do not know."}


MINE = """
from webdojo import Reward, RewardFunction

class Quarter(RewardFunction):
    async def score(self, trajectory, images):
        return Reward(value=0.25, success=False, reason=f"{trajectory.answer} of {len(trajectory.task.evaluator)}")

class Broken(RewardFunction):
    async def score(self, trajectory, images):
        return trajectory.task.evaluator["page"]
"""


@pytest.mark.parametrize("reward", ["Quarter", "Broken"])
async def test_a_task_of_the_recipe_is_judged_by_its_evaluator(tmp_path, reward):
    (tmp_path / "mine.py").write_text(MINE)
    with Endpoint(default=say(completion(DONE))) as endpoint:
        given = recipe(endpoint, "evaluate.tasks=3", f"reward.name={tmp_path}/mine.py:{reward}")
        task = given.draw("eval", 3)[1]
        assert task.evaluator and own_task(given, task.id) == task
        done, _ = await act(own_task(given, task.id), given, "tiny", tmp_path / "run", lambda turn: None, own=True)
    assert done is not None and done.reward is not None
    if reward == "Quarter":
        assert (done.reward.value, done.reward.reason) == (0.25, f"twelve of {len(task.evaluator)}")
    else:
        assert (done.reward.valid, done.failure) == (False, "reward_failed")
        assert "KeyError: 'page'" in done.traceback


OWN = """
from webdojo import Environment, Reward, RewardFunction, Task

class Verdict(RewardFunction):
    async def score(self, trajectory, images):
        holds = [trajectory.answer == wanted for wanted in trajectory.task.evaluator.get("answers", [])]
        return Reward(value=float(all(holds)), success=all(holds))

class Own(Environment):
    def tasks(self, split, n, seed):
        row = {"start_url": "http://127.0.0.1:9/", "website": "127.0.0.1", "evaluator": {"answers": ["12"]}}
        return [Task(id=f"{split}-{number}", instruction=f"Count {number}", **row) for number in range(n)][:3]

    @property
    def reward(self):
        return Verdict()
"""


async def test_an_environments_verdict_is_not_asked_about_words_of_ones_own(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    with Endpoint(default=say(completion(DONE))) as endpoint:
        url = f"{endpoint.url}/models"
        given = recipe(
            endpoint, f"env={{name: '{tmp_path}/own.py:Own'}}", "reward=env", "browser.guard.private_hosts=[127.0.0.1]"
        )
        done, _, _ = await run(given, tmp_path / "run", url)
    assert done is not None and done.termination is Termination.COMPLETED, done
    assert done.reward is None


def test_a_training_task_of_an_environment_is_named_too(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    given = load_recipe("quickstart", [f"env={{name: '{tmp_path}/own.py:Own'}}", "evaluate.tasks=2", "reward=env"])
    assert own_task(given, "eval-1").instruction == "Count 1"
    assert own_task(given, "train-2").instruction == "Count 2"
    with pytest.raises(ConfigError, match="has 5 tasks, and none is 'train-7'"):
        own_task(given, "train-7")


def test_a_task_of_the_recipe_is_named_by_its_id_or_its_words_and_is_in_any_of_its_files(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    for name in ("train", "eval"):
        rows = [
            {"id": f"{name}-{number}", "instruction": f"Do {name} {number}", "start_url": SHOP, "website": "a"}
            for number in range(3)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = [f"tasks.path={tmp_path}/train.jsonl", f"tasks.eval_path={tmp_path}/eval.jsonl", "evaluate.tasks=1"]
    given = load_recipe("quickstart", ["env=web", *files, f"reward={tmp_path}/mine.py:Quarter"])
    assert own_task(given, "train-2").instruction == "Do train 2"
    assert own_task(given, "Do eval 1").id == "eval-1"
    with pytest.raises(ConfigError, match=r"has 6 tasks, and none is 'train-7': name one, such as 'train-.'"):
        own_task(given, "train-7")
    with pytest.raises(TaskError, match="task 'eval-0' has no evaluator, so rules cannot score it"):
        own_task(load_recipe("quickstart", ["env=web", *files, "reward=rules"]), "eval-0")


async def test_ctrl_c_keeps_what_was_done(tmp_path):
    waiting, release = threading.Event(), threading.Event()

    def hang(http: BaseHTTPRequestHandler) -> None:
        waiting.set()
        release.wait(60)

    with Endpoint(say(completion(CALL)), hang) as endpoint:
        asked = asyncio.create_task(run(recipe(endpoint), tmp_path / "run"))
        assert await asyncio.to_thread(waiting.wait, 60)
        asked.cancel()
        done, interrupted, _ = await asked
        release.set()
    assert interrupted
    assert done is not None
    assert done.error == "interrupted"
    assert len(done.turns) == 1
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        assert len(store.trajectories("act")) == 1


async def test_ctrl_c_before_the_first_answer_ends_at_once(tmp_path):
    waiting, release = threading.Event(), threading.Event()

    def hang(http: BaseHTTPRequestHandler) -> None:
        waiting.set()
        release.wait(60)

    with Endpoint(hang) as endpoint:
        asked = asyncio.create_task(run(recipe(endpoint), tmp_path / "run"))
        assert await asyncio.to_thread(waiting.wait, 60)
        asked.cancel()
        done, interrupted, _ = await asked
        release.set()
    assert interrupted
    assert done is None


async def test_what_cannot_work_leaves_no_folder(tmp_path):
    with Endpoint() as endpoint:
        for override, message in (
            ("engine.model=''", "engine.model is empty"),
            ("engine.api_key_env=NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE"),
        ):
            with pytest.raises(ConfigError, match=message):
                await run(recipe(endpoint, override), tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_a_window_needs_a_display(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    check_display(headless=False)
    monkeypatch.delenv("DISPLAY")
    with pytest.raises(ConfigError, match="there is no display"):
        check_display(headless=False)


def test_tasks_on_embedded_sites_and_elsewhere():
    assert task_at(Dojo(), "x", "http://shop-7.localhost/cart").kind == "shop"
    assert task_at(Dojo(), "x", "http://shop-7.localhost:8000/").kind == ""
    away = task_at(Dojo(), "x", "https://Example.org/a?b#c")
    assert (away.kind, away.website) == ("", "example.org")


@pytest.mark.parametrize("url", ["example.org", "ftp://example.org/", "http://", "http://[::1", "http://a:b/"])
def test_an_address_that_is_none_is_one_line(url):
    with pytest.raises(ConfigError, match="--url is"):
        task_at(Dojo(), "x", url)


def test_an_embedded_host_that_there_is_not_is_one_line():
    for url in ("http://nope-0.localhost/", "http://shop.localhost/", "http://shop-0x.localhost:80/cart"):
        with pytest.raises(TaskError, match="is no embedded site; hosts look like"):
            task_at(Dojo(), "x", url)
    assert task_at(Dojo(), "x", "http://nope-0.localhost:8000/").kind == "", "somebody else serves that port"
    assert task_at(Web(), "x", "http://nope-0.localhost/").kind == ""


def test_an_empty_task_is_one_line():
    with pytest.raises(ConfigError, match="the task is empty"):
        task_at(Dojo(), "  ", SHOP)


def test_a_task_that_the_site_has_itself_can_be_judged():
    env = Dojo(layout="compact")
    own = task_at(env, " show me  rings", "http://shop-1000041.localhost/cart")
    facts = [fact["says"] for fact in own.evaluator.get("facts", [])]
    assert facts == ["The list of Rings is shown at the end"]
    assert (own.start_url, own.kind) == ("http://shop-1000041.localhost/cart", "shop")
    assert own.instruction == " show me  rings", "the agent reads what the user wrote"
    assert task_at(env, "Show me something nice.", "http://shop-1000041.localhost/").evaluator == {}


def test_the_newest_checkpoint_of_all_runs_acts(tmp_path):
    assert newest_checkpoint(tmp_path / "runs") == ""
    for run in ("a", "b"):
        RunStore.create(tmp_path / run, "name: x", {}).close()
    for order, (run, name) in enumerate((("b", "sft"), ("b", "rl-0002"), ("a", "rl-0001"))):
        with RunStore.open(tmp_path / run) as store:
            saved = store.checkpoints.save(name, lambda folder: None, {})
        os.utime(saved.path, (1000 + order, 1000 + order))
    (tmp_path / "no-run" / "checkpoints" / "rl-0009").mkdir(parents=True)
    assert newest_checkpoint(tmp_path) == str(tmp_path / "a" / "checkpoints" / "rl-0001")


def test_a_checkpoint_acts_by_the_recipe_of_its_run(tmp_path):
    (tmp_path / "checkpoints" / "rl-3").mkdir(parents=True)
    (tmp_path / "recipe.yaml").write_text("name: mine\n")
    assert recipe_of(str(tmp_path / "checkpoints" / "rl-3")) == str(tmp_path / "recipe.yaml")
    assert recipe_of("tiny") == recipe_of("") == "quickstart"
    assert recipe_of("Qwen/Qwen3-VL-4B-Thinking") == recipe_of("", "http://localhost:8000/v1") == "openwebrl-dojo"
