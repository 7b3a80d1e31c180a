"""The report as a browser shows it."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from tests.store.fabricate import page_image, trajectory, turn
from tests.view.demo_run import HOSTILE, create, fill
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.evaluation.metrics import success
from webdojo.loops.run_folder import EVAL, PLANNED
from webdojo.store.run import RunStore
from webdojo.types import ToolCall
from webdojo.view.report import choose, write_report


@asynccontextmanager
async def opened(report: Path, width: int = 1240, scheme: str = "light") -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(BrowserConfig()), args=["--no-sandbox"]
        )
        page = await browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        await page.goto(report.as_uri())
        yield page
        await browser.close()


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "quickstart-2"
    with create(path) as store:
        fill(store)
        return write_report(store, path / "report.html")


def one_step(path: Path, calls: list[ToolCall], size: tuple[int, int]) -> Path:
    with create(path) as store:
        image = page_image(store.images, 1, size)
        store.add_trajectory(trajectory("a", store.images, turns=[turn(image, calls)], size=size), "eval_rl", 0)
        return write_report(store, path / "report.html")


RELATIVE = """() => [...document.querySelectorAll('.frame .marks .dot, dialog .marks .dot')].map((dot) => {
    const d = dot.getBoundingClientRect(), i = dot.closest('.screen').querySelector('img').getBoundingClientRect();
    return [1000 * (d.x + d.width / 2 - i.x) / i.width, 1000 * (d.y + d.height / 2 - i.y) / i.height];
})"""


@pytest.mark.parametrize("size", [(320, 256), (1280, 1000)])
@pytest.mark.parametrize("width", [1240, 390])
async def test_marks_lie_where_the_agent_pointed(tmp_path, size, width):
    calls = [
        ToolCall(name="click", arguments={"x": 734, "y": 66}),
        ToolCall(name="drag", arguments={"x1": 200, "y1": 700, "x2": 800, "y2": 300}),
    ]
    async with opened(one_step(tmp_path / "run", calls, size), width) as page:
        click, drag = await page.evaluate(RELATIVE)
        assert click == pytest.approx([734, 66], abs=2)
        assert drag == pytest.approx([200, 700], abs=2)
        shown = page.locator(".frame img").first
        await expect(shown).to_have_js_property("naturalWidth", min(size[0], 720), timeout=60_000)
        assert await page.locator(".marks text").all_text_contents() == ["1", "2"]


async def test_frame_opens_large_and_closes(finished):
    async with opened(finished) as page:
        small = await page.locator(".screen").first.bounding_box()
        await page.locator(".screen").first.click()
        large = await page.locator("dialog .screen").bounding_box()
        assert small is not None
        assert large is not None
        assert large["width"] > 2 * small["width"]
        marks = await page.evaluate(RELATIVE)
        assert marks[-1] == pytest.approx(marks[0], abs=2)
        await page.keyboard.press("Escape")
        assert await page.locator("dialog").is_hidden()


@pytest.mark.parametrize("width", [1240, 820, 390])
async def test_nothing_overflows(finished, width):
    async with opened(finished, width) as page:
        await page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        overflowing = await page.evaluate(
            """() => [document.documentElement, ...document.querySelectorAll('body *')]
                .filter((e) => !e.closest('.strip, .scroll, pre, dialog, defs, .where'))
                .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().x < -0.5)
                .map((e) => e.outerHTML.slice(0, 120))"""
        )
        assert overflowing == []
        clipped = await page.evaluate(
            "() => [...document.querySelectorAll('.frame figcaption, .stage, .head')]"
            ".filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML.slice(0, 120))"
        )
        assert clipped == []
        texts_outside = await page.evaluate(
            """() => [...document.querySelectorAll('.chart text')].filter((t) => {
                const a = t.getBoundingClientRect(), b = t.closest('svg').getBoundingClientRect();
                return a.x < b.x - 3 || a.right > b.right + 3;
            }).map((t) => t.textContent)"""
        )
        assert texts_outside == []


async def test_says_what_the_run_found(finished):
    async with opened(finished) as page:
        text = " ".join((await page.inner_text("main")).split())
        values = [" ".join(value.split()) for value in await page.locator(".stage .value").all_inner_texts()]
        assert f"From {values[0]} to {values[2]} on 48 tasks of unseen sites" in text, "the headline rounds otherwise"
        assert "seed 3" in text
        assert "72.9 % 59.0 – 83.4 % 48 tasks" in text
        assert await page.locator("article").count() == 10
        assert await page.locator("article.won").count() >= 3
        assert await page.locator("article.lost").count() >= 3
        assert await page.locator("article h3").first.inner_text() == "Open the page of the Amber Kettle."
        assert "The cart holds the Amber Kettle." in text
        for title in ("Entropy", "Approximate KL", "Clip fraction", "Gradient norm", "Steps", "Response tokens"):
            figure = page.locator(".health figure", has_text=title).first
            assert await figure.locator("circle.point").count() == 24
        assert await page.locator("[aria-label='Success by difficulty for each stage'] rect").count() == 12
        assert await page.locator("[aria-label='Success and reward by iteration'] .point.control").count() == 4
        widths = await page.locator(".stage .fill").evaluate_all(
            "bars => bars.map((b) => b.getBoundingClientRect().width / b.parentElement.getBoundingClientRect().width)"
        )
        assert widths == pytest.approx([3 / 48, 18 / 48, 35 / 48], abs=0.01)


async def test_what_models_and_pages_write_is_shown_as_text_and_nothing_is_loaded(finished):
    async with opened(finished) as page:
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        await page.reload()
        assert await page.title() == "quickstart-2 · webdojo"
        assert HOSTILE in await page.locator("article.lost h3").first.inner_text()
        assert await page.locator("article img[src='x']").count() == 0
        assert [url for url in requests if not url.startswith(("data:", finished.as_uri()))] == []


async def test_follows_the_theme_of_the_system(finished):
    lightness = "getComputedStyle(document.body).{}.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0) / 3"
    for scheme, dark in (("light", False), ("dark", True)):
        async with opened(finished, scheme=scheme) as page:
            paper = await page.evaluate(lightness.format("backgroundColor"))
            ink = await page.evaluate(lightness.format("color"))
            assert (paper < 60, ink > 200) == (dark, dark)


async def test_unfinished_run_shows_what_there_is(tmp_path):
    path = tmp_path / "half"
    with create(path) as store:
        store.add_metrics("rl", 1, {"reward": 0.4, "success": 0.4, "seconds_total": 20.0, "grad_norm": float("nan")})
        store.add_trajectory(trajectory("a", store.images), "rl", 1)
        report = write_report(store, path / "report.html")
        store.set(PLANNED, 200)
        store.add_trajectory(trajectory("b", store.images), "eval_base", 0)
        measuring = write_report(store, path / "measuring.html")
    async with opened(measuring) as page:
        assert re.search(r"Base\s+100.0 %.*\s1 of 200 tasks so far", await page.inner_text(".stages"), re.DOTALL)
    async with opened(report) as page:
        text = await page.inner_text("main")
        assert "unfinished" in text
        assert "No held-out task has been measured yet." in text
        assert "No SFT step has been recorded." in text
        assert "RL so far 20s" in " ".join(text.split())
        assert await page.locator("article").count() == 1


async def test_an_evaluation_has_nothing_of_training(tmp_path):
    with create(tmp_path / "run") as store:
        store.add_trajectory(trajectory("a", store.images), EVAL, 0)
        store.write_result({"success_eval": success(store.trajectories(EVAL)).model_dump(mode="json")})
        report = write_report(store, tmp_path / "report.html")
    async with opened(report) as page:
        headings = await page.locator("h2").all_inner_texts()
        assert headings == ["Success on held-out tasks", "By difficulty", "Where the time went", *headings[3:]]
        assert "Learning curve" not in (text := await page.inner_text("main"))
        assert "RL" not in text


async def test_run_that_has_only_begun(tmp_path):
    with RunStore.create(tmp_path / "new", "name: x\n", {"seed": 0}) as store:
        report = write_report(store, tmp_path / "new" / "report.html")
    async with opened(report) as page:
        text = await page.inner_text("main")
        assert "No RL iteration has finished yet." in text
        assert "No episode has finished yet." in text


def test_samples_come_from_the_last_evaluation_and_cover_wins_losses_and_difficulties(tmp_path):
    with create(tmp_path / "run") as store:
        for n in range(60):
            kind = ("shop", "wiki")[n % 2]
            made = trajectory(f"e{n}", store.images, success=n % 10 != 0, difficulty=n % 4 + 1, kind=kind, site=n % 7)
            store.add_trajectory(made, "eval_rl", 0)
        store.add_trajectory(trajectory("broken", store.images, success=False, valid=False), "eval_rl", 0)
        store.add_trajectory(trajectory("c", store.images, success=False, difficulty=4), "eval_control", 0)
        ids = choose(store.rows())
        picked = [row for row in store.rows() if row.id in ids]
    assert len(ids) == 10
    assert {row.phase for row in picked} == {"eval_rl"}
    assert "broken" not in ids
    assert {(row.success, row.difficulty) for row in picked} >= {(True, d) for d in (1, 2, 3, 4)} | {(False, 1)}
    assert {row.kind for row in picked} == {"shop", "wiki"}
