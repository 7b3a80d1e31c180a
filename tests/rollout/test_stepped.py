"""Episodes that are driven from outside keep the rules of an environment as those of our own loop do."""

from __future__ import annotations

import pytest

from tests.rollout.stage import IMAGES
from webdojo.browser.pool import BrowserPool
from webdojo.envs.env import Environment
from webdojo.envs.web import Web, WebArena
from webdojo.errors import Failure, StartError
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.rollout.stepped import SteppedEpisode
from webdojo.types import ImageSource, Parsed, Reward, Task, Termination, ToolCall, Trajectory

pytestmark = pytest.mark.asyncio(loop_scope="module")
WAIT = Parsed(calls=[ToolCall(name="wait", arguments={"seconds": 0.1})])


class Never(RewardFunction):
    name: str = "never"

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        return Reward(value=0, success=False)


async def begin(pool: BrowserPool, env: Environment, url: str, max_steps: int = 6) -> SteppedEpisode:
    task = Task(id="t", instruction="Go on", start_url=url, website="127.0.0.1")
    return await SteppedEpisode.begin(task, env=env, pool=pool, scorer=Scorer(Never(), IMAGES), max_steps=max_steps)


async def test_an_episode_that_is_not_admitted_does_not_begin(pool, site):
    class Closed(Web):
        async def admit(self, task: Task) -> None:
            raise StartError("not today", Failure.ROBOTS_TXT)

    with pytest.raises(StartError, match="not today"):
        await begin(pool, Closed(), f"{site}/start")


async def test_a_page_that_turns_robots_away_twice_is_left(pool, site):
    episode = await begin(pool, Web(), f"{site}/forbidden", max_steps=1)
    await episode.act(WAIT)
    assert episode.over
    assert (episode.trajectory.termination, episode.trajectory.failure) == (Termination.ENV_ERROR, Failure.BLOCKED)
    assert "turns robots away: HTTP 403" in episode.trajectory.error


async def test_an_environment_of_ones_own_keeps_its_agents_on_such_a_page(pool, site):
    episode = await begin(pool, WebArena(), f"{site}/forbidden", max_steps=2)
    await episode.act(WAIT)
    assert not episode.over
    await episode.stop()
