"""Where a run's browsers are: on this machine, or on the servers that its recipe names.

Servers are tried before the first episode, so that a wrong token, another viewport or a site that they
cannot reach is one line at the start and not a run of failed episodes. One that is full, drains or does
not answer is only told of: the pool passes it over until it takes sessions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from webdojo.browser.interface import Pool, Session
from webdojo.browser.pool import BrowserPool
from webdojo.browser_service.access import token_from_environment
from webdojo.browser_service.client import RemotePool
from webdojo.config import Recipe
from webdojo.errors import BrowserError, ConfigError, Failure, StartError
from webdojo.sites import HELDOUT_SEED, host_of
from webdojo.sites.server import HOSTS, SiteServer
from webdojo.types import ImageSink

_TRY_S = 10.0

logger = logging.getLogger(__name__)


def check_servers(recipe: Recipe) -> None:
    """Raise ConfigError where the recipe names servers and no port on which they would find the sites."""
    if recipe.browser.servers and not recipe.browser.sites_port:
        raise ConfigError(
            "browser.servers are started with the address of the embedded sites, and browser.sites_port is 0, a port "
            f"that changes: set it, and start each with {_hosts_option('PORT')}"
        )


@asynccontextmanager
async def open_browsers(recipe: Recipe, images: ImageSink, sites: SiteServer) -> AsyncIterator[Pool[Session]]:
    """The pool for a run's episodes, ended in every case.

    Raises:
        ConfigError: a server has another viewport, or does not reach `sites`; or as `check_servers`.
        BrowserError: Chromium does not start, or a server refuses the token.
    """
    if not recipe.browser.servers:
        async with BrowserPool(recipe.browser, images, sites.hosts) as local:
            yield local
        return
    check_servers(recipe)
    token = token_from_environment()
    await asyncio.gather(*(_try(url, token, recipe, images, sites) for url in recipe.browser.servers))
    acquire_timeout_s = recipe.browser.acquire_timeout_s
    async with RemotePool(recipe.browser.servers, images, token, acquire_timeout_s=acquire_timeout_s) as remote:
        yield remote


async def _try(url: str, token: str, recipe: Recipe, images: ImageSink, sites: SiteServer) -> None:
    """Open one session on a server, at an embedded site."""
    visit, start = uuid4().hex, f"http://{host_of(recipe.tasks.kinds[0], HELDOUT_SEED)}/"
    try:
        async with RemotePool([url], images, token, acquire_timeout_s=_TRY_S) as pool:
            session = await pool.open(start, sites.headers(visit))
            await session.close()
    except StartError as error:
        raise ConfigError(
            f"the browser server does not reach the embedded sites: {error}; start it with "
            f"{_hosts_option(sites.port)}, and let browser.sites_host ({recipe.browser.sites_host}) be an address "
            "that it reaches"
        ) from None
    except BrowserError as error:
        if error.failure is not Failure.ACQUIRE_TIMEOUT:
            raise
        logger.warning("%s", error)
        return
    finally:
        sites.end(visit)
    if session.viewport_px != recipe.browser.viewport_px:
        raise ConfigError(
            f"the browser server {url} has a viewport of {list(session.viewport_px)}, the recipe one of "
            f"{list(recipe.browser.viewport_px)} (browser.viewport_px): start it with the recipe of the run, --recipe"
        )


def _hosts_option(port: int | str) -> str:
    return f"--hosts '{HOSTS}=ADDRESS:{port}', ADDRESS being this machine's"
