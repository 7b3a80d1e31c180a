"""Perturbations in real Chromium: met, seen and passed with the agent's own tools."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from tests.sites.oracle.test_oracle import WORDS
from tests.sites.perturbations.test_perturbations import HOST, SHOP, events, get, only
from tests.sites.test_compact_grid import MEASURE
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.browser.tools import check_call
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.kinds import load_site
from webdojo.sites.oracle import Oracle
from webdojo.sites.perturbations.schedule import Event, Perturbations, permanent_failure
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.taskgen import make_tasks
from webdojo.sites.verdict import evaluate
from webdojo.store.images import MemoryImages
from webdojo.types import Task, ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")

VIEWPORTS = {"compact": (320, 320), "auto": (1280, 1000)}


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pools(server: SiteServer) -> AsyncIterator[dict[str, BrowserPool]]:
    async with (
        BrowserPool(BrowserConfig(viewport_px=VIEWPORTS["compact"], browsers=1), MemoryImages(), server.hosts) as small,
        BrowserPool(BrowserConfig(viewport_px=VIEWPORTS["auto"], browsers=1), MemoryImages(), server.hosts) as large,
    ):
        yield {"compact": small, "auto": large}


async def begin(
    pools: dict[str, BrowserPool], server: SiteServer, layout: str, name: str, perturbations: Perturbations
) -> Any:
    return await pools[layout].open(SHOP.url(), server.headers(name, layout, perturbations))


async def click(session: BrowserSession, selector: str) -> str:
    """Click an element with the agent's tool, where it can be seen; the feedback."""
    width, height = session.viewport_px
    box = await session.page.locator(selector).first.bounding_box()
    assert box is not None, selector
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    assert 0 <= x < width and 0 <= y < height, (selector, box)
    arguments = {"x": round(1000 * x / width), "y": round(1000 * y / height)}
    result = await session.act([ToolCall(name="click", arguments=arguments)])
    return result.feedback[0].text


async def go(session: BrowserSession, path: str) -> str:
    result = await session.act([ToolCall(name="goto_url", arguments={"url": SHOP.url(path)})])
    return result.feedback[0].text


@pytest.mark.parametrize("layout", VIEWPORTS)
@pytest.mark.parametrize("event", [Event.COOKIE_WALL, Event.NEWSLETTER, Event.CHAT_BUBBLE])
async def test_overlays_cover_the_page_until_they_are_closed(
    event: Event, layout: str, pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    name, page = f"{event}-{layout}", 1 if event is not Event.NEWSLETTER else 2
    session = await begin(pools, server, layout, name, only(event, page))
    if page == 2:
        await go(session, "/")
    before = {k: v for k, v in server.state(name)[HOST].items() if k != "perturbations"}
    assert await session.page.locator("[role=dialog]").count() == 1
    await session.observe()
    if event is not Event.CHAT_BUBBLE:
        # Nothing beneath can be clicked, wherever the notice lies.
        covered = await session.page.evaluate(
            """() => [...document.querySelectorAll('body > :not(div:last-child) a, main a')].every(el => {
              const r = el.getBoundingClientRect(), x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2;
              const hit = document.elementFromPoint(x, y);
              return hit === null || !el.contains(hit);
            })"""
        )
        assert covered
    assert "no visible change" not in await click(session, "[role=dialog] button[name=answer]")
    assert await session.page.locator("[role=dialog]").count() == 0
    assert {k: v for k, v in server.state(name)[HOST].items() if k != "perturbations"} == before
    noted = next(noted for noted in events(server, name) if noted["event"] == event)
    assert noted["answer"]
    await go(session, "/cart")
    assert await session.page.locator("[role=dialog]").count() == 0
    await session.close()


async def test_a_pop_up_takes_an_address(pools: dict[str, BrowserPool], server: SiteServer) -> None:
    session = await begin(pools, server, "auto", "join", only(Event.NEWSLETTER, 2))
    await go(session, "/")
    join = "[role=dialog] button[name=join]"
    await click(session, join)
    assert await session.page.locator("[role=dialog]").count() == 1, "it wants an address"
    await session.act([ToolCall(name="write", arguments={"text": "robin@example.com"})])
    await click(session, join)
    assert await session.page.locator("[role=dialog]").count() == 0
    assert next(noted for noted in events(server, "join") if noted["event"] == "newsletter")["answer"]
    await session.close()


@pytest.mark.parametrize("layout", VIEWPORTS)
async def test_an_advert_leads_away_and_back_again(
    layout: str, pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    name = f"advert-{layout}"
    session = await begin(pools, server, layout, name, only(Event.ADVERT))
    advert = session.page.locator("aside[aria-label=Advertisement] a")
    await advert.scroll_into_view_if_needed()
    await click(session, "aside[aria-label=Advertisement] a")
    assert "/-/offer" in session.page.url
    await session.act([ToolCall(name="go_back", arguments={})])
    assert session.page.url == SHOP.url()
    assert all("/-/" not in path for path in server.state(name)[HOST]["visited"])
    await session.close()


@pytest.mark.parametrize("layout", VIEWPORTS)
async def test_an_error_and_a_dropped_connection_pass(
    layout: str, pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    session = await begin(pools, server, layout, f"error-{layout}", only(Event.HTTP_ERROR, 2))
    assert "HTTP" in await go(session, "/cart")
    assert "/cart" not in server.state(f"error-{layout}")[HOST]["visited"]
    await click(session, "a")
    assert "/cart" in server.state(f"error-{layout}")[HOST]["visited"]
    await session.close()
    session = await begin(pools, server, layout, f"dropped-{layout}", only(Event.DROPPED, 2))
    feedback = await go(session, "/cart")
    assert "ERR_EMPTY_RESPONSE" in feedback, feedback
    await session.observe()
    assert session.active.failed_url == SHOP.url("/cart")
    assert server.state(f"dropped-{layout}")[HOST]["visited"] == ["/"]
    assert "fail" not in await go(session, "/cart")
    assert server.state(f"dropped-{layout}")[HOST]["visited"] == ["/", "/cart"]
    await session.close()


async def test_slow_and_stalled_pages_come_and_hold_up_nobody_else(
    pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    perturbations = only(Event.STALLED, 2)
    session = await begin(pools, server, "auto", "stalled", perturbations)
    loop = asyncio.get_running_loop()
    began = loop.time()
    stalled = asyncio.create_task(go(session, "/cart"))
    await asyncio.sleep(0.5)
    for _ in range(5):
        assert await asyncio.to_thread(get, server, "quick", "/cart") is not None
    assert loop.time() - began < 3
    await stalled
    assert 5 <= loop.time() - began < 12
    assert session.page.url == SHOP.url("/cart")
    assert next(noted for noted in events(server, "stalled") if noted["event"] == "stalled")["seconds"] >= 5
    await session.close()


@pytest.mark.parametrize("layout", VIEWPORTS)
async def test_an_expired_session_goes_on_with_its_cart(
    layout: str, pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    name = f"expired-{layout}"
    item = next(p.slug for p in SHOP.main.entities if p.values["stock"])
    page, form, after = {
        "compact": (f"/p/{item}", "/cart/add", f"/added/{item}"),
        "auto": (f"/products/{item}", f"/products/{item}/add", f"/products/{item}/add/done"),
    }[layout]
    session = await begin(pools, server, layout, name, only(Event.SESSION_EXPIRED, 3))
    await go(session, page)
    await session.page.locator(f"form[action='{form}'] button").scroll_into_view_if_needed()
    await click(session, f"form[action='{form}'] button")
    assert session.page.url == SHOP.url(after)
    assert server.state(name)[HOST]["visited"] == ["/", page], "the notice is not the page"
    await click(session, "form[action='/-/answer'] button")
    assert session.page.url == SHOP.url(after)
    state = server.state(name)[HOST]
    assert state["visited"][-1] == after
    assert state["state"] == {f"cart/{item}": 1}
    await session.close()


@pytest.mark.parametrize("layout", VIEWPORTS)
async def test_bot_checks_can_and_cannot_be_passed(
    layout: str, pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    name = f"check-{layout}"
    session = await begin(pools, server, layout, name, only(Event.BOT_CHECK, 2))
    await go(session, "/cart?x=1")
    assert "403" in (await session.observe()).blocked
    await click(session, "form[action='/-/answer'] button")
    await click(session, "form:last-of-type[action='/-/answer'] button")
    assert session.page.url == SHOP.url("/cart?x=1")
    assert server.state(name)[HOST]["visited"] == ["/", "/cart?x=1"]
    assert permanent_failure(server.state(name)) == ""
    await session.close()
    session = await begin(pools, server, layout, f"wall-{layout}", only(Event.BOT_WALL, 2, level=0))
    await go(session, "/cart")
    for _ in range(3):
        await click(session, "form[action='/-/answer'] button")
        await click(session, "form:last-of-type[action='/-/answer'] button")
    assert server.state(f"wall-{layout}")[HOST]["visited"] == ["/"]
    assert permanent_failure(server.state(f"wall-{layout}")) == f"a bot check let nobody in ({HOST}, page 2)"
    await session.close()


@pytest.mark.parametrize("kind", ["shop", "wiki"])
async def test_compact_perturbations_keep_to_the_grid(
    kind: str, pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    site, seen = load_site(kind, 3, "compact"), Counter[str]()
    paths = list(site.paths())
    for seed in range(12):
        name, perturbations = f"grid-{kind}-{seed}", Perturbations(3, str(seed))
        session = await pools["compact"].open(site.url(), server.headers(name, "compact", perturbations))
        for path in paths[seed :: len(paths) // 8]:
            await session.act([ToolCall(name="goto_url", arguments={"url": site.url(path)})])
            await session.observe()
            if session.active.failed_url:
                continue
            await session.page.evaluate("document.fonts.ready")
            _on_grid(await session.page.evaluate(MEASURE), f"{name} {path}")
            button = session.page.locator("form[action='/-/answer'] button").last
            if await button.count() and seed % 2:
                await button.click()
        seen.update(noted["event"] for noted in server.state(name)[site.host].get("perturbations", []))
        await session.close()
    assert seen.keys() >= {Event.COOKIE_WALL, Event.NEWSLETTER, Event.ADVERT, Event.CHAT_BUBBLE, Event.BOT_CHECK}


@pytest.mark.parametrize("layout", VIEWPORTS)
async def test_the_oracle_gets_through_heavy_perturbations(
    layout: str, pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    tasks = make_tasks(["shop", "wiki"], range(HELDOUT_SEED, HELDOUT_SEED + 100), 24, seed=7, layout=layout)
    gate = asyncio.Semaphore(4)

    async def run(task: Task) -> tuple[bool, int, str, list[str]]:
        async with gate:
            return await solve(task, pools[layout], server, layout, level=3)

    results = await asyncio.gather(*map(run, tasks))
    for success, _, log, _ in results:
        assert success, log
    met = Counter(event for *_, events in results for event in events)
    assert len(met) >= 9, met


def _on_grid(page: dict[str, Any], where: str) -> None:
    assert page["width"] == 320, where
    assert page["height"] in range(320, 641 + 96, 32), (where, page["height"])
    for text in page["texts"]:
        assert text["lines"] == 1, (where, text)
        assert abs(text["left"] / 16 - round(text["left"] / 16)) < 0.02, (where, text)
        assert 0 <= text["left"] <= 320.2 - text["width"], (where, text)
        assert abs(text["middle"] % 32 - 16) <= 4, (where, text)
    for control in page["controls"]:
        assert control["width"] >= 64, (where, control)
        assert control["height"] in (32, 64), (where, control)
        assert (control["left"] % 16, control["top"] % 32) == (0, 0), (where, control)


async def solve(
    task: Task, pool: BrowserPool, server: SiteServer, layout: str, level: int, seed: int = 0
) -> tuple[bool, int, str, list[str]]:
    name = f"solve-{layout}-{level}-{seed}-{task.id}"
    session = await pool.open(task.start_url, server.headers(name, layout, Perturbations(level, f"{seed}-{task.id}")))
    oracle, log, answer = Oracle(task), [task.instruction], None
    while answer is None and len(log) < 61:
        step = await oracle.step(session)
        assert len(step.think.split()) <= WORDS[layout], step.think
        assert not [reason for reason in map(check_call, step.calls) if reason], step.calls
        log.append(f"{step.think} {[(call.name, call.arguments) for call in step.calls]}")
        answer = (await session.act(step.calls)).answer
        await session.observe()
    state = server.state(name)
    verdict = evaluate(task, answer, session.page.url, state)
    met = [noted["event"] for seen in state.values() for noted in seen.get("perturbations", [])]
    await session.close()
    return verdict.success, len(log) - 1, "\n".join([name, *log, str(met), verdict.reason]), met
