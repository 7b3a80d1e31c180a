"""One trajectory as a page, as a browser shows it."""

from __future__ import annotations

from tests.store.fabricate import page_image, trajectory, turn
from tests.view.demo_run import HOSTILE
from tests.view.test_report import opened
from webdojo.store.images import MemoryImages
from webdojo.types import Termination, ToolCall
from webdojo.view.film import write_trajectory


async def test_every_step_is_there_also_of_a_long_episode_that_nobody_judged(tmp_path):
    images = MemoryImages()
    calls = [ToolCall(name="click", arguments={"x": 500, "y": 250})]
    episode = trajectory("t", images, turns=[turn(page_image(images, step), calls) for step in range(20)])
    episode.reward = None
    async with opened(write_trajectory(episode, images, tmp_path / "film.html")) as page:
        assert await page.locator("figure.frame").count() == 20 + (episode.final is not None)
        assert await page.locator(".badge").inner_text() == "not judged"
        assert await page.locator(".verdict, .level").count() == 0
        assert await page.locator("svg.marks circle").count() > 0
        await page.locator("figure.frame .screen").first.click()
        assert await page.locator("dialog[open]").count() == 1


async def test_an_episode_that_never_began_says_why(tmp_path):
    images = MemoryImages()
    episode = trajectory("t", images, turns=[])
    episode.final, episode.reward = None, None
    episode.termination, episode.error = Termination.START_ERROR, f"cannot reach {HOSTILE}"
    async with opened(write_trajectory(episode, images, tmp_path / "film.html")) as page:
        assert "cannot reach" in await page.locator(".missing").inner_text()
        assert await page.title() != "owned"
