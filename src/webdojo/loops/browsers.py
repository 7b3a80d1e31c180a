"""The browsers of a run, on this machine or on the servers that its recipe names.

Servers are tried before the first episode, so that a wrong token, another viewport or an environment that they
cannot reach is one line at the start and not a run of failed episodes. A server that is full, drains or does
not answer causes only a warning: the pool passes it over until it takes sessions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from webdojo.browser.interface import Pool, Session
from webdojo.browser.pool import BrowserPool
from webdojo.browser_service.access import token_from_environment
from webdojo.browser_service.client import RemotePool
from webdojo.envs.task_sets import tasks_of
from webdojo.errors import BrowserError, ConfigError, Failure, StartError
from webdojo.recipe import Recipe
from webdojo.types import ImageSink

_TRY_S = 10.0

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_browsers(recipe: Recipe, images: ImageSink) -> AsyncIterator[Pool[Session]]:
    """Open the pool for a run's episodes, and close it in every case; the environment has started."""
    config = recipe.browser
    if not config.servers:
        async with BrowserPool(config, images, dict(recipe.env.hosts)) as local:
            yield local
        return
    recipe.env.check_servers()
    token = token_from_environment()
    await asyncio.gather(*(_try(url, token, recipe, images) for url in config.servers))
    async with RemotePool(config.servers, images, token, acquire_timeout_s=config.acquire_timeout_s) as remote:
        yield remote


async def _try(url: str, token: str, recipe: Recipe, images: ImageSink) -> None:
    """Open one session on a server at an evaluation task, to see whether the server fits the recipe."""
    env, wanted = recipe.env, recipe.browser.viewport_px
    task = tasks_of(env, recipe.tasks, "eval", 1, recipe.seed)[0]
    visit = await env.visit(task)
    try:
        async with RemotePool([url], images, token, acquire_timeout_s=_TRY_S) as pool:
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
