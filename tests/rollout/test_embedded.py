"""The oracle on embedded sites: harness, browser, site, evaluator and groups together."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.codec import SmallCodec
from webdojo.agent import toolcall
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.dojo import Dojo
from webdojo.policy.scripted import ScriptedActor
from webdojo.reward.gate import Scorer
from webdojo.reward.rules import Rules
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.rollout.groups import run_each
from webdojo.sites.oracle import Oracle
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.types import Sampling, Task, Termination, Trajectory

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env() -> AsyncIterator[Dojo]:
    async with Dojo(layout="compact") as env:
        yield env


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(env: Dojo) -> AsyncIterator[BrowserPool]:
    config = BrowserConfig(viewport_px=(320, 320))
    async with BrowserPool(config, MemoryImages(), dict(env.hosts)) as pool:
        yield pool


async def play(
    task: Task, pool: BrowserPool, env: Dojo, group: str = "", trajectory_id: str = "", max_tokens: int = 512
):
    harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), SmallCodec())
    trajectory = await run_episode(
        task,
        env=env,
        pool=pool,
        harness=harness,
        actor=ScriptedActor(harness, Oracle),
        config=RolloutConfig(task_timeout_s=60),
        sampling=Sampling(max_tokens=max_tokens),
        max_steps=12,
        group=group,
        trajectory_id=trajectory_id,
    )
    await Scorer(Rules(), MemoryImages()).score(trajectory)
    return trajectory


@pytest.mark.parametrize("kind", ["shop", "wiki"])
async def test_the_oracle_earns_reward_one(kind, pool, env):
    for task in make_tasks([kind], [0, 1, 2], 4, seed=5, layout="compact"):
        trajectory = await play(task, pool, env)
        assert trajectory.termination is Termination.COMPLETED, trajectory.error
        assert trajectory.reward is not None
        assert trajectory.reward.value == 1, (task.instruction, trajectory.reward.reason)
        assert all(turn.text == _again(turn.text) for turn in trajectory.turns)


def _again(text: str) -> str:
    harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), SmallCodec())
    parsed = toolcall.parse(text)
    return harness.render(parsed.think, parsed.calls)[0]


async def test_members_of_a_group_have_carts_of_their_own(pool, env):
    task = next(t for t in make_tasks(["shop"], [0, 1, 2, 3], 40, seed=1, layout="compact") if "state" in t.evaluator)

    async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
        return await play(task, pool, env, group, trajectory_id)

    members = await run_each(run, [task] * 4, concurrency=4)
    assert [member.reward.value for member in members if member.reward is not None] == [1.0] * 4
    for trajectory in members:
        assert trajectory.state[task.website]["state"] == task.evaluator["state"]


async def test_a_demonstration_that_does_not_fit_is_cut_as_a_model_would_be(pool, env):
    task = make_tasks(["shop"], [0], 1, seed=5, layout="compact")[0]
    trajectory = await play(task, pool, env, max_tokens=6)
    assert trajectory.termination is Termination.GENERATION_LENGTH
    assert len(trajectory.turns[0].response.ids) == 6
