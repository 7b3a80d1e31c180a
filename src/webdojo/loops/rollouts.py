"""Where the episodes of a run are rolled out: here, in one environment and one pool of browsers.

Browser servers are tried before the first episode, so that a wrong token, another viewport or an environment that they
cannot reach is one line at the start. One that is full, drains or does not answer causes only a warning.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from webdojo.agent.harness import Harness
from webdojo.browser.interface import Pool, Session
from webdojo.browser.pool import BrowserPool
from webdojo.browser_service.client import RemotePool
from webdojo.browser_service.wire import token_from_environment
from webdojo.errors import BrowserError, ConfigError, Failure, StartError
from webdojo.recipe import Recipe
from webdojo.reward.function import RewardFunction
from webdojo.rollout.episode import Actor, run_episode
from webdojo.sleep_clock import SleepClock
from webdojo.store.images import ImageStore
from webdojo.types import ImageSink, Sampling, Task, Trajectory

TRY_S = 10.0
"""Seconds in which a browser server must take a session when it is tried."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EpisodeSpec:
    """An episode that is to run; the fields are arguments of `run_episode`."""

    task: Task
    group: str
    trajectory_id: str
    seed: str
    sampling: Sampling
    max_steps: int


class Rollouts(Protocol):
    """Runs episodes of a recipe somewhere; it neither scores nor stores them."""

    @property
    def places(self) -> int:
        """How many episodes may run at once, as far as is known now."""
        ...

    async def run(self, spec: EpisodeSpec, actor: Actor[Session], clock: SleepClock | None = None) -> Trajectory:
        """Run one episode, with the actor and the clock of `run_episode`."""
        ...


@dataclass
class LocalRollouts:
    """Episodes in this process."""

    recipe: Recipe
    pool: Pool[Session]
    harness: Harness
    reward: RewardFunction
    """Reads its evidence at the end of an episode."""

    @property
    def places(self) -> int:
        return self.pool.places

    async def run(self, spec: EpisodeSpec, actor: Actor[Session], clock: SleepClock | None = None) -> Trajectory:
        return await run_episode(
            spec.task,
            env=self.recipe.env,
            pool=self.pool,
            harness=self.harness,
            actor=actor,
            config=self.recipe.rollout,
            sampling=spec.sampling,
            max_steps=spec.max_steps,
            reward=self.reward,
            seed=spec.seed,
            group=spec.group,
            trajectory_id=spec.trajectory_id,
            clock=clock,
        )


class OpenRollouts(Protocol):
    def __call__(
        self, recipe: Recipe, images: ImageStore, harness: Harness, reward: RewardFunction, *, by_person: bool = False
    ) -> AbstractAsyncContextManager[Rollouts]: ...


@asynccontextmanager
async def open_rollouts(
    recipe: Recipe, images: ImageSink, harness: Harness, reward: RewardFunction, *, by_person: bool = False
) -> AsyncIterator[Rollouts]:
    """Start the environment and browsers, whose screenshots go to `images`.

    `by_person` says that a person uses the windows of the browsers (`browser/person/`).
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(recipe.env)
        pool = await stack.enter_async_context(open_browsers(recipe, images, by_person))
        yield LocalRollouts(recipe, pool, harness, reward)


@asynccontextmanager
async def open_browsers(recipe: Recipe, images: ImageSink, by_person: bool = False) -> AsyncIterator[Pool[Session]]:
    """Start the browsers of a recipe whose environment has started, or connect to its browser servers."""
    config = recipe.browser
    recipe.env.check_browser(config)
    if not config.servers:
        async with BrowserPool(config, images, dict(recipe.env.hosts), for_person=by_person) as local:
            yield local
        return
    token = token_from_environment()
    await asyncio.gather(*(_try_server(url, token, recipe, images) for url in config.servers))
    async with RemotePool(
        config.servers,
        images,
        token,
        acquire_timeout_s=config.acquire_timeout_s,
        step_retries=config.step_retries,
    ) as remote:
        yield remote


async def _try_server(url: str, token: str, recipe: Recipe, images: ImageSink) -> None:
    """Open one session on a server at an evaluation task, to see whether the server fits the recipe."""
    env, wanted = recipe.env, recipe.browser.viewport_px
    visit = await env.visit(recipe.draw("eval", 1)[0])
    try:
        async with RemotePool([url], images, token, acquire_timeout_s=TRY_S) as pool:
            session = await pool.open(visit.start_url, visit.headers, visit.storage_state)
            await session.close()
    except StartError as error:
        advice = "".join(
            f" --hosts '{pattern}={served.replace('127.0.0.1', 'ADDRESS')}'" for pattern, served in env.hosts.items()
        )
        if advice:
            advice = f"; start it with{advice}, ADDRESS being an address of this machine that it reaches, as env.host"
        raise ConfigError(f"the browser server does not reach the environment {env.name!r}: {error}{advice}") from None
    except BrowserError as error:
        if error.failure is not Failure.ACQUIRE_TIMEOUT:
            raise
        logger.warning("%s", error)
        return
    finally:
        await env.leave(visit)
    if session.viewport_px != wanted:
        raise ConfigError(
            f"the browser server {url} has a viewport of {list(session.viewport_px)}, the recipe one of "
            f"{list(wanted)} (browser.viewport_px): start it with the recipe of the run, --recipe"
        )
