"""The tabs of a session: their pages, their DevTools channels, and their state as navigation events report it.

Chromium reports a navigation that a click began before it acknowledges the click, so `navigating` is already true
when the input returns; nothing needs to sleep. One tab is active at any time: a tab that a page opens becomes it.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession, Dialog, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.begin_frame import BeginFrames
from webdojo.browser.config import BrowserConfig
from webdojo.browser.diagnostics import SessionLog
from webdojo.browser.feedback import clip
from webdojo.browser.network.guard import Guard, Refused
from webdojo.errors import BrowserError, Failure

_JPEG_QUALITY = 85


class Tab:
    """A page with its state; it follows the page from `attach` on."""

    def __init__(self, page: Page, tabs: Tabs) -> None:
        self.page = page
        self.cdp: CDPSession
        self.navigating = False
        self.document = 0
        """Number of documents that were committed so far."""
        self.crashed = False
        self.status = 0
        """HTTP status of the document; 0 before the first one."""
        self.failed_url = ""
        """The address that did not load, where the tab shows Chromium's error page."""
        self._tabs = tabs
        self._main_frame = ""
        self._requests: dict[Request, float] = {}
        self._moved = asyncio.Event()

    async def attach(self) -> None:
        page, note = self.page, self._tabs.notes.append
        self.cdp = await page.context.new_cdp_session(page)
        self.cdp.on("Page.frameRequestedNavigation", self._on_requested)
        self.cdp.on("Page.frameStartedNavigating", self._on_started)
        self.cdp.on("Page.frameNavigated", self._on_navigated)
        self.cdp.on("Page.navigatedWithinDocument", self._on_still)
        self.cdp.on("Page.frameStoppedLoading", self._on_still)
        self.cdp.on("Page.windowOpen", lambda _: self._tabs.expect())
        self.cdp.on("Page.fileChooserOpened", lambda _: note("the page asks for a file: uploads are not possible"))
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfinished", self._on_answer)
        page.on("requestfailed", self._on_failed)
        page.on("download", lambda download: note(f'download of "{download.suggested_filename[:60]}" refused'))
        page.on("crash", self._on_crash)
        page.on("close", self._on_close)
        await self.cdp.send("Page.enable")
        await self.cdp.send("Page.setInterceptFileChooserDialog", {"enabled": True})
        frame = (await self.cdp.send("Page.getFrameTree"))["frameTree"]["frame"]
        self._main_frame = frame["id"]
        self.failed_url = frame.get("unreachableUrl", "")

    @property
    def url(self) -> str:
        """The address of the page; on an error page the address that failed, not Chromium's own."""
        return self.failed_url or self.page.url

    async def navigated(self) -> None:
        while self.navigating:
            self._moved.clear()
            await self._moved.wait()

    async def requests_done(self, deadline: float) -> bool:
        """Wait for pending requests, for data or for the next document of a frame; return whether there were any.

        A request older than half the readiness cap is a long poll or a dead third party and is not waited for.
        """
        waited, patience = False, self._tabs.config.ready_cap_s / 2
        while self._requests:
            left = min(max(self._requests.values()) + patience, deadline) - time.monotonic()
            if left <= 0:
                break
            waited = True
            self._moved.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left)
        return waited

    async def screenshot(self) -> bytes:
        options: dict[str, Any] = {"format": self._tabs.config.screenshot_format, "optimizeForSpeed": True}
        if self._tabs.config.screenshot_format == "jpeg":
            options["quality"] = _JPEG_QUALITY
        if self._tabs.frames is not None:
            return base64.b64decode(await self._tabs.frames.screenshot(self.cdp, options))
        shot = await self.cdp.send("Page.captureScreenshot", options)
        return base64.b64decode(shot["data"])

    def _is_main(self, event: dict[str, Any]) -> bool:
        return bool(event["frameId"] == self._main_frame)

    def _on_requested(self, event: dict[str, Any]) -> None:
        if self._is_main(event) and event["disposition"] == "currentTab" and event["url"].startswith("http"):
            self.navigating = True

    def _on_started(self, event: dict[str, Any]) -> None:
        if self._is_main(event):
            self.navigating = True

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if "parentId" in frame:
            return
        self._main_frame = frame["id"]
        self.failed_url = frame.get("unreachableUrl", "")
        if self.failed_url:
            self.status = 0
        self._requests.clear()
        self.document += 1
        self._stop()

    def _on_still(self, event: dict[str, Any]) -> None:
        if self._is_main(event):
            self._stop()

    def _stop(self) -> None:
        self.navigating = False
        self._moved.set()

    def _on_request(self, request: Request) -> None:
        self._tabs.log.requests["sent"] += 1
        if request.resource_type in ("fetch", "xhr") or self._leaves_frame(request):
            self._requests[request] = time.monotonic()

    def _leaves_frame(self, request: Request) -> bool:
        """Whether a frame inside the page leaves the document that it shows; its first document is part of loading."""
        if not request.is_navigation_request():
            return False
        frame = request.frame
        return frame != self.page.main_frame and frame.url not in ("", "about:blank")

    def _on_response(self, response: Response) -> None:
        self._tabs.log.requests[f"{response.status // 100}xx"] += 1
        request = response.request
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self.status = response.status

    def _on_answer(self, request: Request) -> None:
        if self._requests.pop(request, None) is not None:
            self._moved.set()

    def _on_failed(self, request: Request) -> None:
        self._tabs.log.requests["failed"] += 1
        self._on_answer(request)

    def _on_crash(self, page: Page) -> None:
        self.crashed = True
        self._stop()

    def _on_close(self, page: Page) -> None:
        self._stop()
        self._tabs.remove(self)


class Tabs:
    """The tabs of a context, and what their pages ask for; `frames` draws them, if they are drawn on demand."""

    def __init__(
        self, context: BrowserContext, config: BrowserConfig, guard: Guard, frames: BeginFrames | None
    ) -> None:
        self.config = config
        self.guard = guard
        self.frames = frames
        self.viewport_px = config.viewport_px
        self.tabs: list[Tab] = []
        self.active: Tab
        self.copied = ""
        """The text that was copied last."""
        self.log = SessionLog()
        self.notes: list[str] = []
        """What the next feedback should say besides the effect of the call."""
        self.context = context
        self._drawing = False
        self._adopting: set[asyncio.Task[None]] = set()
        self._coming = 0
        """Windows that a page has asked for and that have not opened yet."""
        self._tab_came = asyncio.Event()
        context.on("page", self._on_page)
        context.on("dialog", self._on_dialog)
        context.on("console", lambda message: self.log.error(message.text) if message.type == "error" else None)
        context.on("weberror", lambda error: self.log.error(str(error.error)))

    @property
    def page(self) -> Page:
        return self.active.page

    async def open_tab(self) -> None:
        self.expect()
        if self.frames is None:
            await self.context.new_page()
        else:
            await self.frames.open_page(self.context)
        await self._await_tabs()
        if not self.tabs:
            raise BrowserError("a new tab closed before it could be used", Failure.TAB_CRASHED)

    @asynccontextmanager
    async def drawing(self) -> AsyncIterator[None]:
        """Draw the active tab while the block runs, so that it takes input and becomes ready."""
        if self.frames is None or self._drawing:
            yield
            return
        self._drawing = True
        try:
            async with self.frames.continuous(lambda: self.active.cdp if self.tabs else None):
                yield
        finally:
            self._drawing = False

    def forbidden(self, url: str) -> Refused | None:
        """Return why the agent may not open a URL, or None; only a browser without our proxy is checked here."""
        if self.config.cdp_url:
            try:
                self.guard.check(urlsplit(url).hostname or "")
            except Refused as refused:
                return refused
        return None

    async def catch_up(self) -> None:
        """Wait for tabs that are opening, and open one where none is left."""
        await self._await_tabs()
        if not self.tabs:  # the last page closed itself
            await self.open_tab()

    def expect(self) -> None:
        """Let `catch_up` wait for one more window, which was asked for and does not exist yet."""
        self._coming += 1

    def remove(self, tab: Tab) -> None:
        """Forget a tab that was closed; the one before it becomes active."""
        if tab in self.tabs:
            index = self.tabs.index(tab)
            self.tabs.remove(tab)
            if tab is self.active and self.tabs:
                self.active = self.tabs[max(0, index - 1)]

    async def _await_tabs(self) -> None:
        try:
            async with asyncio.timeout(self.config.ready_cap_s):
                while self._coming:
                    self._tab_came.clear()
                    await self._tab_came.wait()
        except TimeoutError:  # blocked, a download, or a slow server: the window may still open later
            self._coming = 0
        if self._adopting:
            await asyncio.gather(*self._adopting)

    def _on_page(self, page: Page) -> None:
        self._coming = max(0, self._coming - 1)
        self._tab_came.set()
        task = asyncio.create_task(self._adopt(page))
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)

    async def _adopt(self, page: Page) -> None:
        tab = Tab(page, self)
        try:
            await tab.attach()
        except PlaywrightError:
            return  # a window that closed at once never was a tab
        if not page.is_closed():
            self.tabs.append(tab)
            self.active = tab

    async def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            said = f' with "{clip(dialog.default_value, 80)}"' if dialog.type == "prompt" else ""
            self.notes.append(f'{dialog.type} "{clip(dialog.message, 80)}" was accepted{said}')
        await dialog.accept(dialog.default_value)
