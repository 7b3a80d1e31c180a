"""The ways to drive the pages of the browser benchmark: webdojo's own, and Playwright as people use it.

A way opens hands; a hand carries out one action and returns what it saw afterwards. All ways run the same Chromium.
`browser_peers.py` has the way that needs another virtual environment.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol, Self

from browser_pages import VIEWPORT_PX, Action
from playwright.async_api import Browser, Page, Playwright, async_playwright

from webdojo.browser.config import BrowserConfig, GuardConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.store.images import MemoryImages
from webdojo.types import ToolCall

Seen = bytes | int
"""An encoded screenshot, or the count that was already read from one."""


class Hand(Protocol):
    """One session at work."""

    async def step(self, action: Action) -> Seen:
        """Act, wait until the way holds the page for ready, observe."""
        ...

    async def count(self) -> int:
        """How many actions arrived in the page."""
        ...

    async def close(self) -> None: ...


class Way(Protocol):
    """A kind of browser environment; entering it starts what all sessions share."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def open(self, url: str) -> Hand: ...


class WebdojoHand:
    """`act` with both state probes and the wait until the page is ready, then `observe`."""

    def __init__(self, session: BrowserSession, images: MemoryImages) -> None:
        self._session, self._images = session, images

    async def step(self, action: Action) -> bytes:
        result = await self._session.act([_tool_call(action)])
        if not result.feedback[0].ok:
            raise RuntimeError(f"{action} failed: {result.feedback[0].text}")
        observation = await self._session.observe()
        return self._images.get(observation.screenshot)

    async def count(self) -> int:
        return int(await self._session.page.evaluate("bench.count"))

    async def close(self) -> None:
        await self._session.close()


class Webdojo:
    """`BrowserPool` with the defaults of its recipe section, guard and proxy included.

    Args:
        executable: Chromium.
        keys: of the browser section, where they are not the defaults.
    """

    def __init__(self, executable: str, keys: dict[str, Any]) -> None:
        self._images = MemoryImages(capacity=256)
        guard = GuardConfig(private_hosts=["127.0.0.1"], connections_per_second=0)
        config = BrowserConfig(executable=executable, viewport_px=VIEWPORT_PX, guard=guard, **keys)
        self._pool = BrowserPool(config, self._images)

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._pool.__aexit__(*error)

    async def open(self, url: str) -> WebdojoHand:
        return WebdojoHand(await self._pool.open(url), self._images)


def _tool_call(action: Action) -> ToolCall:
    if action.kind == "click":
        return ToolCall(name="click", arguments={"x": action.x, "y": action.y})
    if action.kind == "write":
        return ToolCall(name="write", arguments={"text": action.text})
    where = {"x": action.x, "y": action.y}
    return ToolCall(name="scroll", arguments={**where, "direction": action.direction, "amount": action.amount})


class PlaywrightHand:
    """Input, a wait for a state of loading if one is given, a screenshot. It says nothing to the agent."""

    def __init__(self, page: Page, idle: bool, options: dict[str, Any]) -> None:
        self._page, self._idle, self._options = page, idle, options

    async def step(self, action: Action) -> bytes:
        page = self._page
        if action.kind == "click":
            await page.mouse.click(action.x_px, action.y_px)
        elif action.kind == "write":
            await page.keyboard.press("ControlOrMeta+a")
            await page.keyboard.insert_text(action.text)
        else:
            await page.mouse.move(action.x_px, action.y_px)
            await page.mouse.wheel(0, action.wheel_px)
        if self._idle:
            await page.wait_for_load_state("networkidle")
        return await page.screenshot(**self._options)

    async def count(self) -> int:
        return int(await self._page.evaluate("bench.count"))

    async def close(self) -> None:
        await self._page.context.close()


class PlaywrightAlone:
    """One browser, a context a session, all in one event loop.

    Args:
        executable: Chromium.
        jpeg: nothing but the action and a JPEG as webdojo takes it; else the plain recipe of Playwright's users, which
            is `networkidle` and a PNG.
    """

    _playwright: Playwright
    _browser: Browser

    def __init__(self, executable: str, jpeg: bool) -> None:
        self._executable = executable
        self._idle, self._options = not jpeg, {"type": "jpeg", "quality": 85} if jpeg else {}

    async def __aenter__(self) -> Self:
        self._playwright = await async_playwright().start()
        try:
            self._browser = await self._playwright.chromium.launch(
                executable_path=self._executable, handle_sigint=False
            )
        except BaseException:
            await self._playwright.stop()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._browser.close()
        await self._playwright.stop()

    async def open(self, url: str) -> PlaywrightHand:
        width, height = VIEWPORT_PX
        context = await self._browser.new_context(viewport={"width": width, "height": height})
        page = await context.new_page()
        await page.goto(url, wait_until="networkidle")
        return PlaywrightHand(page, self._idle, self._options)
