"""Tasks of BrowserGym as an environment of our own loop: its package runs in `.venv-browsergym`, and we do not.

`make test-interop` makes that environment; elsewhere this is skipped.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest
import pytest_asyncio

from tests.browser.conftest import LOCAL
from tests.codec import SmallCodec
from tests.envs.browsergym.processes import running
from tests.rollout.stage import Actor, Line
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.envs.browsergym.env import BrowserGym
from webdojo.errors import Failure, Missing, TaskError
from webdojo.reward.gate import Scorer
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.store.run import RunStore
from webdojo.tasks.miniwob import pages_folder
from webdojo.types import FinishReason, Reward, Sampling, Task, Termination, Trajectory

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".venv-browsergym" / "bin" / "python"
if not PYTHON.exists():
    pytest.skip("not installed here: make test-interop", allow_module_level=True)
if version("playwright").startswith("1.44"):
    pytest.skip("runs in webdojo's own environment", allow_module_level=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")

SMALL = "tests.interop.browsergym.small_tasks"
HALVES = b"""<!doctype html><title>Halves</title><body style="margin:0;height:100vh">
<script>document.onclick = (event) => {
  document.body.dataset.clicked = event.clientX < innerWidth / 2 ? 'left' : 'right'
  document.body.style.background = '#8cf'
}</script><p>Click a half of this page.</p>"""
THINK = "<think>so</think>"


def call(name: str, arguments: str) -> str:
    return f'{THINK}<tool_call>{{"name": "{name}", "arguments": {{{arguments}}}}}</tool_call><|im_end|>'


def click(x: int, y: int = 500) -> str:
    return call("click", f'"x": {x}, "y": {y}')


def done(answer: str) -> str:
    return call("done", f'"answer": "{answer}"')


SCROLL = call("scroll", '"direction": "down", "amount": 0.5')


class Halved(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(HALVES)))
        self.end_headers()
        self.wfile.write(HALVES)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def serve(handler: Any) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    yield from serve(Halved)


@pytest.fixture(scope="module")
def miniwob() -> Iterator[str]:
    yield from serve(partial(Files, directory=pages_folder()))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunStore]:
    with RunStore.create(tmp_path_factory.mktemp("browsergym") / "run", "", {}) as store:
        yield store


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["screenshot", "begin_frame"])
async def pool(request: pytest.FixtureRequest, store: RunStore) -> AsyncIterator[BrowserPool]:
    config = BrowserConfig(viewport_px=(332, 332), debugging_port=True, browsers=1, guard=LOCAL, capture=request.param)
    async with BrowserPool(config, store.images) as pool:
        yield pool


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env(site: str, miniwob: str) -> AsyncIterator[BrowserGym]:
    small = [
        f"browsergym/small.{name}"
        for name in ["halves", "window", "say", "impossible", "pictures", "ends", "hangs", "raises"]
    ]
    clicks = ["browsergym/miniwob.click-test", "browsergym/miniwob.click-test-2"]
    options: dict[str, dict[str, Any]] = {id: {"site": site} for id in small}
    options |= {id: {"base_url": f"{miniwob}/miniwob/"} for id in clicks}
    options["browsergym/openended"] = {"start_url": site, "goal": "Look around."}
    made = BrowserGym(
        python=str(PYTHON),
        imports=["browsergym.miniwob", SMALL],
        task_ids=[*small, *clicks, "browsergym/openended"],
        task_options=options,
        timeout_s=5,
    )
    async with made as env:
        yield env


class Play:
    """Runs episodes as a run does: rollout, verdict and store."""

    def __init__(self, env: BrowserGym, pool: BrowserPool, store: RunStore) -> None:
        self.env, self.pool, self.store = env, pool, store
        self.harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), SmallCodec())

    def task(self, name: str, nth: int = 0) -> Task:
        tasks = self.env.tasks("train", 40, seed=0)
        return [task for task in tasks if task.metadata["task"] == f"browsergym/{name}"][nth]

    async def __call__(self, name: str, *lines: Line, max_steps: int = 4, nth: int = 0) -> Trajectory:
        trajectory = await run_episode(
            self.task(name, nth),
            env=self.env,
            pool=self.pool,
            harness=self.harness,
            actor=Actor(self.harness.codec, list(lines), FinishReason.STOP),
            config=RolloutConfig(task_timeout_s=60),
            sampling=Sampling(max_tokens=4096),
            max_steps=max_steps,
            reward=self.env.reward,
        )
        await Scorer(self.env.reward, self.store.images).score(trajectory)
        self.store.add_trajectory(trajectory, "train", 0)
        stored = self.store.trajectory(trajectory.id)
        assert stored == trajectory
        assert self.store.has_screenshots(stored)
        return stored


@pytest.fixture
def play(env: BrowserGym, pool: BrowserPool, store: RunStore) -> Play:
    return Play(env, pool, store)


def verdict(trajectory: Trajectory) -> tuple[float, bool, bool]:
    assert isinstance(trajectory.reward, Reward)
    return trajectory.reward.value, trajectory.reward.success, trajectory.reward.valid


def workers() -> list[psutil.Process]:
    return running("worker.py")


@pytest.mark.parametrize("wrong", [False, True])
async def test_an_episode_ends_as_the_task_says_and_scores_what_it_says(play, wrong):
    async def half(session: BrowserSession) -> str:
        assert [tab.page.url for tab in session.tabs] == [
            play.env.task_options["browsergym/small.halves"]["site"] + "/"
        ]
        return click(750 if (side == "right") != wrong else 250)

    probe = await play("small.halves", SCROLL, max_steps=1)
    side = probe.task.instruction.split()[2]
    trajectory = await play("small.halves", SCROLL, half)
    assert (trajectory.termination, trajectory.steps, trajectory.answer) == (Termination.COMPLETED, 2, None)
    assert verdict(trajectory) == (float(not wrong), not wrong, True)
    assert trajectory.task.instruction == f"Click the {side} half."
    assert side == trajectory.state["browsergym"]["info"]["clicked"] or wrong
    assert trajectory.state["browsergym"]["info"]["cookie"] == "who=ada"
    assert trajectory.turns[0].observation.title == "Halves"


async def test_an_episode_that_uses_up_its_steps_is_truncated(play):
    trajectory = await play("small.halves", SCROLL, SCROLL, max_steps=2)
    assert (trajectory.termination, verdict(trajectory)) == (Termination.MAX_STEPS, (0.0, False, True))
    assert not trajectory.state["browsergym"]["done"]


async def test_the_answer_is_a_message_to_the_user(play):
    right, half = await play("small.say", SCROLL, done("It is 42.")), await play("small.say", done("42?"))
    assert right.state["browsergym"]["info"]["chat"] == ["assistant", "user", "assistant"]
    assert (right.termination, right.answer, verdict(right)) == (Termination.COMPLETED, "It is 42.", (1.0, True, True))
    assert verdict(half) == (0.5, False, True)
    assert verdict(await play("small.say", done(""))) == (0.0, False, True)


async def test_what_cannot_be_done_is_called_infeasible(play):
    assert verdict(await play("small.impossible", done("N/A: there is no such page"))) == (1.0, True, True)
    assert verdict(await play("small.impossible", done("There is no such page"))) == (0.0, False, True)


async def test_a_task_sees_the_session_alone_and_the_tab_that_the_agent_is_in(play, site):
    other = await play.pool.open(f"{site}/other")
    trajectory = await play("small.window", SCROLL, call("switch_tab", '"index": 0'))
    seen = trajectory.turns[0].observation
    assert [tab.url for tab in seen.tabs] == [f"{site}/", f"{site}/second"]
    assert seen.tabs[1].active
    assert trajectory.state["browsergym"] == {
        "reward": 0.5,
        "done": True,
        "messages": ["Go on.", "Go on."],
        "info": {"page": f"{site}/", "pages": 2, "cookie": "who=ada"},
    }
    assert verdict(trajectory) == (0.5, False, True)
    assert await other.context.cookies() == []
    assert (await other.act([])).feedback == [] and (await other.observe()).url == f"{site}/other"
    await other.close()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ends", "WorkerLost: the worker ended at 'validate' with exit code 9: out of memory"),
        ("hangs", "WorkerLost: the worker did not answer 'validate' within 5 s"),
        ("raises", "TaskFailed: KeyError: 'no such row'"),
    ],
)
async def test_a_worker_that_fails_makes_its_episode_invalid_and_the_next_goes_on(play, name, says):
    await play("small.halves", SCROLL, max_steps=1)
    before = workers()
    trajectory = await play(f"small.{name}", SCROLL)
    assert (trajectory.termination, trajectory.failure) == (Termination.ENV_ERROR, Failure.ENVIRONMENT_FAILED)
    assert says in trajectory.error
    assert verdict(trajectory) == (0.0, False, False)
    assert trajectory.steps == 1
    assert verdict(await play("small.say", done("It is 42."))) == (1.0, True, True)
    assert len(workers()) <= len(before) and (name == "raises") == (workers() == before)


async def test_episodes_run_side_by_side_with_a_worker_each(play):
    lines = [SCROLL, SCROLL, done("It is 42.")]
    played = await asyncio.gather(*(play("small.say", *lines, nth=nth) for nth in range(3)))
    assert [verdict(each) for each in played] == [(1.0, True, True)] * 3
    assert len(workers()) == 3


async def test_miniwob_is_done_by_our_tools_and_scored_by_browsergym(play):
    async def press(session: BrowserSession) -> str:
        box = await session.page.locator("#subbtn").bounding_box()
        assert box is not None
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        return click(*(round(1000 * at / 332) for at in middle))

    solved = await play("miniwob.click-test", press)
    assert (solved.termination, solved.task.instruction) == (Termination.COMPLETED, "Click the button.")
    assert verdict(solved) == (1.0, True, True)
    assert solved.state["browsergym"]["info"]["RAW_REWARD_GLOBAL"] == 1
    left = await play("miniwob.click-test-2", call("goto_url", '"url": "about:blank"'), done("There."))
    assert (left.termination, verdict(left)[0]) == (Termination.COMPLETED, 0.0)


async def test_the_same_seed_sets_up_the_same_task(play):
    first, again = [await play("miniwob.click-test-2", SCROLL, max_steps=1) for _ in range(2)]
    assert first.turns[0].observation.screenshot == again.turns[0].observation.screenshot
    goals = {(await play("small.halves", SCROLL, max_steps=1, nth=nth)).task.instruction for nth in range(3)}
    assert len(goals) == 2, "other seeds are other tasks"


async def test_openended_takes_its_goal_from_the_recipe(play):
    trajectory = await play("openended", done("I have looked."))
    assert (trajectory.task.instruction, verdict(trajectory)) == ("Look around.", (0.0, False, True))


async def test_a_goal_with_pictures_is_refused(play):
    with pytest.raises(TaskError, match=r"small\.pictures has pictures, which no harness shows"):
        await play("small.pictures", SCROLL)


async def test_workers_end_with_the_environment_and_a_cancelled_episode_leaves_none(site, pool, store):
    ids = ["browsergym/small.hangs"]
    before = workers()
    made = BrowserGym(
        python=str(PYTHON), imports=[SMALL], task_ids=ids, task_options={ids[0]: {"site": site}}, timeout_s=60
    )
    async with made as env:
        acting = asyncio.Event()

        async def act(session: BrowserSession) -> str:
            acting.set()
            return SCROLL

        playing = asyncio.create_task(Play(env, pool, store)("small.hangs", act))
        await acting.wait()
        await asyncio.sleep(4)  # until the task hangs
        playing.cancel()
        await asyncio.wait([playing])
        assert playing.cancelled()
        assert workers() == before
    assert workers() == before


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"task_ids": ["browsergym/nowhere"]}, TaskError, r"no module registers the task 'browsergym/nowhere'"),
        ({"imports": ["nowhere"]}, Missing, r"No module named 'nowhere'.*pip install browsergym-core websockets"),
        ({"python": sys.executable}, Missing, r"No module named 'browsergym'.*pip install browsergym-core"),
    ],
)
async def test_what_the_environment_lacks_is_said_before_anything_runs(options, error, says):
    given: dict[str, Any] = {"python": str(PYTHON), "task_ids": ["browsergym/openended"], **options}
    with pytest.raises(error, match=says):
        async with BrowserGym(**given):
            pass
