"""The oracle writing WebAgent-R1's format on embedded sites: what it names is in the text that the agent has."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.codec import SmallCodec
from webdojo.agent.webagent_r1 import WebAgentR1Config, WebAgentR1Harness
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.dojo import Dojo
from webdojo.policy.scripted import ScriptedActor
from webdojo.reward.gate import Scorer
from webdojo.reward.rules import Rules
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.kinds import KINDS
from webdojo.sites.oracle import Oracle
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.types import Observation, Sampling, Task, Termination, Trajectory

pytestmark = pytest.mark.asyncio(loop_scope="module")

VIEWPORT = (1000, 400)
"""Low, so that most of a page is out of view."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env() -> AsyncIterator[Dojo]:
    async with Dojo() as env:
        yield env


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(env: Dojo) -> AsyncIterator[BrowserPool]:
    async with BrowserPool(BrowserConfig(viewport_px=VIEWPORT), MemoryImages(), dict(env.hosts)) as pool:
        yield pool


async def play(task: Task, pool: BrowserPool, env: Dojo, **options: object) -> Trajectory:
    fields = {"name": "webagent_r1", "page_tokens": 16384, "address_bar": True, **options}
    harness = WebAgentR1Harness(WebAgentR1Config.model_validate(fields), SmallCodec())
    trajectory = await run_episode(
        task,
        env=env,
        pool=pool,
        harness=harness,
        actor=ScriptedActor(harness, lambda task: Oracle(task, view=harness.view)),
        config=RolloutConfig(task_timeout_s=120, max_context_tokens=10**6),
        sampling=Sampling(max_tokens=1024),
        max_steps=40,
    )
    await Scorer(Rules(), MemoryImages()).score(trajectory)
    return trajectory


def drags(task: Task) -> bool:
    return any(goal["do"] in ("drag", "marker") for goal in task.metadata["plan"])


ACTIONS = {"Click", "Type", "Search", "Select Dropdown Option", "goto", "exit"}
"""What the plans of these tasks take."""


async def test_the_oracle_finishes_tasks_on_every_kind_of_site(pool: BrowserPool, env: Dojo) -> None:
    seeds = range(HELDOUT_SEED, HELDOUT_SEED + 100)
    tasks = make_tasks(list(KINDS), seeds, 3 * len(KINDS.built_in), seed=5, difficulties=[2, 5, 9])
    places = asyncio.Semaphore(4)

    async def one(number: int, task: Task) -> Trajectory:
        async with places:
            return await play(task, pool, env, thinking=number % 2 == 0)

    used: set[str] = set()
    for trajectory in await asyncio.gather(*(one(n, t) for n, t in enumerate(tasks) if not drags(t))):
        texts = [turn.text for turn in trajectory.turns]
        assert trajectory.termination is Termination.COMPLETED, (texts, trajectory.error)
        assert trajectory.reward is not None
        assert trajectory.reward.value == 1, (texts, trajectory.reward.reason)
        for turn in trajectory.turns:
            assert not turn.prompt.images
            assert all(feedback.ok for feedback in turn.feedback), (turn.text, turn.feedback)
            action = turn.parsed.sections["action"]
            used |= {action.split("(")[0], *re.findall(r'action="([^"]*)"', action)}
            for number in re.findall(r'element="(\d+)"', action):
                assert f'id="{number}"' in turn.observation.text, "it names what it cannot see"
    assert used >= ACTIONS


async def test_a_task_that_takes_a_drag_is_given_up_with_the_reason(pool: BrowserPool, env: Dojo) -> None:
    tasks = make_tasks(["tracker"], range(20), 60, seed=3, difficulties=[2])
    trajectory = await play(next(t for t in tasks if t.metadata["goal"] == "drag"), pool, env)
    assert trajectory.termination is Termination.ABORTED
    assert "no action says drag(" in trajectory.error, trajectory.error
    assert trajectory.reward is not None and not trajectory.reward.valid


async def test_without_an_address_bar_other_sites_are_out_of_reach(pool: BrowserPool, env: Dojo) -> None:
    tasks = make_tasks(["travel"], range(20), 200, seed=3, difficulties=[3])
    task = next(task for task in tasks if any(goal.get("site") for goal in task.metadata["plan"]))
    trajectory = await play(task, pool, env, address_bar=False)
    assert trajectory.termination is Termination.ABORTED
    assert re.search(r"no action says (goto_url|new_tab)\(", trajectory.error)


async def test_every_action_does_what_it_says(pool: BrowserPool, env: Dojo) -> None:
    config = WebAgentR1Config.model_validate({"name": "webagent_r1", "thinking": False, "address_bar": True})
    harness = WebAgentR1Harness(config, SmallCodec())
    home = "http://shop-3.localhost/"
    task = Task(id="actions", instruction="", start_url=home, website="shop-3.localhost", kind="shop")
    visit = await env.visit(task)
    session = await pool.open(home, visit.headers)

    async def do(action: str) -> Observation:
        parsed = harness.parse(action)
        assert parsed.error is None
        result = await session.act(parsed.calls)
        assert all(feedback.ok for feedback in result.feedback), result.feedback
        return await session.observe(harness.view)

    def field(seen: Observation) -> str:
        found = re.search(r'<input id="(\d+)"', seen.text)
        assert found is not None
        return found[1]

    seen = await session.observe(harness.view)
    seen = await do(f'do(action="Search", argument="red", element="{field(seen)}")')
    assert seen.url == f"{home}search?q=red"
    assert (await do("go_backward()")).url == home
    seen = await do("go_forward()")
    assert seen.url == f"{home}search?q=red"
    seen = await do(f'do(action="Type", argument="blue", element="{field(seen)}")')
    assert seen.url == f"{home}search?q=red" and 'value="blue"' in seen.text
    assert (await do('do(action="Press Enter")')).url == f"{home}search?q=blue"
    seen = await do("go_backward()")
    assert (await do('do(action="Scroll Down")')).scroll_px[1] > 0
    assert (await do('do(action="Scroll Up")')).scroll_px[1] == 0
    assert len((await do("new_tab()")).tabs) == 2
    assert (await do('goto(url="http://wiki-3.localhost/")')).url == "http://wiki-3.localhost/"
    seen = await do('do(action="Switch Tab", argument="0")')
    assert (seen.url, len(seen.tabs)) == (f"{home}search?q=red", 2)
    await do('do(action="Switch Tab", argument="1")')
    assert len((await do("close_tab()")).tabs) == 1
    for action in ("Right Click", "Hover", "Click"):
        await do(f'do(action="{action}", element="{field(seen)}")')
    await do('do(action="Wait")')
    await session.close()
