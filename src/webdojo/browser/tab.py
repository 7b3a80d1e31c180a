"""The tabs of a session: their pages, their DevTools channels, and their state as navigation events report it.

Chromium reports a navigation that a click began before it acknowledges the click, so `navigating` is already true
when the input returns; nothing needs to sleep. One tab is active at any time. A tab that a page opens becomes it,
unless that page was left for another one.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image
from playwright.async_api import BrowserContext, CDPSession, Dialog, Download, FileChooser, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.begin_frame import BeginFrames
from webdojo.browser.config import BrowserConfig
from webdojo.browser.diagnostics import SessionLog
from webdojo.browser.feedback import clip
from webdojo.browser.network.address import host_of, place_of
from webdojo.browser.network.guard import Guard, Refused
from webdojo.browser.page.scripts import script
from webdojo.browser.page.world import OVERTAKEN, WORLD, World, until_read
from webdojo.errors import BrowserError, Failure

T = TypeVar("T")

_TITLE_JS, _TOLD_JS, _POINTER_JS = (script(f"{name}.js") for name in ("title", "told", "pointer"))
_JPEG_QUALITY = 85
_TITLE_S = 0.5
"""How long the title of a tab in the background is waited for; then the last known one stands."""
_RESPONSE_S = 1.0
_PICTURE_S = 3.0
"""How long a page that is still loading may keep a picture of it waiting, for a style sheet that does not come."""
_NO_UPLOADS = "the page asks for a file: uploads are not possible"
_MOST_DIALOGS = 10
"""Accepted during one call; a page may ask until the answer is no."""
MOST_TABS = 20
"""Open at once; a window that a page opens beyond them is closed."""


class Tab:
    """A page with its state; it follows the page from `attach` on."""

    def __init__(self, page: Page, tabs: Tabs) -> None:
        self.page = page
        self.cdp: CDPSession
        self.world: World
        """Of the document that it shows."""
        self.navigating = False
        self.document = 0
        """Number of documents that were committed so far."""
        self.crashed = False
        self.status = 0
        """HTTP status of the document; 0 before the first one."""
        self.failed_url = ""
        """The address that did not load, where the tab shows Chromium's error page."""
        self.title = ""
        """As it was read last."""
        self._undrawn = -1
        """The last document of which there was no picture."""
        self.stuck = False
        """Whether its page did not respond when it was asked last."""
        self.chooser: FileChooser | None = None
        """What gives its page the file that it asks for."""
        self._choosing = False
        """Whether the page has asked for a file, and the chooser has not come yet."""
        self._told_no_uploads = False
        """Whether it was told that the page gets no file, and the chooser has not come yet."""
        self._asking: asyncio.Future[str] | None = None
        self._tabs = tabs
        self.main_frame = ""
        """The id of the frame that shows the page; empty before the first document."""
        self._requests: dict[Request, float] = {}
        self._moved = asyncio.Event()

    async def attach(self) -> None:
        page = self.page
        self.cdp = await page.context.new_cdp_session(page)
        self.cdp.on("Page.frameRequestedNavigation", self._on_requested)
        self.cdp.on("Page.frameStartedNavigating", self._on_started)
        self.cdp.on("Page.frameNavigated", self._on_navigated)
        self.cdp.on("Page.navigatedWithinDocument", self._on_still)
        self.cdp.on("Page.frameStoppedLoading", self._on_still)
        self.cdp.on("Page.windowOpen", lambda _: self._tabs.expect())
        self.cdp.on("Page.fileChooserOpened", self._on_asked)
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfinished", self._on_answer)
        page.on("requestfailed", self._on_failed)
        page.on("download", self._on_download)
        page.on("filechooser", self._on_chooser)
        page.on("crash", self._on_crash)
        page.on("close", self._on_close)
        self.cdp.on("Runtime.bindingCalled", self._on_told)
        commands: list[tuple[str, dict[str, Any]]] = [
            ("Page.enable", {}),
            ("Page.setInterceptFileChooserDialog", {"enabled": True}),
            ("Runtime.enable", {}),  # else no document has the binding
            ("Runtime.addBinding", {"name": "webdojoTold", "executionContextName": WORLD}),
            *(
                ("Page.addScriptToEvaluateOnNewDocument", {"source": each, "worldName": WORLD, "runImmediately": True})
                for each in (_TOLD_JS, _POINTER_JS)
            ),
            ("Page.getFrameTree", {}),
        ]
        *_, tree = await asyncio.gather(*(self.cdp.send(name, given) for name, given in commands))
        frame = tree["frameTree"]["frame"]
        self._shows(frame)

    @property
    def url(self) -> str:
        """The address of the page; on an error page the address that failed, not Chromium's own."""
        return self.failed_url or self.page.url

    async def read_title(self) -> str:
        """The title, or the last known one where the page is too busy to tell it."""
        if self._asking is None:
            self._asking = asyncio.ensure_future(self.world.call(_TITLE_JS))
            self._asking.add_done_callback(lambda asked: asked.cancelled() or asked.exception())  # it may come too late
        await asyncio.wait({self._asking}, timeout=_TITLE_S)
        if self._asking.done():
            asked, self._asking = self._asking, None
            if asked.exception() is None:
                self.title = str(asked.result())
        return self.title

    async def responds(self) -> bool:
        """Ask whether the page responds, for a second at most."""
        try:
            async with asyncio.timeout(_RESPONSE_S):
                await self.world.call("() => {}")
            self.stuck = False
        except TimeoutError:
            self.stuck = True
        except PlaywrightError:  # another page has come, or none is left
            self.stuck = False
        return not self.stuck

    async def navigated(self) -> None:
        while self.navigating:
            self._moved.clear()
            await self._moved.wait()

    async def until_read(self, read: Callable[[], Awaitable[T]], patience_s: float | None = None) -> T:
        """Return what `read` returns about the page; call it again each time that another document has come meanwhile.

        A page that goes on and on for `patience_s`, or else `ready_cap_s`, has to stay.
        """
        patient_until = time.monotonic() + (self._tabs.config.ready_cap_s if patience_s is None else patience_s)

        async def overtaken() -> None:
            nonlocal patient_until
            if time.monotonic() >= patient_until:
                await staying.enter_async_context(self.staying())
                patient_until = math.inf
            await self.navigated()

        async with AsyncExitStack() as staying:
            return await until_read(read, overtaken)

    @asynccontextmanager
    async def staying(self) -> AsyncIterator[None]:
        """Let the page go to no other while the block runs; one whose answer has come already may still follow."""

        def answer(event: dict[str, Any]) -> None:
            name, given = "Fetch.continueRequest", {"requestId": event["requestId"]}
            if self.is_main(event):
                name, given["errorReason"] = "Fetch.failRequest", "Aborted"  # which shows no error page
            answers.append(asyncio.create_task(self._send(name, given)))

        answers: list[asyncio.Task[None]] = []
        self.cdp.on("Fetch.requestPaused", answer)
        try:
            await self.cdp.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})
            yield
        finally:
            self.cdp.remove_listener("Fetch.requestPaused", answer)
            await asyncio.gather(self._send("Fetch.disable"), *answers)

    async def _send(self, name: str, given: dict[str, Any] | None = None) -> None:
        """Send a command whose failure tells nothing: the tab, or what the command is about, is gone."""
        with suppress(PlaywrightError):
            await self.cdp.send(name, given)

    async def asked(self) -> None:
        """Wait for what gives the page the file that it has just asked for."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_RESPONSE_S):
                while self._choosing:
                    self._moved.clear()
                    await self._moved.wait()
        if self._choosing:
            self._choosing = False
            self._tabs.note(_NO_UPLOADS)

    @property
    def offer(self) -> str:
        """What to do about the file that the page asks for; empty where it asks for none."""
        if self.chooser is None:
            return ""
        several = ", or several, a line each" if self.chooser.is_multiple() else ""
        return f"write the name of one{several}: {', '.join(self._tabs.files)}"

    async def requests_done(self, deadline: float) -> bool:
        """Wait for pending requests, for data, scripts of the page's host, or the next document of a frame.

        Returns:
            Whether there were any.

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
                async with asyncio.timeout(left):
                    await self._moved.wait()
        return waited

    async def screenshot(self, loading: bool = False) -> bytes:
        """Take a picture of the page; stop its loading first if that is what keeps the page from being drawn.

        A page of which nothing has come is white.
        """
        undrawn = self._undrawn == self.document
        loading = loading or undrawn
        for _ in range(2 if loading and not undrawn else 1):
            try:
                async with asyncio.timeout(_PICTURE_S if loading else None):
                    return await self.world.while_there(self._picture())
            except TimeoutError:
                if not loading:
                    raise
            await self.cdp.send("Page.stopLoading")
        self._undrawn = self.document
        white = io.BytesIO()
        Image.new("RGB", self._tabs.viewport_px, "white").save(white, self._tabs.config.screenshot_format)
        return white.getvalue()

    async def _picture(self) -> bytes:
        options: dict[str, Any] = {"format": self._tabs.config.screenshot_format, "optimizeForSpeed": True}
        if self._tabs.config.screenshot_format == "jpeg":
            options["quality"] = _JPEG_QUALITY
        if self._tabs.frames is not None:
            return base64.b64decode(await self._tabs.frames.screenshot(self.cdp, options))
        data = base64.b64decode((await self.cdp.send("Page.captureScreenshot", options))["data"])
        if Image.open(io.BytesIO(data)).size == self._tabs.viewport_px:
            return data
        width, height = self._tabs.viewport_px
        window = await self.cdp.send("Browser.getWindowForTarget")  # in full screen, and of another size
        bounds = {"windowId": window["windowId"], "bounds": {"width": width, "height": height}}
        with suppress(PlaywrightError):  # some windows have no size to set
            await self.cdp.send("Browser.setWindowBounds", bounds)
        return base64.b64decode((await self.cdp.send("Page.captureScreenshot", options))["data"])

    def is_main(self, event: dict[str, Any]) -> bool:
        return bool(event["frameId"] == self.main_frame)

    def _on_requested(self, event: dict[str, Any]) -> None:
        if self.is_main(event) and event["disposition"] == "currentTab" and event["url"].startswith("http"):
            self.navigating = True

    def _on_started(self, event: dict[str, Any]) -> None:
        if self.is_main(event):
            self.navigating = True

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if "parentId" in frame:
            return
        self._end_world(OVERTAKEN)
        self._shows(frame)
        if self.failed_url:
            self.status = 0
        self._requests.clear()
        self.chooser = None
        self.document += 1
        self.stuck = False
        self._stop()

    def _shows(self, frame: dict[str, Any]) -> None:
        """Note the main frame with its document."""
        self.main_frame = frame["id"]
        self.failed_url = frame.get("unreachableUrl", "")
        self.world = World(self.cdp, frame["id"])

    def _end_world(self, reason: str) -> None:
        if self.main_frame:  # else it has shown nothing yet
            self.world.end(reason)

    def _on_still(self, event: dict[str, Any]) -> None:
        if self.is_main(event):
            self._stop()

    def _stop(self) -> None:
        self.navigating = False
        self._moved.set()

    def _on_told(self, event: dict[str, Any]) -> None:
        """Take what `clipboard.js` tells; the page may have written it, so it is only ever pasted there."""
        kind, text = json.loads(event["payload"])
        if kind == "paste":
            self._tabs.pasting = True
        else:
            self._tabs.copied = text

    def _on_request(self, request: Request) -> None:
        self._tabs.log.requests["sent"] += 1
        if request.resource_type in ("fetch", "xhr") or self._is_own_script(request) or self._leaves_frame(request):
            self._requests[request] = time.monotonic()

    def _is_own_script(self, request: Request) -> bool:
        """Whether it is a script of the page's own host, such as a module that comes when it is needed."""
        return request.resource_type == "script" and place_of(request.url) == place_of(self.page.url)

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

    def _on_download(self, download: Download) -> None:
        self._tabs.note(f'download of "{download.suggested_filename[:60]}" refused')
        self._tabs.downloaded = True

    def _on_asked(self, event: dict[str, Any]) -> None:
        """Expect the chooser, for which Playwright asks the page first; a frame of another process has it only."""
        chooser_follows = "backendNodeId" in event
        self._choosing = chooser_follows and bool(self._tabs.files)
        self._told_no_uploads = chooser_follows and not self._choosing
        if not self._choosing:
            self._tabs.note(_NO_UPLOADS)

    def _on_chooser(self, chooser: FileChooser) -> None:
        self._choosing = False
        self._moved.set()
        if self._tabs.files:
            self.chooser = chooser
        elif not self._told_no_uploads:
            self._tabs.note(_NO_UPLOADS)
        self._told_no_uploads = False

    def _on_crash(self, page: Page) -> None:
        self.crashed = True
        self._end_world("Target crashed")
        self._stop()

    def _on_close(self, page: Page) -> None:
        self._end_world("the page was closed")
        self._stop()
        self._tabs.remove(self)


class Tabs:
    """The tabs of a context, and what their pages ask for.

    Args:
        frames: draws them, if they are drawn on demand.
        files: may be uploaded, by their names.
    """

    def __init__(
        self,
        context: BrowserContext,
        config: BrowserConfig,
        guard: Guard,
        frames: BeginFrames | None,
        files: Mapping[str, Path],
    ) -> None:
        self.config = config
        self.guard = guard
        self.frames = frames
        self.files = files
        self.viewport_px = config.viewport_px
        self.tabs: list[Tab] = []
        self.active: Tab
        self._front: set[Page] = set()
        """The page that was chosen last, and what it has opened since, with what that has opened: windows of these come
        to the front."""
        self.copied = ""
        """The text that was copied last."""
        self.pasting = False
        """Whether keys have asked to paste, and it has not been done yet."""
        self.log = SessionLog()
        self.notes: list[str] = []
        """What the next feedback should say besides the effect of the call."""
        self.downloaded = False
        """Whether a download was refused since the tabs were looked at last."""
        self._dialogs = 0
        """Dialogs since the last feedback."""
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
                self.guard.check(host_of(url))
            except Refused as refused:
                return refused
        return None

    def note(self, text: str) -> None:
        """Let the next feedback say something, once."""
        if text not in self.notes:
            self.notes.append(text)

    def take_notes(self) -> list[str]:
        """Return what the next feedback should say, and begin anew."""
        notes, self.notes, self._dialogs = self.notes, [], 0
        return notes

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
            self._front.discard(tab.page)
            if tab is self.active and self.tabs:
                self.active = self.tabs[max(0, index - 1)]
                self._front.add(self.page)

    def choose(self, tab: Tab) -> None:
        """Make a tab the active one; windows that pages behind it open stay behind it."""
        self.active, self._front = tab, {tab.page}

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
        if self.downloaded:
            self.downloaded = False
            for tab in [tab for tab in self.tabs if not tab.page.url]:  # opened for the download alone
                with suppress(PlaywrightError):
                    await tab.page.close()

    def _on_page(self, page: Page) -> None:
        self._coming = max(0, self._coming - 1)
        self._tab_came.set()
        full = len(self.tabs) + len(self._adopting) >= MOST_TABS
        task = asyncio.create_task(self._refuse(page) if full else self._adopt(page))
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)

    async def _refuse(self, page: Page) -> None:
        self.note(f"a further tab was closed: {MOST_TABS} are open")
        with suppress(PlaywrightError):
            await page.close()

    async def _adopt(self, page: Page) -> None:
        tab = Tab(page, self)
        width, height = self.viewport_px
        try:
            await tab.attach()
            if page.viewport_size != {"width": width, "height": height}:  # the page that opened it gave it another one
                await page.set_viewport_size({"width": width, "height": height})
            opener = await page.opener()
        except PlaywrightError:
            return  # a window that closed at once never was a tab
        if not page.is_closed():
            self.tabs.append(tab)
            if opener is None or opener in self._front:
                self._front.add(page)
                self.active = tab

    async def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            shown = f'{dialog.type} "{clip(dialog.message, 80)}"'
            said = f' with "{clip(dialog.default_value, 80)}"' if dialog.type == "prompt" else ""
            self._dialogs += 1
            if self._dialogs > _MOST_DIALOGS:
                self.note(f"{shown} came again and again, and was dismissed in the end")
                with suppress(PlaywrightError):  # its page was closed meanwhile
                    await dialog.dismiss()
                return
            self.note(f"{shown} was accepted{said}")
        with suppress(PlaywrightError):
            await dialog.accept(dialog.default_value)
