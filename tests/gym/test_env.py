"""`webdojo/Browser-v0` in a real browser, on embedded sites and MiniWoB++."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import psutil
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from webdojo.browser.config import BrowserConfig, GuardConfig
from webdojo.browser.session import BrowserSession
from webdojo.envs.dojo import Dojo
from webdojo.envs.env import Visit
from webdojo.envs.miniwob import Miniwob
from webdojo.envs.web import Web
from webdojo.errors import ActionError, ConfigError, StartError, TaskError
from webdojo.gym import ENV_ID, to_action
from webdojo.reward.function import RewardFunction
from webdojo.sites.taskgen import make_tasks
from webdojo.tasks.miniwob import load
from webdojo.types import ImageSource, Reward, Task, Termination, ToolCall, Trajectory

HERE_ONLY = BrowserConfig(
    viewport_px=(320, 320), guard=GuardConfig(allowed_domains=["localhost"]), action_timeout_s=5, ready_cap_s=2
)
"""Random actions ask for random addresses; none of them is looked up."""
WIKI = make_tasks(["wiki"], range(3), 6, seed=5, layout="compact")
MINIWOB = {task.metadata["env"]: task for task in load([7])}
CLICK = MINIWOB["click-test"]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return to_action(ToolCall(name=name, arguments=arguments))


def make(**options: Any) -> gymnasium.Env[dict[str, Any], dict[str, Any]]:
    return gymnasium.make(ENV_ID, **{"browser": HERE_ONLY, "env": Dojo(layout="compact"), **options})


def children() -> set[psutil.Process]:
    """What this process started, directly or not."""
    return set(psutil.Process().children(recursive=True))


@pytest.fixture(scope="module")
def env() -> Iterator[gymnasium.Env[dict[str, Any], dict[str, Any]]]:
    env = make(tasks=WIKI, max_steps=4, render_mode="rgb_array")
    yield env
    env.close()


@pytest.fixture(scope="module")
def pages() -> Iterator[gymnasium.Env[dict[str, Any], dict[str, Any]]]:
    env = make(tasks=[CLICK], env=Miniwob(), max_steps=4, render_mode="rgb_array")
    yield env
    env.close()


def button(env: gymnasium.Env[dict[str, Any], dict[str, Any]]) -> dict[str, int]:
    """Where the grey button of click-test is: no other pixels of its page are as grey."""
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    grey = np.all(np.abs(picture[50:210, :160].astype(int) - 239) <= 4, axis=2)
    rows, columns = np.nonzero(grey)
    return {"x": round(np.median(columns) / 0.32), "y": round((np.median(rows) + 50) / 0.32)}


@pytest.mark.filterwarnings("error")
def test_gymnasiums_own_checks_pass():
    env = make(tasks=WIKI, max_steps=5, render_mode="rgb_array")
    env.action_space.seed(3)
    check_env(env.unwrapped)
    env.close()


def test_what_a_reset_shows(env):
    observation, info = env.reset(options={"task": WIKI[0].id})
    assert observation in env.observation_space
    assert observation["screenshot"].shape == (320, 320, 3)
    assert observation["screenshot"].std() > 5, "an empty picture"
    assert observation["instruction"] == WIKI[0].instruction
    assert observation["url"] == WIKI[0].start_url
    assert observation["feedback"] == ""
    assert observation["tabs"].startswith(f"0 * {WIKI[0].start_url}")
    assert info["task_id"] == WIKI[0].id
    assert info["observation"].title == observation["title"]
    assert np.array_equal(env.render(), observation["screenshot"])


def test_the_seed_draws_the_task_and_the_page_is_the_same(env):
    first, info = env.reset(seed=11)
    again, same = env.reset(seed=11)
    assert info["task_id"] == same["task_id"]
    assert np.array_equal(first["screenshot"], again["screenshot"])
    drawn = {env.reset(seed=seed)[1]["task_id"] for seed in range(6)}
    assert len(drawn) > 1


def test_the_seed_draws_the_perturbations_too():
    perturbed = make(tasks=WIKI[:1], env=Dojo(layout="compact", perturbations=3))

    def met(seed: int) -> Any:
        perturbed.reset(seed=seed)
        *_, info = perturbed.step(call("done", answer="nonsense"))
        return info["trajectory"].state[WIKI[0].website].get("perturbations", [])

    try:
        found = [met(seed) for seed in range(4)]
        assert met(2) == found[2]
        assert len({str(events) for events in found}) > 1
    finally:
        perturbed.close()


def test_a_task_that_is_not_there_is_named(env):
    wrong = f"{WIKI[0].id}x"
    with pytest.raises(TaskError, match=rf"no task '{re.escape(wrong)}' among its 6; did you mean 'wiki-\d"):
        env.reset(options={"task": wrong})
    with pytest.raises(ConfigError, match="unknown option 'tasks' of reset; options are: task"):
        env.reset(options={"tasks": WIKI[0]})
    with pytest.raises(TaskError, match="is of kind 'miniwob', and the embedded web has"):
        env.reset(options={"task": CLICK})
    shop = make_tasks(["shop"], [0], 1, seed=0, layout="compact")[0]
    assert env.reset(options={"task": shop})[1]["task_id"] == shop.id


def test_a_call_that_is_no_action_is_told_how_it_becomes_one(env):
    env.reset(options={"task": WIKI[0]})
    with pytest.raises(ActionError, match=r"is no action, which is a dict: webdojo\.gym\.to_action makes one"):
        env.step(ToolCall(name="go_back"))


def test_nonsense_becomes_feedback_and_the_episode_goes_on(env):
    env.reset(options={"task": WIKI[0]})
    observation, reward, terminated, truncated, info = env.step(call("write", text="hello"))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert observation["feedback"] == "write failed: no field is focused; click one first"
    assert not info["feedback"].ok
    nothing = {**call("go_back"), "tool": call("press_keys", keys=["Enter"])["tool"]}
    observation, *_ = env.step(nothing)
    assert observation["feedback"].startswith("invalid call: press_keys: keys must not be empty")


def test_done_ends_the_episode_with_the_verdict_of_the_site(env):
    env.reset(options={"task": WIKI[0]})
    _, reward, terminated, truncated, info = env.step(call("done", answer="nonsense"))
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert info["termination"] is Termination.COMPLETED
    assert info["success"] is False
    trajectory = info["trajectory"]
    assert trajectory.answer == "nonsense"
    assert [turn.parsed.calls[0].name for turn in trajectory.turns] == ["done"]
    assert env.unwrapped.images.get(trajectory.turns[0].observation.screenshot)
    with pytest.raises(gymnasium.error.ResetNeeded, match="the episode is over"):
        env.unwrapped.step(call("go_back"))


def test_the_last_step_truncates(env):
    env.reset(options={"task": WIKI[0]})
    ends = [env.step(call("scroll", direction="down", amount=0.5))[2:4] for _ in range(4)]
    assert ends == [(False, False)] * 3 + [(False, True)]


def test_a_page_of_miniwob_ends_its_episode_and_gives_the_reward(pages):
    pages.reset(options={"task": CLICK.id})
    _, reward, terminated, truncated, info = pages.step(call("click", **button(pages)))
    assert (reward, terminated, truncated) == (1.0, True, False), info["feedback"]
    assert info["trajectory"].state[CLICK.website]["utterance"] == "Click the button."
    assert info["success"] is True


def test_a_browser_that_dies_truncates_and_the_next_episode_has_a_new_one(pages):
    env = pages
    env.reset(options={"task": CLICK.id})
    chromium = [process for process in children() if "chrom" in process.name() or "headless" in process.name()]
    for process in chromium:
        with contextlib.suppress(psutil.NoSuchProcess):  # the others may have ended with the first
            process.kill()
    observation, reward, terminated, truncated, info = env.step(call("wait", seconds=0))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["termination"] is Termination.ENV_ERROR
    assert info["trajectory"].failure == "browser_died"
    assert info["error"] == info["trajectory"].error != ""
    assert observation in env.observation_space
    env.reset(options={"task": CLICK.id})
    assert env.step(call("click", **button(env)))[1] == 1.0


def test_a_page_that_cannot_be_reached_fails_the_reset(env):
    nowhere = Task(id="x", instruction="x", start_url="http://10.0.0.1/", website="10.0.0.1", evaluator={"facts": []})
    with pytest.raises(StartError, match=r"http://10\.0\.0\.1/ is not opened"):
        env.reset(options={"task": nowhere})


USED_TWICE = """
import gymnasium, psutil
import webdojo.gym
from webdojo.envs.miniwob import Miniwob

me = psutil.Process()
env = gymnasium.make("webdojo/Browser-v0", env=Miniwob(), viewport_px=(320, 320)).unwrapped
assert not me.children(), "the browser starts with the first episode"
for _ in range(2):
    env.reset()
    started = me.children(recursive=True)
    assert len(started) > 2
    env.close()
    env.close()
    assert not psutil.wait_procs(started, timeout=10)[1]
    assert not me.children()
"""


def test_close_leaves_no_process_behind_and_the_environment_can_be_used_again():
    done = subprocess.run([sys.executable, "-c", USED_TWICE], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


class Lenient(RewardFunction):
    """Half of the reward for whatever was done."""

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        assert images.get(trajectory.turns[0].observation.screenshot), "a judge sees the screens"
        return Reward(value=0.5, success=True, reason=f"{trajectory.steps} steps")


def test_a_task_without_rules_needs_another_reward():
    open_ended = WIKI[0].model_copy(update={"evaluator": {}})
    with pytest.raises(TaskError, match=r"has no evaluator, so rules cannot score it: name another reward"):
        make(tasks=[open_ended])
    env = make(tasks=[open_ended], reward=Lenient())
    env.reset()
    _, reward, terminated, _, info = env.step(call("done", answer="ok"))
    env.close()
    assert (reward, terminated, info["trajectory"].reward.reason) == (0.5, True, "1 steps")


class Broken(Dojo):
    """A web whose visits cannot be ended, or are not there."""

    raises_in: str = ""

    async def visit(self, task: Task, seed: str = "") -> Visit:
        if self.raises_in == "visit":
            raise ValueError("no room")
        return await super().visit(task, seed)

    async def leave(self, visit: Visit) -> None:
        await super().leave(visit)
        if self.raises_in == "leave":
            raise ValueError("it stays")

    async def is_over(self, visit: Visit) -> bool:
        if self.raises_in == "is_over":
            raise ValueError("who knows")
        return self.raises_in == "nothing"


def test_an_environment_that_fails_costs_only_the_episode():
    env = make(tasks=WIKI, env=Broken(layout="compact"))
    web = env.unwrapped._env  # type: ignore[attr-defined]
    try:
        for raises_in, says in (("leave", "ValueError: it stays"), ("is_over", "ValueError: who knows")):
            env.reset()
            web.raises_in = raises_in
            _, reward, terminated, truncated, info = env.step(call("done", answer="x"))
            assert (reward, terminated, truncated) == (0.0, False, True)
            assert (info["termination"], info["trajectory"].failure) == (Termination.ENV_ERROR, "environment_failed")
            assert says in info["error"]
            assert not info["trajectory"].reward.valid
            web.raises_in = ""
        web.raises_in = "visit"
        with pytest.raises(StartError, match=r"failed in visit \(test_env.py, line \d+\): ValueError: no room"):
            env.reset()
        web.raises_in = ""
        env.reset()
        assert env.step(call("done", answer="x"))[2]
    finally:
        env.close()


def test_an_error_that_nothing_names_costs_only_the_episode(monkeypatch):
    async def stumble(session: BrowserSession, calls: list[ToolCall]) -> None:
        raise TypeError("type str doesn't define __round__ method")

    env = make(tasks=WIKI)
    try:
        env.reset()
        with monkeypatch.context() as patched:
            patched.setattr(BrowserSession, "act", stumble)
            _, reward, terminated, truncated, info = env.step(call("wait", seconds=0))
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert (info["termination"], info["trajectory"].failure) == (Termination.ENV_ERROR, "unexpected")
        env.reset()
        assert env.step(call("done", answer="x"))[2]
    finally:
        env.close()


def test_an_environment_ends_an_episode_by_itself():
    env = make(tasks=WIKI, env=Broken(layout="compact", raises_in="nothing"), reward=Lenient())
    env.reset()
    _, reward, terminated, truncated, info = env.step(call("wait", seconds=0))
    env.close()
    assert (reward, terminated, truncated) == (0.5, True, False)
    assert info["trajectory"].answer is None


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"tasks": []}, TaskError, "got no tasks"),
        ({"tasks": 0}, ConfigError, "tasks = 0 must be a list of Task records"),
        ({"tasks": ["wiki-0"]}, ConfigError, r"tasks = \['wiki-0'\] must be a list of Task records"),
        ({"env": "dojo"}, ConfigError, r"env = 'dojo' must be an instance of Environment, such as .*Dojo\(\)"),
        ({"reward": "env"}, ConfigError, "reward = 'env' must be an instance of RewardFunction"),
        ({"browser": {}}, ConfigError, "browser = {} must be an instance of BrowserConfig"),
        ({"viewport_px": 320}, ConfigError, "viewport_px = 320 must be width and height"),
        ({"viewport_px": (0, 0)}, ConfigError, r"viewport_px = \(0, 0\) must be width and height"),
        ({"max_steps": 0}, ConfigError, "max_steps = 0 must be a number, 1 or more"),
        ({"browser": BrowserConfig(servers=["http://10.0.0.7:8400"])}, ConfigError, "leave out browser.servers"),
        ({"tasks": [WIKI[0].model_copy(update={"evaluator": {"type": "webarena"}})]}, TaskError, "another reward"),
        ({"tasks": WIKI, "env": Dojo()}, TaskError, "is about the 'compact' layout"),
        ({"tasks": WIKI, "env": Web()}, ConfigError, "the environment 'web' has no verdict of its own"),
    ],
)
def test_wrong_arguments_are_one_clear_line(options, error, says):
    with pytest.raises(error, match=says):
        make(**options)


def test_two_environments_step_as_a_vector():
    web = Dojo(layout="compact")
    envs = SyncVectorEnv([lambda: make(tasks=WIKI, env=web, max_steps=2) for _ in range(2)])
    observations, _ = envs.reset(seed=[1, 2])
    assert observations["screenshot"].shape == (2, 320, 320, 3)
    assert len(observations["instruction"]) == 2
    envs.action_space.seed(0)
    action = {
        name: np.stack([call("scroll", direction="down", amount=1)[name]] * 2) if name != "text" else ("", "")
        for name in call("go_back")
    }
    for _ in range(2):
        observations, _, terminated, truncated, infos = envs.step(action)
    envs.close()
    assert truncated.all()
    assert not terminated.any()
    assert [info.name for info in infos["call"]] == ["scroll", "scroll"]


def test_a_vector_whose_texts_would_be_blank_is_refused():
    with pytest.raises(ValueError, match=r"shared_memory=False"):
        AsyncVectorEnv([lambda: make(tasks=WIKI)])


def test_the_name_works_without_an_import_of_ours():
    script = "import gymnasium; print(gymnasium.make('webdojo.gym:webdojo/Browser-v0').action_space['tool'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "Discrete(13)\n"


@pytest.mark.parametrize(
    ("hidden", "script", "says"),
    [
        ("gymnasium", "import webdojo.gym", "webdojo.gym needs Gymnasium, which is not installed: pip install"),
        (
            "miniwob",
            "from webdojo.envs.task_sets import load_tasks; load_tasks('miniwob')",
            "pip install 'webdojo[miniwob]'",
        ),
    ],
)
def test_what_is_not_installed_is_named_with_the_way_to_install_it(hidden, script, says):
    hide = (
        "import sys\n"
        "class Hide:\n"
        f"    def find_spec(name, *_):\n        if name == {hidden!r}: raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hide)\n"
    )
    if hidden == "miniwob":
        hide = (
            "import importlib.util as util\nfind = util.find_spec\n"
            "util.find_spec = lambda name, *more: None if name == 'miniwob' else find(name, *more)\n"
        )
    done = subprocess.run([sys.executable, "-c", hide + script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert says in done.stderr.splitlines()[-1]
