"""What a crawl sees of a site, where it goes, and where it does not."""

from __future__ import annotations

from pathlib import Path

from pydantic import PrivateAttr

from webdojo.browser.config import BrowserConfig
from webdojo.browser.page.snapshot import Node, Snapshot
from webdojo.browser.pool import BrowserPool
from webdojo.envs.dojo import Dojo
from webdojo.errors import Failure, StartError
from webdojo.loops.construction.crawl import LONGEST, MOST_CONTROLS, Crawls, Page, crawl, page_of, to_follow
from webdojo.store.images import MemoryImages
from webdojo.types import Task

SHOP = "http://shop-0.localhost/"


def test_links_of_other_sections_come_first_and_those_that_act_not_at_all() -> None:
    host = "a.example"
    links = [
        "https://a.example/news/1",
        "https://a.example/news/2",
        "https://a.example/help#top",
        "https://a.example/help#end",
        "https://a.example/",
        "https://b.example/else",
        "mailto:a@a.example",
        "javascript:void(0)",
        "https://a.example/logout",
        "https://a.example/item?do=delete",
        "https://a.example/cart/add/3",
        "https://a.example/report.pdf",
        "https://a.example/about?from=home",
    ]
    assert to_follow(links, host, ["https://a.example/#start"]) == [
        "https://a.example/news/1",
        "https://a.example/help",
        "https://a.example/about?from=home",
        "https://a.example/news/2",
    ]


def node(role: str, name: str, control: bool = False) -> Node:
    return Node(depth=0, tag="a", role=role, name=name, box_px=(0, 0, 1, 1), in_view=True, control=control)


def test_a_page_is_told_by_its_headings_controls_and_texts() -> None:
    nodes = [node("heading", "Mugs"), node("link", "Red\n mug", True), node("text", "4.99"), node("text", "4.99")]
    nodes += [node("button", "", True), node("image", "A mug"), node("text", "x" * 200)]
    nodes += [node("link", f"page {n}", True) for n in range(2 * MOST_CONTROLS)]
    page = page_of(Snapshot(tuple(nodes), (800, 600), "The shop", SHOP))
    assert (page.title, page.headings, page.controls[0]) == ("The shop", ["Mugs"], "link Red mug")
    assert page.texts[0] == "4.99" and len(page.texts) == 2 and len(page.texts[1]) == LONGEST
    assert len(page.controls) == MOST_CONTROLS


class Watched(Dojo):
    """Says which pages asked to be admitted, and refuses some."""

    _asked: list[str] = PrivateAttr(default_factory=list)
    _refused: str = PrivateAttr(default="nothing")

    async def admit(self, task: Task) -> None:
        self._asked.append(task.start_url)
        if task.start_url == self._refused:
            raise StartError(f"robots.txt forbids {task.start_url}", Failure.ROBOTS_TXT)


async def test_pages_of_a_site_are_seen_and_each_is_admitted_first() -> None:
    async with Watched() as env, BrowserPool(BrowserConfig(), MemoryImages(2), dict(env.hosts)) as pool:
        found = await crawl(SHOP, env, pool, 3)
        asked = env._asked
    assert found.why_not == ""
    assert [page.url for page in found.pages] == asked and len(asked) == 3 and asked[0] == SHOP
    assert all(page.title for page in found.pages)
    assert all(page.controls for page in found.pages)
    assert len({page.model_dump_json() for page in found.pages}) == 3


async def test_what_may_not_be_visited_is_not() -> None:
    async with Watched() as env, BrowserPool(BrowserConfig(), MemoryImages(2), dict(env.hosts)) as pool:
        free = [page.url for page in (await crawl(SHOP, env, pool, 3)).pages]
        env._asked, env._refused = [], free[1]
        found = [page.url for page in (await crawl(SHOP, env, pool, 3)).pages]
        assert free[1] in env._asked
        assert free[1] not in found and len(found) == 3
        env._refused = SHOP
        none = await crawl(SHOP, env, pool, 3)
    assert none.pages == [] and "robots.txt forbids" in none.why_not


async def test_a_site_is_visited_once(tmp_path: Path) -> None:
    crawls = Crawls(tmp_path, 2)
    async with Watched() as env, BrowserPool(BrowserConfig(), MemoryImages(2), dict(env.hosts)) as pool:
        first = await crawls.look(SHOP, env, pool)
        asked = len(env._asked)
        assert await Crawls(tmp_path, 2).look(SHOP, env, pool) == first
        assert len(env._asked) == asked
        await Crawls(tmp_path, 1).look(SHOP, env, pool)
        assert len(env._asked) == asked + 1, "with other options it is"
        gone = await crawls.look("http://shop-0.localhost:1/", env, pool)
        assert gone.pages == []
        asked = len(env._asked)
        await crawls.look("http://shop-0.localhost:1/", env, pool)
        assert len(env._asked) == asked + 1, "one that could not be visited is tried again"


def test_a_file_that_was_cut_is_as_none(tmp_path: Path) -> None:
    crawls = Crawls(tmp_path, 2)
    assert crawls.get(SHOP) is None
    (tmp_path / "pages").mkdir()
    crawls._file(SHOP).write_text('{"pages": [')
    assert crawls.get(SHOP) is None
    page = Page(url=SHOP, title="t", headings=[], controls=[], texts=[])
    crawls._file(SHOP).write_text(f'{{"pages": [{page.model_dump_json()}]}}')
    assert (seen := crawls.get(SHOP)) is not None and seen.pages == [page]
