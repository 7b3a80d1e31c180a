"""Every harness finishes tasks on embedded sites in its own words, said by the oracle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.codec import SmallCodec
from webdojo.agent.chatml import shared_fraction
from webdojo.agent.harnesses import HARNESSES
from webdojo.agent.script import Script
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.envs.dojo import Dojo
from webdojo.policy.scripted import ScriptedActor
from webdojo.reward.gate import Scorer
from webdojo.reward.rules import Rules
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.sites.kinds import KINDS
from webdojo.sites.oracle import Oracle, OracleStep
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.types import Sampling, Task, Termination, ToolCall, Trajectory

pytestmark = pytest.mark.asyncio(loop_scope="module")

AGENTS: list[dict[str, Any]] = [
    {"name": "webgym", "fill": True},
    {"name": "webgym", "fill": True, "mode": "marks", "memory": False, "history_turns": 1},
    {"name": "openwebvoyager", "fill": True},
]


def say(agent: dict[str, Any]) -> str:
    return "-".join(str(value) for value in agent.values())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env() -> AsyncIterator[Dojo]:
    async with Dojo() as env:
        yield env


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(env: Dojo) -> AsyncIterator[BrowserPool]:
    config = BrowserConfig(viewport_px=(800, 640), sessions_per_browser=8)
    async with BrowserPool(config, MemoryImages(), dict(env.hosts)) as pool:
        yield pool


def within_reach(task: Task, agent: dict[str, Any]) -> bool:
    """Whether the agent's actions can do a task: none drags or right-clicks, and one cannot go to another site."""
    plan = task.metadata["plan"]
    mouse = any(goal["do"] in ("drag", "marker", "menu") for goal in plan)
    return not mouse and not (agent["name"] == "openwebvoyager" and any(goal.get("site") for goal in plan))


async def play(task: Task, agent: dict[str, Any], pool: BrowserPool, env: Dojo, script: Any = Oracle) -> Trajectory:
    harness = HARNESSES.get(agent["name"]).model_validate(agent).build(SmallCodec())
    trajectory = await run_episode(
        task,
        env=env,
        pool=pool,
        harness=harness,
        actor=ScriptedActor(harness, script),
        config=RolloutConfig(task_timeout_s=120),
        sampling=Sampling(max_tokens=2000),
        max_steps=40,
    )
    await Scorer(Rules(), MemoryImages()).score(trajectory)
    return trajectory


@pytest.mark.parametrize("agent", AGENTS, ids=say)
async def test_the_oracle_finishes_tasks_on_every_kind_of_site(agent, pool, env):
    tasks = []
    for kind in KINDS:
        some = make_tasks([kind], [0, 1, 2], 40, seed=3)
        tasks.append(max((task for task in some if within_reach(task, agent)), key=lambda task: task.difficulty))
    places = asyncio.Semaphore(4)

    async def one(task: Task) -> Trajectory:
        async with places:
            return await play(task, agent, pool, env)

    for trajectory in await asyncio.gather(*map(one, tasks)):
        assert trajectory.termination is Termination.COMPLETED, (trajectory.task.instruction, trajectory.error)
        assert trajectory.reward is not None
        assert trajectory.reward.value == 1, (trajectory.task.instruction, trajectory.reward.reason)
        assert all(turn.parsed.error is None for turn in trajectory.turns)
        assert 0 < shared_fraction(trajectory.turns) <= 1


_LINK_JS = """() => {
  const away = [...document.querySelectorAll('a[href]')].filter(a => a.pathname !== location.pathname);
  const boxes = away.map(a => a.getBoundingClientRect()).filter(box => box.width > 8 && box.top > 8);
  return [boxes[0].x + boxes[0].width / 2, boxes[0].y + boxes[0].height / 2];
}"""
"""The middle of the first link that leads away."""


class Roundabout:
    """The oracle, after it has used every action that it does not need."""

    def __init__(self, task: Task) -> None:
        def call(name: str, **arguments: Any) -> ToolCall:
            return ToolCall(name=name, arguments=arguments)

        self._steps = [
            [call("wait", seconds=1)],
            [call("scroll", direction="down", amount=0.5)],
            [call("scroll", direction="up", amount=0.5)],
            None,  # click that link
            [call("go_back")],
            [call("goto_url", url=task.start_url)],
        ]
        self._oracle = Oracle(task)

    async def step(self, session: BrowserSession) -> OracleStep:
        if not self._steps:
            return await self._oracle.step(session)
        calls = self._steps.pop(0)
        if calls is None:
            x, y = await session.page.evaluate(_LINK_JS)
            width, height = session.viewport_px
            at = {"x": round(1000 * x / width), "y": round(1000 * y / height)}
            calls = [ToolCall(name="click", arguments=at)]
        return OracleStep("Look around. Go on.", calls)


@pytest.mark.parametrize("agent", AGENTS, ids=say)
async def test_every_action_works_on_a_page(agent, pool, env):
    script: type[Script] = Roundabout
    (task,) = make_tasks(["news"], [4], 1, seed=8)
    home = {"restart_url": task.start_url} if agent["name"] == "openwebvoyager" else {}
    trajectory = await play(task, agent | home, pool, env, script)
    assert (trajectory.termination, trajectory.error) == (Termination.COMPLETED, "")
    done = [(turn.parsed.calls[0].name, turn.feedback[0].ok) for turn in trajectory.turns[:6]]
    assert done == [(name, True) for name in ("wait", "scroll", "scroll", "click", "go_back", "goto_url")]
    addresses = [turn.observation.url for turn in trajectory.turns[:7]]
    assert addresses[4] != task.start_url
    assert {*addresses[:4], *addresses[5:]} == {task.start_url}
    assert trajectory.turns[2].observation.scroll_px[1] > 0
    assert trajectory.reward is not None and trajectory.reward.value == 1


async def test_a_step_that_a_format_has_no_words_for_ends_the_episode_with_the_reason(pool, env):
    boards = make_tasks(["tracker"], [0, 1], 60, seed=1)
    task = next(task for task in boards if any(goal["do"] == "drag" for goal in task.metadata["plan"]))
    trajectory = await play(task, {"name": "webgym"}, pool, env)
    assert trajectory.termination is Termination.ABORTED
    assert "harness 'webgym' cannot say the script's step" in trajectory.error
    assert "no words for drag" in trajectory.error
