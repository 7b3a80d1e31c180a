"""Boards: cards in columns, and what dragging one does, in real Chromium."""

import random

import pytest

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.sites.design.render import render
from webdojo.sites.oracle import Oracle
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.site import Overlay, Page, Redirect, Request
from webdojo.sites.taskgen import draw_task
from webdojo.sites.tracker import ON_BOARD, Tracker
from webdojo.sites.verdict import evaluate
from webdojo.store.images import MemoryImages
from webdojo.types import Task

VIEWPORTS = {"compact": (320, 320), "auto": (1280, 1000)}


@pytest.fixture
def site() -> Tracker:
    return Tracker(3)


def test_a_card_moves_and_moves_back(site: Tracker) -> None:
    overlay = Overlay()
    name, cards = next(iter(site.boards.items()))
    card = cards[0]
    other = next(column for column in site.columns if column != card.values["status"])

    def move(column: str) -> None:
        values = {"card": card.slug, "column": column}
        assert site.respond(Request("POST", f"/board/{name}", values), overlay) == Redirect(f"/board/{name}")

    move(other)
    assert overlay.state == {f"issues/{card.slug}/status": other}
    assert site.collection("issues", overlay).by_slug[card.slug].values["status"] == other
    move("Nowhere")
    assert overlay.state == {f"issues/{card.slug}/status": other}
    move(str(card.values["status"]))
    assert overlay.state == {}


def test_a_board_shows_the_newest_issues_of_its_project(site: Tracker) -> None:
    for project in site.collections["projects"].entities:
        page = site.respond(Request("GET", f"/board/{project.slug}", {}), Overlay())
        assert isinstance(page, Page)
        html = render(site, page, Overlay(), "auto")
        shown = [issue for issue in site.main.entities if f'data-card="{issue.slug}"' in html]
        own = sorted(str(i.values["created"]) for i in site.main.entities if i.values["project"] == project.name)
        assert sorted(str(issue.values["created"]) for issue in shown) == own[-ON_BOARD:]


def drag_task(site: Tracker, seed: int) -> Task:
    """A task of two cards."""
    rng = random.Random(seed)
    while (task := draw_task(site, 3, rng)).metadata["goal"] != "drag":
        pass
    return task


@pytest.mark.parametrize("layout", VIEWPORTS)
async def test_the_oracle_drags_cards(site: Tracker, layout: str) -> None:
    with SiteServer() as server:
        async with BrowserPool(BrowserConfig(viewport_px=VIEWPORTS[layout]), MemoryImages(), server.hosts) as pool:
            for seed in range(2):
                task = drag_task(site, seed)
                session = await pool.open(task.start_url, server.headers(f"drag-{seed}", layout))
                oracle, answer = Oracle(task), None
                for _ in range(40):
                    answer = (await session.act((await oracle.step(session)).calls)).answer
                    if answer is not None:
                        break
                verdict = evaluate(task, answer, session.page.url, server.state(f"drag-{seed}"))
                await session.close()
                assert verdict.success, verdict.reason
