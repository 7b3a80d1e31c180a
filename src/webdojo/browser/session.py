"""One isolated browser context: look at it, act in it, close it.

`observe()` returns what the agent sees, `act()` executes calls and says what they did. Whatever the web or the
agent does wrong becomes feedback. Only the loss of the session itself is an error; it has a name
(`errors.Failure`) and a record of what led to it (`diagnostics.py`). Exactly one tab is active at any time, and a
tab that a page opens becomes the active one. A screenshot is in its sink before an observation names it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Container, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.actions import ACTIONS, point_px, probe_point
from webdojo.browser.begin_frame import BeginFrames
from webdojo.browser.clipboard import Clipboard
from webdojo.browser.config import BrowserConfig
from webdojo.browser.diagnostics import SessionLog
from webdojo.browser.feedback import clip, describe, failed
from webdojo.browser.interface import ActResult
from webdojo.browser.network.guard import Guard, Refused
from webdojo.browser.page.blocked import blocked_by
from webdojo.browser.page.elements import Elements
from webdojo.browser.page.probe import PAGE_JS, PROBE_JS, PageState, read_state
from webdojo.browser.page.ready import is_overtaken, settle
from webdojo.browser.page.snapshot import ElementRef, Snapshot, snapshot
from webdojo.browser.page.views import numbered, render
from webdojo.browser.tab import Tab
from webdojo.browser.tools import ToolFailed, check_call
from webdojo.errors import BrowserError, Failure
from webdojo.types import Feedback, ImageSink, Observation, ToolCall, View
from webdojo.types import Tab as TabInfo

_NOTES_SHOWN = 3

_CRASH_EVENT_S = 0.3
"""The event that a tab has crashed may arrive after the first error that the crash caused."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


class ParentBrowser(Protocol):
    """The part of a browser that its sessions use."""

    @property
    def alive(self) -> bool: ...

    def record(self) -> dict[str, Any]:
        """Return the browser's part of the diagnostics."""
        ...

    def retire(self) -> None:
        """Let the browser take no more sessions."""
        ...


class BrowserSession:
    """An open context; `BrowserPool.open` makes one."""

    def __init__(
        self,
        context: BrowserContext,
        config: BrowserConfig,
        images: ImageSink,
        guard: Guard,
        browser: ParentBrowser,
        frames: BeginFrames | None = None,
    ) -> None:
        self.viewport_px = config.viewport_px
        self.tabs: list[Tab] = []
        self.active: Tab
        self.clipboard = Clipboard()
        self.elements = Elements.none(config.viewport_px)
        """The numbered controls of the last view."""
        self.log = SessionLog()
        self.on_closed: Callable[[], None] = lambda: None
        """Called once, when the session has been closed."""
        self._context = context
        self._config = config
        self._images = images
        self._guard = guard
        self._browser = browser
        self._frames = frames
        self._drawing = False
        self._adopting: set[asyncio.Task[None]] = set()
        self._coming = 0
        """Windows that a page has asked for and that have not opened yet."""
        self._tab_came = asyncio.Event()
        self._notes: list[str] = []
        self._ready_s = 0.0
        """Seconds spent in `settle` so far."""
        self._expired = False
        self._closing: asyncio.Task[None] | None = None
        context.on("page", self._on_page)
        context.on("dialog", self._on_dialog)
        context.on("weberror", lambda error: self.log.error(str(error.error)))

    @property
    def page(self) -> Page:
        """Playwright's page of the active tab."""
        return self.active.page

    @property
    def usable(self) -> bool:
        """Whether the session is open and its tab and its browser are alive."""
        return self._closing is None and self._browser.alive and bool(self.tabs) and not self.active.crashed

    async def send_headers(self, headers: dict[str, str]) -> None:
        """Send these headers with every request from now on."""
        await self._context.set_extra_http_headers(headers)

    async def observe(self, view: View | None = None) -> Observation:
        """See `interface.Session.observe`."""
        with self.log.timed("observe"):
            image, fields = await self._in_time(self._look(view), "screenshot")
            # Storing hashes and may write to a slow disk: in a thread, it holds up no other session.
            shot = await asyncio.to_thread(
                self._images.put, image, *self.viewport_px, f"image/{self._config.screenshot_format}"
            )
            return Observation(screenshot=shot, **fields)

    async def snapshot(self) -> Snapshot:
        """See `interface.Session.snapshot`."""

        async def read() -> Snapshot:
            await self.settle()
            page, elements = await snapshot(self.page, self.viewport_px)
            await self._number(page, elements, numbered(page).values())
            return page

        with self.log.timed("snapshot"):
            return await self._in_time(read(), "description")

    async def act(self, calls: Sequence[ToolCall]) -> ActResult:
        """See `interface.Session.act`."""
        result, ready_s = ActResult(), self._ready_s
        for call in calls:
            try:
                with self.log.timed(call.name):
                    async with asyncio.timeout(self._config.action_timeout_s):
                        feedback = await self._run(call)
            except TimeoutError as error:
                if (lost := self.lost(error)) is not None:
                    raise lost from None
                result.feedback.append(failed(call, f"timed out after {self._config.action_timeout_s:g} s"))
                break
            result.feedback.append(feedback)
            if call.name == "done" and feedback.ok:
                result.answer = call.arguments["answer"]
                break
        result.seconds["ready"] = self._ready_s - ready_s
        return result

    async def close(self) -> None:
        """See `interface.Session.close`."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        # A caller that is cancelled while it waits leaves no half-closed session behind.
        await asyncio.shield(self._closing)

    async def expire(self) -> None:
        """Close the session because it ran past `session_timeout_s`; later calls fail with that reason."""
        self._expired = True
        await self.close()

    async def open_tab(self) -> None:
        """Open a blank tab and make it the active one.

        Raises:
            BrowserError: the new tab is gone already, and there is no other tab.
        """
        self._coming += 1
        if self._frames is None:
            await self._context.new_page()
        else:
            await self._frames.open_page(self._context)
        await self._await_tabs()
        if not self.tabs:
            raise BrowserError("a new tab closed before it could be used", Failure.TAB_CRASHED)

    async def focus_tab(self, tab: Tab) -> None:
        """Make a tab the active one."""
        self.active = tab
        await tab.page.bring_to_front()

    @asynccontextmanager
    async def drawing(self) -> AsyncIterator[None]:
        """Draw the active tab while the block runs, so that it takes input and becomes ready."""
        if self._frames is None or self._drawing:
            yield
            return
        self._drawing = True
        try:
            async with self._frames.continuous(lambda: self.active.cdp if self.tabs else None):
                yield
        finally:
            self._drawing = False

    def refusal(self, url: str) -> str | None:
        """Return why the guard refused the host of a URL, or None."""
        return self._guard.refusal(url)

    def forbidden(self, url: str) -> str | None:
        """Return why the agent may not open a URL, or None; only a browser without our proxy is checked here."""
        if self._config.cdp_url:
            try:
                self._guard.check(urlsplit(url).hostname or "")
            except Refused as refused:
                return str(refused)
        return None

    async def settle(self, point: tuple[int, int] | None = None) -> PageState:
        """Wait until the active tab is ready (`page/ready.py`), and read its state.

        Args:
            point: the CSS pixel whose element the state describes.
        """
        began = time.monotonic()
        try:
            return await self._settle(point)
        finally:
            self._ready_s += time.monotonic() - began

    async def _settle(self, point: tuple[int, int] | None) -> PageState:
        async with self.drawing():
            while True:
                await self._catch_up()
                tab = self.active
                try:
                    raw = await settle(tab, self._config, point)
                except PlaywrightError:
                    if not tab.page.is_closed():
                        raise
                    continue
                await self._catch_up()
                if tab is self.active:
                    return self._state(raw)

    async def _run(self, call: ToolCall) -> Feedback:
        reason = check_call(call)
        if reason is not None:
            return Feedback(ok=False, text=f"invalid call: {reason}")
        if call.name == "done":  # it touches nothing, so there is nothing to compare
            here = PageState(url=self.active.url)
            return describe(call, here, here)
        self._notes.clear()
        if "element" in call.arguments:
            try:
                call = await self._pointed(call)
            except ToolFailed as error:
                return failed(call, str(error))
        point = probe_point(call.name, call.arguments)
        at_px = point_px(*point, self.viewport_px) if point else None
        try:
            before = await self._probe(at_px)
            async with self.drawing():
                note = await self._execute(call, before)
                after = await self.settle(at_px)
        except ToolFailed as error:
            return failed(call, str(error))
        except PlaywrightError as error:
            if (lost := self.lost(error)) is not None:
                raise lost from error
            return failed(call, first_line(error))
        notes = [note] if note is not None else []
        if after.document != before.document:
            if (reason := self.refusal(self.active.url)) is not None:
                notes = [f"refused: {reason}"]
            elif self.active.failed_url:
                notes.append("it did not load")
        return describe(call, before, after, (notes + self._notes)[:_NOTES_SHOWN])

    async def _number(self, page: Snapshot, elements: Sequence[ElementRef], shown: Container[int]) -> None:
        """Let later calls name the controls that are shown."""
        before, self.elements = self.elements, Elements(page, elements, shown)
        await before.forget()

    async def _pointed(self, call: ToolCall) -> ToolCall:
        """Bring the element that a call names into view, and return the call with its point instead of its number."""
        arguments = dict(call.arguments)
        x, y = await self.elements.point(arguments.pop("element"), self.page)
        return ToolCall(name=call.name, arguments={"x": x, "y": y, **arguments})

    async def _execute(self, call: ToolCall, before: PageState) -> str | None:
        tab = self.active
        try:
            return await ACTIONS[call.name](self, call.arguments, before)
        except PlaywrightError:
            if not tab.page.is_closed():
                raise
            return None  # the page answered the input by closing itself

    async def _probe(self, at_px: tuple[int, int] | None) -> PageState:
        while True:
            await self._catch_up()
            tab = self.active
            try:
                raw = await tab.page.evaluate(PROBE_JS, at_px)
            except PlaywrightError as error:
                if tab.page.is_closed():
                    continue
                if not is_overtaken(error):
                    raise
                await tab.navigated()
                continue
            if tab is self.active and tab in self.tabs:  # it may have closed while it was read
                return self._state(raw)

    def _state(self, raw: dict[str, object]) -> PageState:
        tab = self.active
        return read_state(raw, url=tab.url, tab=self.tabs.index(tab), tabs=len(self.tabs), document=tab.document)

    async def _look(self, view: View | None) -> tuple[bytes, dict[str, Any]]:
        """Return the encoded screenshot and the other fields of an observation."""
        await self._catch_up()
        if self.active.navigating:
            await self.settle()
        while True:
            tab, document, tabs = self.active, self.active.document, list(self.tabs)
            try:
                titles = (other.page.title() for other in tabs if other is not tab)
                state, *others = await asyncio.gather(tab.page.evaluate(PAGE_JS), *titles)
                # A picture of a tab that has crashed ends all of Chromium; one that just answered has not.
                data = await tab.screenshot()
                read = None if view is None else await snapshot(tab.page, self.viewport_px)
            except PlaywrightError as error:
                if not is_overtaken(error) and not any(other.page.is_closed() for other in tabs):
                    raise
                await self.settle()
                continue
            if tab is self.active and document == tab.document and tabs == self.tabs:
                break
            await self._catch_up()
        others.insert(tabs.index(tab), state["title"])
        text = ""
        if view is not None and read is not None:
            rendered = await asyncio.to_thread(render, view, read[0], data)
            data, text = rendered.image, rendered.text
            await self._number(*read, rendered.shown)
        return data, {
            "text": text,
            "url": tab.url,
            "title": state["title"],
            "tabs": [
                TabInfo(index=index, url=other.url, title=title, active=other is tab)
                for index, (other, title) in enumerate(zip(tabs, others, strict=True))
            ],
            "viewport_px": self.viewport_px,
            "scroll_px": (round(state["scroll"][0]), round(state["scroll"][1])),
            "page_px": (state["page"][0], state["page"][1]),
            "blocked": blocked_by(tab.status, state["marks"]),
        }

    async def _catch_up(self) -> None:
        """Wait for tabs that are opening, and open one where none is left."""
        await self._await_tabs()
        if not self.tabs:  # the last page closed itself
            await self.open_tab()

    async def _await_tabs(self) -> None:
        try:
            async with asyncio.timeout(self._config.ready_cap_s):
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
        page.on("close", self._on_close)
        tab = Tab(page, self._config, self.log, self._on_popup, self._notes.append, self._frames)
        try:
            await tab.attach()
        except PlaywrightError:
            return  # a window that closed at once never was a tab
        if not page.is_closed():
            self.tabs.append(tab)
            self.active = tab

    def _on_popup(self) -> None:
        self._coming += 1

    def _on_close(self, page: Page) -> None:
        for index, tab in enumerate(self.tabs):
            if tab.page is page:
                self.tabs.remove(tab)
                if tab is self.active and self.tabs:
                    self.active = self.tabs[max(0, index - 1)]
                return

    async def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type != "beforeunload":
            said = f' with "{clip(dialog.default_value, 80)}"' if dialog.type == "prompt" else ""
            self._notes.append(f'{dialog.type} "{clip(dialog.message, 80)}" was accepted{said}')
        await dialog.accept(dialog.default_value)

    async def _in_time(self, reading: Coroutine[Any, Any, T], what: str) -> T:
        """Await a reading of the tab within `screenshot_timeout_s`, and turn its failure into a BrowserError."""
        limit = self._config.screenshot_timeout_s
        try:
            async with asyncio.timeout(limit):
                return await reading
        except TimeoutError as error:
            raise self.lost(error) or self._error(
                Failure.SCREENSHOT_TIMEOUT,
                f"no {what} of {self.active.url} within {limit:g} s (browser.screenshot_timeout_s)",
                error,
            ) from None
        except PlaywrightError as error:
            if self.lost(error) is None:
                await asyncio.sleep(_CRASH_EVENT_S)
            raise self.lost(error) or self._error(
                Failure.BROWSER_DIED, f"browser lost at {self.active.url}: {first_line(error)}", error
            ) from error

    def lost(self, error: Exception) -> BrowserError | None:
        """Return why the session cannot go on after an error, or None where it can."""
        reason = first_line(error) if isinstance(error, PlaywrightError) else "no answer"
        if self._expired:
            limit = f"{self._config.session_timeout_s:g} s (browser.session_timeout_s)"
            return self._error(Failure.SESSION_TIMEOUT, f"the session ran past its limit of {limit}", error)
        if self._closing is not None:
            return self._error(Failure.BROWSER_DIED, "the session is closed", error)
        if not self._browser.alive:
            return self._error(Failure.BROWSER_DIED, f"the browser died: {reason}", error)
        if self.active.crashed or "Target crashed" in reason:
            return self._error(Failure.TAB_CRASHED, f"the tab crashed at {self.active.url}", error)
        return None

    def _error(self, failure: Failure, message: str, cause: BaseException) -> BrowserError:
        return BrowserError(message, failure, self.diagnostics(cause))

    def diagnostics(self, cause: BaseException | None = None) -> dict[str, Any]:
        """Return `SessionLog.record` together with the `url` of the active tab and the `browser`'s own record."""
        url = self.active.url if self.tabs else ""
        return {"url": url, **self.log.record(cause), "browser": self._browser.record()}

    async def _close(self) -> None:
        for task in self._adopting:
            task.cancel()
        try:
            with self.log.timed("close"):
                async with asyncio.timeout(self._config.exit_timeout_s):
                    await self._context.close()
        except TimeoutError:
            # Its pages may still be running: no new session should share that browser.
            logger.warning("a session did not close within %g s (browser.exit_timeout_s)", self._config.exit_timeout_s)
            self._browser.retire()
        except PlaywrightError:
            pass  # the browser is gone
        finally:
            self.on_closed()


def first_line(error: PlaywrightError) -> str:
    """Return the first line of Playwright's message, without its prefix."""
    line = error.message.splitlines()[0]
    head, colon, rest = line.partition(": ")
    return rest if colon and "." in head and " " not in head else line
