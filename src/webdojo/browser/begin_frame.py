"""Drawing pages on demand (BeginFrame control), the cheapest correct way to see them in Chromium's headless shell.

A page that is opened here draws nothing by itself: each `HeadlessExperimental.beginFrame` draws one frame and may
return its picture. So frames are drawn continuously while a session acts or waits, and a screenshot is the second
of two frames, because the first may only begin to show the effect of the last input. Two frames at a time crash
Chromium, so all its sessions share one lock, and a frame that has begun is never abandoned.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

FLAGS = ("--enable-begin-frame-control", "--run-all-compositor-stages-before-draw")
_FIRST_PAUSE_S = 0.008
_LAST_PAUSE_S = 0.064
"""Frames follow each other closely after an input, which waits for them, and then less and less often."""
_HANG_S = 10.0
"""A frame takes milliseconds; one that takes so long is stuck in a native window and never ends."""
_PROBE_S = 5.0


class BeginFrames:
    """Draws the pages of one Chromium; after `on_hang` it cannot be used any more."""

    def __init__(self, browser: CDPSession, on_hang: Callable[[], None]) -> None:
        self._browser = browser
        self._on_hang = on_hang
        self._one_at_a_time = asyncio.Lock()
        self._drawing: set[asyncio.Task[dict[str, Any]]] = set()
        self._ids: WeakKeyDictionary[BrowserContext, str] = WeakKeyDictionary()

    async def register(self, context: BrowserContext, before: set[str]) -> None:
        """Learn the id of a new context: the one that is not among the ids from `before`."""
        (self._ids[context],) = await self.contexts() - before

    async def contexts(self) -> set[str]:
        return set((await self._browser.send("Target.getBrowserContexts"))["browserContextIds"])

    async def open_page(self, context: BrowserContext) -> None:
        """Ask for a blank page that is drawn on demand; the context reports it like any other new page."""
        await self._browser.send(
            "Target.createTarget",
            {"url": "about:blank", "browserContextId": self._ids[context], "enableBeginFrameControl": True},
        )

    async def works(self, context: BrowserContext) -> bool:
        """Whether this Chromium can draw on demand: it must return a screenshot, and draw drop-downs inside pages."""
        coming: asyncio.Future[Page] = asyncio.get_running_loop().create_future()
        context.once("page", lambda page: coming.set_result(page))
        async with asyncio.timeout(_PROBE_S):
            await self.open_page(context)
            page = await coming
            cdp = await context.new_cdp_session(page)
            await self.screenshot(cdp, {"format": "jpeg"})
            return bool(await page.evaluate("CSS.supports('appearance', 'base-select')"))

    async def screenshot(self, page: CDPSession, options: dict[str, Any]) -> str:
        """Draw frames until one has a picture; whoever calls limits how long.

        A new page needs several, one that waits for a style sheet has none, and so has every page while a GPU process
        that has died is started again.
        """
        await self.draw(page)
        pause_s = _FIRST_PAUSE_S
        while not (data := (await self.draw(page, {"screenshot": options})).get("screenshotData")):
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LAST_PAUSE_S)
        return str(data)

    async def draw(self, page: CDPSession, options: dict[str, Any] | None = None) -> dict[str, Any]:
        task = asyncio.create_task(self._draw(page, options or {}))
        self._drawing.add(task)
        task.add_done_callback(self._drawing.discard)
        return await asyncio.shield(task)

    @asynccontextmanager
    async def continuous(self, page: Callable[[], CDPSession | None]) -> AsyncIterator[None]:
        """Draw frame after frame while the block runs, always of the page that is active then."""

        async def draw_all() -> None:
            pause_s = _FIRST_PAUSE_S
            while True:
                if (current := page()) is not None:
                    with suppress(PlaywrightError):  # the page is closing; another becomes active
                        await self.draw(current)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LAST_PAUSE_S)

        task = asyncio.create_task(draw_all())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _draw(self, page: CDPSession, options: dict[str, Any]) -> dict[str, Any]:
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(_HANG_S):
                    return dict(await page.send("HeadlessExperimental.beginFrame", options))
            except TimeoutError:
                self._on_hang()
                raise PlaywrightError("a frame did not end") from None
