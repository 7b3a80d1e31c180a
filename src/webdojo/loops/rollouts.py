"""Where the episodes of a run are rolled out: here, in one environment and one pool of browsers.

Browser servers are tried before the first episode, so that a wrong token, another viewport or an environment that they
cannot reach is one line at the start. One that is full, drains or does not answer causes only a warning, unless it is
so with all of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from webdojo.agent.harness import Harness
from webdojo.browser.interface import Pool, Session
from webdojo.browser.pool import BrowserPool
from webdojo.browser_service.client import RemotePool, ServerError
from webdojo.browser_service.wire import TOKEN_VARIABLE, ErrorKind, token_from_environment
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
    tried = await asyncio.gather(*(_try_servers([url], token, recipe, images, TRY_S) for url in config.servers))
    for error in filter(None, tried):
        logger.warning("%s", error)
    if all(tried):
        wait_s = config.acquire_timeout_s
        logger.warning("waiting up to %g s (browser.acquire_timeout_s) for one of browser.servers", wait_s)
        if silent := await _try_servers(config.servers, token, recipe, images, wait_s):
            raise BrowserError(f"{silent}: start one with `webdojo browser serve`, or correct browser.servers")
    async with RemotePool(
        config.servers,
        images,
        token,
        acquire_timeout_s=config.acquire_timeout_s,
        step_retries=config.step_retries,
    ) as remote:
        yield remote


async def _try_servers(
    urls: Sequence[str], token: str, recipe: Recipe, images: ImageSink, timeout_s: float
) -> BrowserError | None:
    """Open one session on one of the servers at an evaluation task, to see whether they fit the recipe; the error where
    none takes one within the time."""
    env, wanted = recipe.env, recipe.browser.viewport_px
    visit = await env.visit(recipe.draw("eval", 1)[0])
    try:
        async with RemotePool(urls, images, token, acquire_timeout_s=timeout_s) as pool:
            session = await pool.open(visit.start_url, visit.headers, visit.storage_state)
            await session.close()
    except StartError as error:
        advice = "".join(
            f" --hosts '{pattern}={served.replace('127.0.0.1', 'ADDRESS')}'" for pattern, served in env.hosts.items()
        )
        if advice:
            advice = f"; start it with{advice}, ADDRESS being an address of this machine that it reaches, as env.host"
        raise ConfigError(f"the browser server does not reach the environment {env.name!r}: {error}{advice}") from None
    except ServerError as error:
        if error.kind is not ErrorKind.UNAUTHORIZED:
            raise
        given = "has another value here than where it was started" if token else "is not set here"
        raise ConfigError(
            f"the browser server {', '.join(urls)} wants its token, and {TOKEN_VARIABLE} {given}: export it with the "
            "server's value"
        ) from None
    except BrowserError as error:
        if error.failure is not Failure.ACQUIRE_TIMEOUT:
            raise
        return error
    finally:
        await env.leave(visit)
    if session.viewport_px != wanted:
        raise ConfigError(
            f"the browser server {', '.join(urls)} has a viewport of {list(session.viewport_px)}, the recipe one of "
            f"{list(wanted)} (browser.viewport_px): start it with the recipe of the run, --recipe"
        )
    return None
