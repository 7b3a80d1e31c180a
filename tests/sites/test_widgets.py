"""What sites have beside links and plain forms, in real Chromium: tasks need it, and the oracle uses it."""

import random
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial

import pytest
import pytest_asyncio

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.sites.admin import Admin
from webdojo.sites.kinds import load_site
from webdojo.sites.mail import Mail
from webdojo.sites.news import partner_of
from webdojo.sites.oracle import Oracle
from webdojo.sites.pages import CatalogSite
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.site import Overlay, Request
from webdojo.sites.taskgen import draw_task
from webdojo.sites.verdict import evaluate
from webdojo.store.images import MemoryImages
from webdojo.types import Task, ToolCall

pytestmark = pytest.mark.asyncio(loop_scope="module")

VIEWPORTS = {"compact": (320, 320), "auto": (1280, 1000)}
Wanted = Callable[[Task], bool]


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


def catalog(kind: str, fits: Callable[[CatalogSite], bool] = lambda site: True) -> CatalogSite:
    """The first site of a kind that fits."""
    for seed in range(100):
        site = load_site(kind, seed)
        assert isinstance(site, CatalogSite)
        if fits(site):
            return site
    raise AssertionError(f"no {kind} fits")


def drawn(site: CatalogSite, wanted: Wanted, difficulties: range = range(1, 6)) -> Task:
    """A task of a site that is as wanted."""
    rng = random.Random(5)
    for i in range(3000):
        task = draw_task(site, difficulties[i % len(difficulties)], rng)
        if wanted(task):
            return task
    raise AssertionError(f"{site.host} has no such task")


def sends(action: str) -> Wanted:
    """Tasks that end with this action."""
    return lambda task: any(step.get("action", "").endswith(f"/{action}") for step in task.metadata["plan"])


async def solve(task: Task, pool: BrowserPool, server: SiteServer, layout: str) -> tuple[set[str], list[str]]:
    """Let the oracle solve a task: the tools that it used, and what the feedback said."""
    name = f"{layout}-{task.id}"
    session = await pool.open(task.start_url, server.headers(name, layout))
    oracle, tools, said, answer = Oracle(task), set[str](), list[str](), None
    for _ in range(60):
        step = await oracle.step(session)
        result = await session.act(step.calls)
        tools |= {call.name for call in step.calls}
        said += [f"{step.think} -> {feedback.text}" for feedback in result.feedback]
        answer = result.answer
        if answer is not None:
            break
    verdict = evaluate(task, answer, session.active.url, server.state(name))
    await session.close()
    assert verdict.success, "\n".join([task.instruction, *said, verdict.reason])
    return tools, said


@pytest.mark.parametrize("layout", VIEWPORTS)
@pytest.mark.parametrize(
    ("kind", "action"),
    [
        ("mail", "compose"),  # editable text, a file field that is left alone
        ("mail", "delete"),  # a question before it is sent
        ("mail", "pin"),  # the menu of a right click
        ("tracker", "watch"),
        ("tracker", "assign"),  # names are offered while one writes
        ("tracker", "colour"),
        ("admin", "copy"),  # the browser asks for a name
        ("places", "visit"),  # a form in a frame, with a time
    ],
)
async def test_the_oracle_gets_through(
    pools: dict[str, BrowserPool], server: SiteServer, layout: str, kind: str, action: str
) -> None:
    _, said = await solve(drawn(catalog(kind), sends(action)), pools[layout], server, layout)
    asked = {"delete": 'confirm "Delete this message', "copy": 'prompt "Name of the copy" was accepted with "Copy of'}
    assert asked.get(action, "") in "\n".join(said)


@pytest.mark.parametrize("layout", VIEWPORTS)
async def test_a_box_of_another_site_is_entered_in_a_tab_of_its_own(
    pools: dict[str, BrowserPool], server: SiteServer, layout: str
) -> None:
    site = catalog("news", lambda site: bool(partner_of(site)))
    task = drawn(site, lambda task: task.metadata["goal"] == "partner")
    tools, said = await solve(task, pools[layout], server, layout)
    assert "goto_url" not in tools
    assert "opened tab" in said[-2], said


def _compares(odd: int, task: Task) -> bool:
    return task.metadata["goal"] == "compare" and len(task.id) % 2 == odd


async def test_the_oracle_comes_back_from_tabs_that_links_opened(
    pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    site = catalog("travel", lambda site: site.skin.apart)
    used: set[str] = set()
    for odd in (0, 1):
        task = drawn(site, partial(_compares, odd))
        used |= (await solve(task, pools["auto"], server, "auto"))[0]
    assert {"switch_tab", "close_tab"} <= used


async def test_the_oracle_waits_for_reports(pools: dict[str, BrowserPool], server: SiteServer) -> None:
    def late(site: CatalogSite) -> bool:
        page = site.respond(Request("GET", "/reports/2026-03", {}), Overlay())
        return any(block.template == "late" for block in page.data["blocks"])  # type: ignore[union-attr]

    site = catalog("admin", late)
    assert isinstance(site, Admin)
    tools, _ = await solve(drawn(site, lambda task: task.metadata["goal"] == "report"), pools["auto"], server, "auto")
    assert "wait" in tools


async def test_filters_that_scroll_by_themselves_are_reached(pools: dict[str, BrowserPool], server: SiteServer) -> None:
    def long(site: CatalogSite) -> bool:
        return site.skin.nested and site.skin.filters == "links" and not site.skin.sticky

    site = catalog("mail", long)
    task = drawn(site, lambda task: task.metadata["goal"] == "narrow" and "sender=" in str(task.metadata["plan"]))
    await solve(task, pools["auto"], server, "auto")


async def click(session: BrowserSession, selector: str, **more: str) -> str:
    box = await session.page.locator(selector).first.bounding_box()
    assert box is not None, selector
    width, height = session.viewport_px
    point = {"x": round(1000 * (box["x"] + box["width"] / 2) / width)}
    point["y"] = round(1000 * (box["y"] + box["height"] / 2) / height)
    return (await session.act([ToolCall(name="click", arguments={**point, **more})])).feedback[0].text


async def test_a_right_click_offers_what_can_be_done_and_a_click_elsewhere_takes_it_away(
    pools: dict[str, BrowserPool], server: SiteServer
) -> None:
    site = Mail(3)
    session = await pools["auto"].open(site.url("/messages"), server.headers("menu"))
    menu = session.page.locator("[role=menu]")
    await click(session, "[data-offers] a", button="right")
    offered = await menu.locator("[role=menuitem]").all_inner_texts()
    assert offered[0] == "Open in a new tab" and "Pin to the top" in offered
    await click(session, "h1")
    assert await menu.count() == 0
    await click(session, "[data-offers] a", button="right")
    await click(session, "[role=menuitem]")
    assert len(session.tabs) == 2
    await session.close()
    assert server.state("menu")[site.host]["state"] == {}


async def test_a_file_field_says_that_there_are_no_files(pools: dict[str, BrowserPool], server: SiteServer) -> None:
    session = await pools["auto"].open(Mail(3).url("/do/compose"), server.headers("file"))
    said = await click(session, "input[type=file]")
    assert "uploads are not possible" in said
    await session.close()
