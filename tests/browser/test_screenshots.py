"""Screenshots are stored without holding up other sessions, and before an observation names them."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.errors import StoreFailure
from webdojo.store.images import ImageStore, MemoryImages
from webdojo.types import ImageRef, Observation, View

PUT_S = 2.0


class SlowImages(MemoryImages):
    """Images on a disk that takes seconds to write one."""

    def put(self, data: bytes, width: int, height: int, mime: str) -> ImageRef:
        time.sleep(PUT_S)
        return super().put(data, width, height, mime)


async def longest_pause(observing: Coroutine[Any, Any, Observation]) -> tuple[Observation, float]:
    """What the observation gives, and for how many seconds the event loop did nothing else meanwhile."""
    task, longest, last = asyncio.create_task(observing), 0.0, time.monotonic()
    while not task.done():
        await asyncio.sleep(0.01)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    return task.result(), longest


@pytest.mark.parametrize("view", [None, View(kind="marks")])
async def test_a_slow_store_does_not_hold_up_the_event_loop(
    config: BrowserConfig, site: str, view: View | None
) -> None:
    images = SlowImages()
    async with BrowserPool(config.model_copy(update={"browsers": 1}), images) as pool:
        session = await pool.open(f"{site}/")
        began = time.monotonic()
        seen, pause = await longest_pause(session.observe(view))
        assert images.get(seen.screenshot), "it is there when it is named"
        assert time.monotonic() - began > PUT_S
        assert pause < PUT_S / 2


async def test_a_screenshot_that_cannot_be_stored_leaves_the_session_as_it_is(
    config: BrowserConfig, site: str, tmp_path: Path
) -> None:
    images = ImageStore(tmp_path / "images")
    async with BrowserPool(config.model_copy(update={"browsers": 1}), images) as pool:
        session = await pool.open(f"{site}/")
        with pytest.raises(StoreFailure, match="was deleted"):
            await session.observe()
        images.folder.mkdir()
        seen = await session.observe()
        assert images.path(seen.screenshot).is_file() and images.get(seen.screenshot)
        shutil.rmtree(images.folder)
        assert not images.has(seen.screenshot)
