"""Pages drawn on demand: what is seen is what there is, for several sessions at once."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import CDPSession

from webdojo.browser import begin_frame
from webdojo.browser.begin_frame import BeginFrames
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.errors import BrowserError
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif("headless" not in find_chromium(BrowserConfig()), reason="only the headless shell can"),
]

IMAGES = MemoryImages()


def click(row: int) -> ToolCall:
    return ToolCall(name="click", arguments={"x": 30, "y": 100 * row + 30})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def drawn(config: BrowserConfig) -> AsyncIterator[BrowserPool]:
    async with BrowserPool(config.model_copy(update={"capture": "begin_frame", "browsers": 1}), IMAGES) as pool:
        yield pool


async def pixels(session: BrowserSession) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    seen = await session.observe()
    return np.asarray(Image.open(io.BytesIO(IMAGES.get(seen.screenshot))).convert("RGB")).astype(np.int16)


async def test_it_is_not_the_fallback(drawn: BrowserPool) -> None:
    assert drawn.browsers[0].frames is not None


async def test_the_picture_is_that_of_a_screenshot(drawn: BrowserPool, config: BrowserConfig, site: str) -> None:
    session = await drawn.open(f"{site}/")
    async with BrowserPool(config, IMAGES) as plain:
        other = await plain.open(f"{site}/")
        for call in (click(3), ToolCall(name="write", arguments={"text": "mug"}), click(4), click(5)):
            said, expected = await session.act([call]), await other.act([call])
            assert said == expected
            here, there = await pixels(session), await pixels(other)
            assert here.shape == (500, 500, 3)
            assert np.abs(here - there).mean() < 0.5, call
        await other.close()
    await session.close()


@pytest.mark.slow
async def test_every_picture_shows_the_last_action(drawn: BrowserPool, site: str) -> None:
    """Several sessions at once, each of which counts its own clicks in colours."""

    async def count(session: BrowserSession) -> None:
        await session.page.evaluate(
            "() => { let n = 0; document.body.onclick = () => { n += 1; "
            "document.body.style.background = `rgb(${10 * n}, 0, ${255 - 10 * n})` } }"
        )
        for n in range(1, 16):
            await session.act([ToolCall(name="click", arguments={"x": 900, "y": 950})])
            red, _, blue = (await pixels(session))[480, 480]
            assert abs(red - 10 * n) < 6 and abs(blue - 255 + 10 * n) < 6, (n, red, blue)

    sessions = [await drawn.open(f"{site}/two") for _ in range(4)]
    for session in sessions:
        await session.page.set_content("<!doctype html><body style='height:500px;margin:0'>")
    await asyncio.gather(*map(count, sessions))
    for session in sessions:
        await session.close()


async def test_what_waits_for_frames_goes_on(drawn: BrowserPool, site: str) -> None:
    session = await drawn.open(f"{site}/drag")
    await session.act([ToolCall(name="drag", arguments={"x1": 50, "y1": 50, "x2": 600, "y2": 400})])
    assert await session.page.get_attribute("#d", "title") == "300"
    await session.act([ToolCall(name="goto_url", arguments={"url": f"{site}/long"})])
    down = ToolCall(name="scroll", arguments={"direction": "down", "amount": 0.6})
    assert (await session.act([down])).feedback[0].text == "scroll down 0.6: page is now at 15%"
    await session.close()


async def test_new_windows_are_drawn_too(drawn: BrowserPool, site: str) -> None:
    session = await drawn.open(f"{site}/")
    await session.act([click(1)])
    seen = await session.observe()
    assert seen.url == f"{site}/two" and len(seen.tabs) == 2
    assert (await pixels(session)).std() > 1, "the picture is blank"
    await session.act([ToolCall(name="new_tab", arguments={})])
    assert len((await session.observe()).tabs) == 3
    await session.close()


async def test_a_picture_is_waited_for_while_frames_have_none(
    drawn: BrowserPool, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while a GPU process that has died is started again on a busy machine."""
    frames = drawn.browsers[0].frames
    assert frames is not None
    session = await drawn.open(f"{site}/")
    draw, left = frames.draw, 70

    async def without_a_picture(page: CDPSession, options: dict[str, Any] | None = None) -> dict[str, Any]:
        nonlocal left
        drawn = await draw(page, options)
        if options and left:
            left -= 1
            del drawn["screenshotData"]
        return drawn

    monkeypatch.setattr(frames, "draw", without_a_picture)
    monkeypatch.setattr(begin_frame, "_LAST_PAUSE_S", 0.008)
    assert (await pixels(session)).std() > 1
    assert left == 0
    await session.close()


async def test_a_session_whose_browser_has_died_says_so(config: BrowserConfig, site: str) -> None:
    async with BrowserPool(config.model_copy(update={"capture": "begin_frame", "browsers": 1}), IMAGES) as pool:
        session = await pool.open(f"{site}/")
        browser = session.page.context.browser
        assert browser is not None
        await browser.close()
        for _ in range(2):
            with pytest.raises(BrowserError, match="browser died"):
                await session.act([click(1)])
        with pytest.raises(BrowserError, match="browser died"):
            await session.observe()
        await session.close()


async def test_a_browser_that_cannot_takes_screenshots(
    config: BrowserConfig, site: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def no(self: BeginFrames, context: object) -> bool:
        return False

    monkeypatch.setattr(BeginFrames, "works", no)
    async with BrowserPool(config.model_copy(update={"capture": "begin_frame"}), IMAGES) as pool:
        assert "cannot draw on demand" in caplog.text
        session = await pool.open(f"{site}/")
        assert (await pixels(session)).std() > 1
        await session.close()
