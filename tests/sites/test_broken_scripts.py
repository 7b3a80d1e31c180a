"""Pages whose scripts fail still work by their links and forms."""

import asyncio

import pytest

from tests.sites.oracle.test_oracle import VIEWPORTS, solve
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.pages import CatalogSite
from webdojo.sites.places import Places
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.taskgen import make_tasks
from webdojo.store.images import MemoryImages
from webdojo.types import Task

BROKEN = """(() => {
  const fail = what => { throw new Error(`${what} is broken`); };
  addEventListener('DOMContentLoaded', () => fail('DOMContentLoaded'));
  window.onload = () => fail('load');
  document.addEventListener('click', () => fail('click'), true);
  document.addEventListener('submit', () => fail('submit'), true);
  setInterval(() => fail('a timer'), 100);
  Promise.reject(new Error('nobody waits for this'));
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
    Object.defineProperty(window, name, {get: () => fail(name)});
  window.fetch = () => Promise.reject(new TypeError('Failed to fetch'));
  window.XMLHttpRequest = window.IntersectionObserver = function () { fail('what pages are made with'); };
})()"""


async def broken(session: BrowserSession, url: str) -> list[str]:
    """Load a page again with all that broken; the errors that its scripts raise from now on."""
    errors: list[str] = []
    session.page.on("pageerror", lambda error: errors.append(error.message))
    await session.page.context.add_init_script(BROKEN)
    await session.page.goto(url)
    return errors


@pytest.mark.parametrize("kind", KINDS)
async def test_the_oracle_solves_tasks_on_pages_with_errors(kind: str) -> None:
    seeds = range(HELDOUT_SEED, HELDOUT_SEED + 100)
    tasks = make_tasks([kind], seeds, 4, seed=14, difficulties=range(1, 5))
    with SiteServer() as server:
        async with BrowserPool(BrowserConfig(viewport_px=VIEWPORTS["auto"]), MemoryImages(), server.hosts) as pool:

            async def run(task: Task) -> tuple[list[str], tuple[bool, int, str]]:
                errors: list[str] = []

                async def spoil(session: BrowserSession) -> None:
                    nonlocal errors
                    errors = await broken(session, task.start_url)

                result = await solve(task, pool, server, "auto", most=(60, 60), before=spoil)
                return errors, result

            for errors, (success, _, log) in await asyncio.gather(*map(run, tasks)):
                assert success, log
                assert {"load is broken", "a timer is broken", "nobody waits for this"} <= set(errors)


async def test_a_list_that_cannot_grow_and_a_map_that_cannot_tell_lead_to_a_page() -> None:
    sites = (load_site("forum", seed) for seed in range(100))
    growing = next(site for site in sites if isinstance(site, CatalogSite) and site.skin.more)
    town = Places(7)
    where = f"/{growing.main.slug}"
    with SiteServer() as server:
        async with BrowserPool(BrowserConfig(viewport_px=VIEWPORTS["auto"]), MemoryImages(), server.hosts) as pool:
            session = await pool.open(growing.url(where), server.headers("grow"))
            errors = await broken(session, growing.url(where))
            await session.page.click("[data-more] a")
            await session.page.wait_for_url(f"**{where}?page=2")
            assert "click is broken" in errors
            await session.page.goto(town.url("/map"))
            marker = session.page.locator("[data-marker]:visible").first
            slug = await marker.get_attribute("data-marker")
            await marker.dispatch_event("click")
            await session.page.wait_for_url(f"**/map/card/{slug}")
            assert town.main.by_slug[str(slug)].name in await session.page.inner_text("main")
            await session.close()
