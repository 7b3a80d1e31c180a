"""One browser, many sessions: isolation, start errors, death and recovery."""

import asyncio
import time

import psutil
import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from tests.browser.conftest import LOCAL
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.browser.tab import Tab
from webdojo.config import BrowserConfig
from webdojo.errors import BrowserError, StartError
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")


def chromiums() -> list[psutil.Process]:
    """Live Chromium processes below this one."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "chrom" in process.name().lower() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


async def body(session: BrowserSession) -> str:
    return await session.page.inner_text("body")


async def test_sessions_share_no_cookies(pool: BrowserPool, site: str) -> None:
    first, second = await asyncio.gather(pool.open(f"{site}/cookie"), pool.open(f"{site}/"))
    again = ToolCall(name="goto_url", arguments={"url": f"{site}/cookie"})
    await first.act([again])
    await second.act([again])
    assert await body(first) == "who=me"
    assert await body(second) == "none"
    await asyncio.gather(first.close(), second.close())


async def test_headers_go_with_every_request_of_their_session_only(pool: BrowserPool, site: str) -> None:
    first, second = await asyncio.gather(
        pool.open(f"{site}/headers", {"X-Test": "seven"}), pool.open(f"{site}/headers")
    )
    assert (await body(first), await body(second)) == ("seven", "none")
    await asyncio.gather(first.close(), second.close())


async def test_a_site_that_recovers_is_reached_by_retries(pool: BrowserPool, site: str) -> None:
    session = await pool.open(f"{site}/flaky")
    assert await body(session) == "try 3"
    await session.close()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("{site}/broken", "HTTP 503"),
        ("{site}/dead", "ERR_EMPTY_RESPONSE"),
        ("http://127.0.0.1:9/", "the host does not answer|ERR_UNSAFE_PORT"),
        ("http://no-such-host.invalid/", "the host has no address"),
    ],
)
async def test_a_start_url_that_does_not_answer(pool: BrowserPool, site: str, url: str, reason: str) -> None:
    url = url.format(site=site)
    with pytest.raises(StartError, match=f"cannot open {url}: .*({reason}).* \\(3 tries\\)") as caught:
        await pool.open(url)
    assert "\n" not in str(caught.value)


async def test_a_start_url_that_is_too_slow(site: str) -> None:
    config = BrowserConfig(viewport_px=(300, 300), start_timeout_s=5, guard=LOCAL)
    async with BrowserPool(config, MemoryImages()) as pool:
        pool._config.start_timeout_s = 0.3
        with pytest.raises(StartError, match=r"did not answer within 0\.3 s"):
            await pool.open(f"{site}/slow")


async def test_a_killed_browser_is_an_error_for_its_sessions_and_the_next_open_starts_another(
    config: BrowserConfig, site: str
) -> None:
    others = {process.pid for process in chromiums()}
    async with BrowserPool(config, MemoryImages()) as pool:
        acting, seeing = await pool.open(f"{site}/"), await pool.open(f"{site}/")
        for process in chromiums():
            if process.pid not in others:
                process.kill()
        with pytest.raises(BrowserError, match="browser died"):
            await acting.act([ToolCall(name="click", arguments={"x": 30, "y": 20})])
        with pytest.raises(BrowserError):
            await seeing.observe()
        await acting.close()
        await seeing.close()
        session = await pool.open(f"{site}/two")
        assert (await session.observe()).url == f"{site}/two"
        await session.close()


async def test_a_session_that_cannot_be_opened_costs_the_others_nothing(pool: BrowserPool, site: str) -> None:
    other = await pool.open(f"{site}/")
    with pytest.raises(BrowserError, match=f"Chromium opened no session for {site}/two: Expected value of header"):
        await pool.open(f"{site}/two", {"X-Test": 7})  # type: ignore[dict-item]
    assert (await other.observe()).url == f"{site}/"
    await other.close()


async def test_a_first_tab_that_closes_at_once_is_an_error(
    pool: BrowserPool, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(page: Page, *more: object) -> Tab:
        await page.close()
        raise PlaywrightError("Target page, context or browser has been closed")

    monkeypatch.setattr(Tab, "adopt", gone)
    with pytest.raises(BrowserError, match="a new tab closed before it could be used"):
        await pool.open(f"{site}/")


async def test_leaving_the_pool_leaves_no_process(config: BrowserConfig, site: str) -> None:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    async with BrowserPool(config, MemoryImages()) as pool:
        await pool.open(f"{site}/")  # never closed
        assert chromiums()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = {p.pid for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE}
        if left <= before:
            break
        await asyncio.sleep(0.05)
    assert left <= before


async def test_a_cancelled_open_leaves_no_context(pool: BrowserPool, site: str) -> None:
    assert pool._browser is not None
    before = len(pool._browser.contexts)
    opening = asyncio.create_task(pool.open(f"{site}/slow"))
    await asyncio.sleep(0.3)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert len(pool._browser.contexts) == before
