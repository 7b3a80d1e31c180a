"""One isolated browser context: look at it, act in it, close it.

`observe()` gives what the agent sees, `act()` carries out calls and says what they did. Whatever
the web or the agent does wrong becomes feedback; only the loss of the session itself is an error,
with a name (`errors.Failure`) and a record of what led to it (`diagnostics.py`). At any time exactly
one tab is active, and a tab that a page opens becomes the active one.
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

from webdojo.browser.actions import ACTIONS, ToolFailed, point_px, probe_point
from webdojo.browser.begin_frame import Frames
from webdojo.browser.clipboard import Clipboard
from webdojo.browser.diagnostics import SessionLog
from webdojo.browser.feedback import describe, failed
from webdojo.browser.interface import ActResult
from webdojo.browser.network.guard import Guard, Refused
from webdojo.browser.page.blocked import blocked_by
from webdojo.browser.page.elements import Elements
from webdojo.browser.page.probe import PAGE_JS, PROBE_JS, PageState, read_state
from webdojo.browser.page.ready import is_overtaken, settle
from webdojo.browser.page.snapshot import Place, Snapshot, snapshot
from webdojo.browser.page.views import dress, numbered
from webdojo.browser.tab import Tab
from webdojo.browser.tools import check_call
from webdojo.config import BrowserConfig
from webdojo.errors import BrowserError, Failure
from webdojo.types import Feedback, ImageSink, Observation, ToolCall, View
from webdojo.types import Tab as TabInfo

_NOTES_SHOWN = 3

_NEWS_S = 0.3
"""The news that a tab has crashed may come after the first error that this caused."""

SeenT = TypeVar("SeenT")

logger = logging.getLogger(__name__)


class Host(Protocol):
    """What a session needs of the browser that it lives in."""

    @property
    def alive(self) -> bool: ...

    def record(self) -> dict[str, Any]:
        """The browser's part of the diagnostics."""
        ...

    def retire(self) -> None:
        """Take no more sessions."""
        ...


class BrowserSession:
    """An open context; `BrowserPool.open` makes one."""

    def __init__(
        self,
        context: BrowserContext,
        config: BrowserConfig,
        images: ImageSink,
        guard: Guard,
        host: Host,
        frames: Frames | None = None,
    ) -> None:
        self.viewport_px = config.viewport_px
        self.tabs: list[Tab] = []
        self.active: Tab
        self.clipboard = Clipboard()
        self.elements = Elements.none(config.viewport_px)
        """What numbers stand for: those of the last view."""
        self.log = SessionLog()
        self.on_closed: Callable[[], None] = lambda: None
        """Called once, when the session has been closed."""
        self._context = context
        self._config = config
        self._images = images
        self._guard = guard
        self._host = host
        self._frames = frames
        self._flowing = False
        self._adopting: set[asyncio.Task[None]] = set()
        self._coming = 0
        """Windows that were asked for and have not come yet."""
        self._tab_came = asyncio.Event()
        self._notes: list[str] = []
        self._ready_s = 0.0
        """Spent in `settle` so far."""
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
        """False once it was closed, or its tab or browser is gone."""
        return self._closing is None and self._host.alive and bool(self.tabs) and not self.active.crashed

    async def send_headers(self, headers: dict[str, str]) -> None:
        """Send these with every request from now on."""
        await self._context.set_extra_http_headers(headers)

    async def observe(self, view: View | None = None) -> Observation:
        """See the active tab as it is now.

        Args:
            view: numbers the page's controls and adds its text, or marks in the picture.

        Raises:
            BrowserError: the browser died, the tab crashed, or no picture came in time.
        """
        with self.log.timed("observe"):
            return await self._seen(self._observe(view), "screenshot")

    async def snapshot(self) -> Snapshot:
        """What the active tab says, for the text observations of `views.py`.

        Raises:
            BrowserError: the browser died, the tab crashed, or it did not answer in time.
        """

        async def settled() -> Snapshot:
            await self.settle()
            seen, places = await snapshot(self.page, self.viewport_px)
            await self._number(seen, places, numbered(seen).values())
            return seen

        with self.log.timed("snapshot"):
            return await self._seen(settled(), "description")

    async def act(self, calls: Sequence[ToolCall]) -> ActResult:
        """Carry out calls in order; `done` and a call that runs out of time end the turn.

        Raises:
            BrowserError: the browser died or the tab crashed.
        """
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
        """Close all tabs and forget cookies and storage. Closing twice is allowed."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        # Whoever is cancelled while waiting leaves no half-closed session behind.
        await asyncio.shield(self._closing)

    async def expire(self) -> None:
        """Close it because it ran past `session_timeout_s`; what is asked of it from now on fails with that reason."""
        self._expired = True
        await self.close()

    async def open_tab(self) -> None:
        """Open a blank tab and make it the active one.

        Raises:
            BrowserError: it is gone already, and there is no other tab.
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
        """While the block runs the active tab is drawn, so that it takes input and becomes ready."""
        if self._frames is None or self._flowing:
            yield
            return
        self._flowing = True
        try:
            async with self._frames.flowing(lambda: self.active.cdp if self.tabs else None):
                yield
        finally:
            self._flowing = False

    def refusal(self, url: str) -> str | None:
        """Why the guard refused the host of a URL, or None."""
        return self._guard.refusal(url)

    def forbidden(self, url: str) -> str | None:
        """Why the agent may not ask for a URL in a browser that runs elsewhere, where no proxy watches; or None."""
        if self._config.cdp_url:
            try:
                self._guard.check(urlsplit(url).hostname or "")
            except Refused as refused:
                return str(refused)
        return None

    async def settle(self, point: tuple[int, int] | None = None) -> PageState:
        """Wait until the active tab is ready (`browser/page/ready.py`), and read its state.

        Args:
            point: CSS pixel whose element the state describes.
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

    async def _number(self, seen: Snapshot, places: Sequence[Place], shown: Container[int]) -> None:
        """Let the calls to come name the controls that are shown."""
        before, self.elements = self.elements, Elements(seen, places, shown)
        await before.forget()

    async def _pointed(self, call: ToolCall) -> ToolCall:
        """The call with a point in place of the number of an element, which is brought into view."""
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

    async def _observe(self, view: View | None) -> Observation:
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
        mime, text = f"image/{self._config.screenshot_format}", ""
        if view is not None and read is not None:
            dressed = await asyncio.to_thread(dress, view, read[0], data)
            data, text = dressed.image, dressed.text
            await self._number(*read, dressed.shown)
        width, height = self.viewport_px
        return Observation(
            screenshot=self._images.put(data, width, height, mime),
            text=text,
            url=tab.url,
            title=state["title"],
            tabs=[
                TabInfo(index=index, url=other.url, title=title, active=other is tab)
                for index, (other, title) in enumerate(zip(tabs, others, strict=True))
            ],
            viewport_px=self.viewport_px,
            scroll_px=(round(state["scroll"][0]), round(state["scroll"][1])),
            page_px=(state["page"][0], state["page"][1]),
            blocked=blocked_by(tab.status, state["marks"]),
        )

    async def _catch_up(self) -> None:
        """Follow the tabs that opened or are about to; keep at least one."""
        await self._await_tabs()
        if not self.tabs:  # the last page closed itself
            await self.open_tab()

    async def _await_tabs(self) -> None:
        try:
            async with asyncio.timeout(self._config.ready_cap_s):
                while self._coming:
                    self._tab_came.clear()
                    await self._tab_came.wait()
        except TimeoutError:  # blocked, a download, or a server that takes long: it comes later
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
        try:
            tab = await Tab.adopt(page, self._config, self.log, self._on_popup, self._notes.append, self._frames)
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
            said = f' with "{_clip(dialog.default_value)}"' if dialog.type == "prompt" else ""
            self._notes.append(f'{dialog.type} "{_clip(dialog.message)}" was accepted{said}')
        await dialog.accept(dialog.default_value)

    async def _seen(self, looking: Coroutine[Any, Any, SeenT], what: str) -> SeenT:
        """What looking at the tab gives; its failure as an error."""
        limit = self._config.screenshot_timeout_s
        try:
            async with asyncio.timeout(limit):
                return await looking
        except TimeoutError as error:
            raise self.lost(error) or self._error(
                Failure.SCREENSHOT_TIMEOUT,
                f"no {what} of {self.active.url} within {limit:g} s (browser.screenshot_timeout_s)",
                error,
            ) from None
        except PlaywrightError as error:
            if self.lost(error) is None:
                await asyncio.sleep(_NEWS_S)
            raise self.lost(error) or self._error(
                Failure.BROWSER_DIED, f"browser lost at {self.active.url}: {first_line(error)}", error
            ) from error

    def lost(self, error: Exception) -> BrowserError | None:
        """Why the session cannot go on after an error; None where it can."""
        reason = first_line(error) if isinstance(error, PlaywrightError) else "no answer"
        if self._expired:
            limit = f"{self._config.session_timeout_s:g} s (browser.session_timeout_s)"
            return self._error(Failure.SESSION_TIMEOUT, f"the session ran past its limit of {limit}", error)
        if self._closing is not None:
            return self._error(Failure.BROWSER_DIED, "the session is closed", error)
        if not self._host.alive:
            return self._error(Failure.BROWSER_DIED, f"the browser died: {reason}", error)
        if self.active.crashed or "Target crashed" in reason:
            return self._error(Failure.TAB_CRASHED, f"the tab crashed at {self.active.url}", error)
        return None

    def _error(self, failure: Failure, message: str, cause: BaseException) -> BrowserError:
        return BrowserError(message, failure, self.diagnostics(cause))

    def diagnostics(self, cause: BaseException | None = None) -> dict[str, Any]:
        """What the session and its browser went through (`SessionLog.record`), with `url` and `browser`."""
        url = self.active.url if self.tabs else ""
        return {"url": url, **self.log.record(cause), "browser": self._host.record()}

    async def _close(self) -> None:
        for task in self._adopting:
            task.cancel()
        try:
            with self.log.timed("close"):
                async with asyncio.timeout(self._config.exit_timeout_s):
                    await self._context.close()
        except TimeoutError:
            # Its pages may run on: let nobody else share that browser.
            logger.warning("a session did not close within %g s (browser.exit_timeout_s)", self._config.exit_timeout_s)
            self._host.retire()
        except PlaywrightError:
            pass  # the browser is gone
        finally:
            self.on_closed()


def first_line(error: PlaywrightError) -> str:
    """Playwright's message without its prefix and call log."""
    line = error.message.splitlines()[0]
    head, colon, rest = line.partition(": ")
    return rest if colon and "." in head and " " not in head else line


def _clip(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
