"""One isolated browser context: look at it, act in it, close it.

`observe()` gives what the agent sees, `act()` carries out calls and says what they did. Whatever
the web or the agent does wrong becomes feedback; only the loss of the browser itself is an error.
At any time exactly one tab is active, and a tab that a page opens becomes the active one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.actions import ACTIONS, ToolFailed, point_px, probe_point
from webdojo.browser.blocked import blocked_by
from webdojo.browser.feedback import describe, failed
from webdojo.browser.guard import Guard, Refused
from webdojo.browser.interface import ActResult
from webdojo.browser.probe import PAGE_JS, PROBE_JS, PageState, read_state
from webdojo.browser.ready import is_overtaken, settle
from webdojo.browser.snapshot import Snapshot, snapshot
from webdojo.browser.tab import Tab
from webdojo.browser.tools import check_call
from webdojo.config import BrowserConfig
from webdojo.errors import BrowserError
from webdojo.types import Feedback, ImageSink, Observation, ToolCall
from webdojo.types import Tab as TabInfo

_CLOSE_TIMEOUT_S = 10.0

_NOTES_SHOWN = 3


class BrowserSession:
    """An open context; `BrowserPool.open` makes one."""

    def __init__(self, context: BrowserContext, config: BrowserConfig, images: ImageSink, guard: Guard) -> None:
        self.viewport_px = config.viewport_px
        self.tabs: list[Tab] = []
        self.active: Tab
        self._context = context
        self._config = config
        self._images = images
        self._guard = guard
        self._adopting: set[asyncio.Task[None]] = set()
        self._coming = 0
        """Windows that were asked for and have not come yet."""
        self._tab_came = asyncio.Event()
        self._notes: list[str] = []
        self._closed = False
        context.on("page", self._on_page)
        context.on("dialog", self._on_dialog)

    @property
    def page(self) -> Page:
        """Playwright's page of the active tab."""
        return self.active.page

    async def observe(self) -> Observation:
        """See the active tab as it is now.

        Raises:
            BrowserError: the browser died, the tab crashed, or no picture came in time.
        """
        try:
            async with asyncio.timeout(self._config.screenshot_timeout_s):
                return await self._observe()
        except TimeoutError:
            raise BrowserError(
                f"no screenshot of {self.active.url} within {self._config.screenshot_timeout_s:g} s "
                "(browser.screenshot_timeout_s)"
            ) from None
        except PlaywrightError as error:
            raise BrowserError(f"browser lost at {self.active.url}: {first_line(error)}") from error

    async def act(self, calls: Sequence[ToolCall]) -> ActResult:
        """Carry out calls in order; `done` and a call that runs out of time end the turn.

        Raises:
            BrowserError: the browser died or the tab crashed.
        """
        result = ActResult()
        for call in calls:
            try:
                async with asyncio.timeout(self._config.action_timeout_s):
                    feedback = await self._run(call)
            except TimeoutError:
                result.feedback.append(failed(call, f"timed out after {self._config.action_timeout_s:g} s"))
                break
            result.feedback.append(feedback)
            if call.name == "done" and feedback.ok:
                result.answer = call.arguments["answer"]
                break
        return result

    async def snapshot(self) -> Snapshot:
        """What the active tab says, for the text observations of `views.py`.

        Raises:
            BrowserError: the browser died, the tab crashed, or it did not answer in time.
        """
        try:
            async with asyncio.timeout(self._config.screenshot_timeout_s):
                await self.settle()
                return await snapshot(self.page, self.viewport_px)
        except TimeoutError:
            raise BrowserError(
                f"no description of {self.active.url} within {self._config.screenshot_timeout_s:g} s "
                "(browser.screenshot_timeout_s)"
            ) from None
        except PlaywrightError as error:
            raise BrowserError(f"browser lost at {self.active.url}: {first_line(error)}") from error

    async def close(self) -> None:
        """Close all tabs and forget cookies and storage. Closing twice is allowed."""
        if self._closed:
            return
        self._closed = True
        for task in self._adopting:
            task.cancel()
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._context.close()
        except (PlaywrightError, TimeoutError):
            pass  # the browser is gone or hangs: the pool ends it

    async def open_tab(self) -> None:
        """Open a blank tab and make it the active one.

        Raises:
            BrowserError: it is gone already, and there is no other tab.
        """
        self._coming += 1
        await self._context.new_page()
        await self._await_tabs()
        if not self.tabs:
            raise BrowserError("a new tab closed before it could be used")

    async def focus_tab(self, tab: Tab) -> None:
        """Make a tab the active one."""
        self.active = tab
        await tab.page.bring_to_front()

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
        """Wait until the active tab is ready (`browser/ready.py`), and read its state.

        Args:
            point: CSS pixel whose element the state describes.
        """
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
        point = probe_point(call.name, call.arguments)
        at_px = point_px(*point, self.viewport_px) if point else None
        try:
            before = await self._probe(at_px)
            note = await self._execute(call, before)
            after = await self.settle(at_px)
        except ToolFailed as error:
            return failed(call, str(error))
        except PlaywrightError as error:
            self._check_alive(error)
            return failed(call, first_line(error))
        notes = [note] if note is not None else []
        if after.document != before.document:
            if (reason := self.refusal(self.active.url)) is not None:
                notes = [f"refused: {reason}"]
            elif self.active.failed_url:
                notes.append("it did not load")
        return describe(call, before, after, (notes + self._notes)[:_NOTES_SHOWN])

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

    async def _observe(self) -> Observation:
        await self._catch_up()
        if self.active.navigating:
            await self.settle()
        while True:
            tab, document, tabs = self.active, self.active.document, list(self.tabs)
            try:
                titles = (other.page.title() for other in tabs if other is not tab)
                state, data, *others = await asyncio.gather(tab.page.evaluate(PAGE_JS), tab.screenshot(), *titles)
            except PlaywrightError as error:
                if not is_overtaken(error) and not any(other.page.is_closed() for other in tabs):
                    raise
                await self.settle()
                continue
            if tab is self.active and document == tab.document and tabs == self.tabs:
                break
            await self._catch_up()
        others.insert(tabs.index(tab), state["title"])
        width, height = self.viewport_px
        return Observation(
            screenshot=self._images.put(data, width, height, f"image/{self._config.screenshot_format}"),
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
            tab = await Tab.adopt(page, self._config, self._on_popup, self._notes.append)
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

    def _check_alive(self, error: PlaywrightError) -> None:
        browser = self._context.browser
        if browser is None or not browser.is_connected():
            raise BrowserError(f"the browser died: {first_line(error)}") from error
        if self.active.crashed:
            raise BrowserError(f"the tab crashed at {self.active.url}") from error


def first_line(error: PlaywrightError) -> str:
    """Playwright's message without its prefix and call log."""
    line = error.message.splitlines()[0]
    head, colon, rest = line.partition(": ")
    return rest if colon and "." in head and " " not in head else line


def _clip(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
