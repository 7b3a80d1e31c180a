"""One tab: its page, its DevTools channel, and its state as the navigation events report it.

Chromium reports a navigation that a click began before it acknowledges the click, so `navigating` is already true
when the input returns; nothing needs to guess or to sleep.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable
from typing import Any

from playwright.async_api import CDPSession, ConsoleMessage, Download, Page, Request, Response

from webdojo.browser.begin_frame import BeginFrames
from webdojo.browser.config import BrowserConfig
from webdojo.browser.diagnostics import SessionLog

_DATA = ("fetch", "xhr")


class Tab:
    """A page with its state; it follows the page from `attach` on.

    Args:
        log: counts the requests and keeps script errors.
        on_popup: called when the page asks for a new window, before that window exists.
        note: receives what the next feedback should say besides the effect of the call.
        frames: draws the page, if pages are drawn on demand.
    """

    def __init__(
        self,
        page: Page,
        config: BrowserConfig,
        log: SessionLog,
        on_popup: Callable[[], None],
        note: Callable[[str], None],
        frames: BeginFrames | None,
    ) -> None:
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
        self._config = config
        self._log = log
        self._popup = on_popup
        self._note = note
        self._frames = frames
        self._main_frame = ""
        self._requests: dict[Request, float] = {}
        self._moved = asyncio.Event()

    async def attach(self) -> None:
        """Open the DevTools channel, and follow the page from now on.

        Raises:
            PlaywrightError: the page is gone.
        """
        page = self.page
        self.cdp = await page.context.new_cdp_session(page)
        self.cdp.on("Page.frameRequestedNavigation", self._on_requested)
        self.cdp.on("Page.frameStartedNavigating", self._on_started)
        self.cdp.on("Page.frameNavigated", self._on_navigated)
        self.cdp.on("Page.navigatedWithinDocument", self._on_still)
        self.cdp.on("Page.frameStoppedLoading", self._on_still)
        self.cdp.on("Page.windowOpen", self._on_popup)
        self.cdp.on("Page.fileChooserOpened", self._on_file_chooser)
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfinished", self._on_answer)
        page.on("requestfailed", self._on_failed)
        page.on("console", self._on_console)
        page.on("download", self._on_download)
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
        """Wait until no navigation of the main frame is under way."""
        while self.navigating:
            self._moved.clear()
            await self._moved.wait()

    async def requests_done(self, deadline: float) -> bool:
        """Wait for pending requests: for data, or for the next document of a frame.

        A request older than half the readiness cap is a long poll or a dead third party and is not waited for.

        Args:
            deadline: in `time.monotonic()` seconds.

        Returns:
            Whether there was anything to wait for.
        """
        waited = False
        while True:
            patience = self._config.ready_cap_s / 2
            until = max((began + patience for began in self._requests.values()), default=0.0)
            left = min(until, deadline) - time.monotonic()
            if left <= 0:
                return waited
            waited = True
            self._moved.clear()
            try:
                async with asyncio.timeout(left):
                    await self._moved.wait()
            except TimeoutError:
                return waited

    async def screenshot(self) -> bytes:
        """Return the viewport, encoded as the recipe says."""
        options: dict[str, Any] = {"format": self._config.screenshot_format, "optimizeForSpeed": True}
        if self._config.screenshot_format == "jpeg":
            options["quality"] = self._config.screenshot_quality
        if self._frames is not None:
            return base64.b64decode(await self._frames.screenshot(self.cdp, options))
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
        self.navigating = False
        self._moved.set()

    def _on_still(self, event: dict[str, Any]) -> None:
        if self._is_main(event):
            self.navigating = False
            self._moved.set()

    def _on_popup(self, event: dict[str, Any]) -> None:
        self._popup()

    def _on_request(self, request: Request) -> None:
        self._log.requests["sent"] += 1
        if request.resource_type in _DATA or self._leaves_frame(request):
            self._requests[request] = time.monotonic()

    def _leaves_frame(self, request: Request) -> bool:
        """Whether a frame inside the page leaves the document that it shows; its first document is part of loading."""
        if not request.is_navigation_request():
            return False
        frame = request.frame
        return frame != self.page.main_frame and frame.url not in ("", "about:blank")

    def _on_response(self, response: Response) -> None:
        self._log.requests[f"{response.status // 100}xx"] += 1
        request = response.request
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self.status = response.status

    def _on_answer(self, request: Request) -> None:
        if self._requests.pop(request, None) is not None:
            self._moved.set()

    def _on_failed(self, request: Request) -> None:
        self._log.requests["failed"] += 1
        self._on_answer(request)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._log.error(message.text)

    def _on_download(self, download: Download) -> None:
        self._note(f'download of "{download.suggested_filename[:60]}" refused')

    def _on_file_chooser(self, event: dict[str, Any]) -> None:
        self._note("the page asks for a file: uploads are not possible")

    def _on_crash(self, page: Page) -> None:
        self.crashed = True
        self._on_close(page)

    def _on_close(self, page: Page) -> None:
        self.navigating = False
        self._moved.set()
