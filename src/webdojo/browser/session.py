"""One isolated browser context: look at it, act in it, close it.

Whatever the web or the agent does wrong becomes feedback. Only the loss of the session itself is an error; it has a
name (`errors.Failure`) and a record of what led to it (`diagnostics.py`). A screenshot is in its sink before an
observation names it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.actions import LEAVE_JS, execute, target_px
from webdojo.browser.chromium import EXIT_TIMEOUT_S, Chromium, first_line
from webdojo.browser.config import BrowserConfig, StorageState
from webdojo.browser.feedback import describe, failed, starred
from webdojo.browser.interface import ActResult, DebugTarget, PageRead
from webdojo.browser.network.guard import Guard
from webdojo.browser.network.har import HarLog
from webdojo.browser.page.elements import Elements
from webdojo.browser.page.probe import PAGE_JS, PROBE_JS, Glance, PageState, blocked_by, dead_by, glance_of, state_of
from webdojo.browser.page.ready import settle
from webdojo.browser.page.snapshot import Refs, Snapshot, snapshot
from webdojo.browser.page.views import numbered, render
from webdojo.browser.page.world import ScriptError, is_overtaken
from webdojo.browser.reach import check_address, reach
from webdojo.browser.tab import MOST_TABS, Tab, Tabs
from webdojo.browser.tools import ToolFailed, check_call
from webdojo.errors import BrowserError, ConfigError, Failure, StartError
from webdojo.redact import SHORTEST_TYPED, redact, stored_secrets
from webdojo.types import Feedback, ImageSink, Observation, ToolCall, View
from webdojo.types import Tab as TabInfo

_SCREENSHOT_TIMEOUT_S = 20.0
_SESSION_TIMEOUT_S = 3600.0
"""The whole life of a session; one that somebody forgot to close ends then."""
_NOTES_SHOWN = 3
_MOST_LOOKS = 2
"""Taken of a page that has gone on to another before it was seen; then it has to stay."""
_LEAVING = ("switch_tab", "close_tab", "new_tab", "goto_url")
"""Calls that leave the page, whatever it does."""
_STOP_S = 1.0
_LEAVE_S = 1.0
"""How long they wait for it to tell its state."""
_STUCK_S = 2.0
"""How long a page that did not respond may take to be seen; then its last picture is shown."""
_SILENT = "the page does not respond"
_RETRY_AFTER_S = 0.3
"""A pause before another try; the event that a tab has crashed may arrive after the first error that it caused."""

T = TypeVar("T")
Look = tuple[bytes, dict[str, Any]]
"""A picture, and the other fields of an observation."""


class Sight(NamedTuple):
    """What was read of the active tab at once."""

    tab: Tab
    document: int
    tabs: list[Tab]
    titles: list[str]
    """Of these tabs."""
    glance: Glance
    picture: bytes
    described: tuple[Snapshot, Refs] | None
    """The page as a view shows it."""


logger = logging.getLogger(__name__)


class BrowserSession(Tabs):
    """An open context; `BrowserPool.open` makes one."""

    def __init__(
        self,
        context: BrowserContext,
        browser: Chromium,
        config: BrowserConfig,
        images: ImageSink,
        guard: Guard,
        storage_state: StorageState | None = None,
        files: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        super().__init__(context, config, guard, browser.frames, files)
        self.secrets = stored_secrets(storage_state) if config.redact else set()
        self.elements = Elements(Snapshot((), config.viewport_px, "", ""), Refs(), ())
        """The numbered controls of the last view."""
        self._har = HarLog(context) if config.record_har else None
        self._browser = browser
        self._images = images
        self._on_closed: Callable[[], None] = lambda: None
        self._touched = False
        """Whether the call that runs has begun to act on the page."""
        self._ready_s = 0.0
        """Seconds spent in `settle` so far."""
        self._seen: tuple[Tab, int, Look] | None = None
        """A tab, its document, and how it looked last."""
        self._told: tuple[Tab, int] | None = None
        """The tab and the document that the last feedback was about."""
        self.make_way: Callable[[ToolCall, PageState], AbstractAsyncContextManager[None]] = lambda *_: nullcontext()
        """Entered with a call and the state before it, for as long as the call sends input; a person who uses the same
        window steps aside then (`person/capture.py`)."""
        self._limit: asyncio.TimerHandle | None = None
        self._expired = False
        self._closing: asyncio.Task[None] | None = None

    @property
    def usable(self) -> bool:
        return self._closing is None and self._browser.alive and bool(self.tabs) and not self.active.crashed

    def begin(self, on_closed: Callable[[], None]) -> None:
        """Begin the life of the session, which ends after an hour at the latest; `on_closed` is called once, then."""
        self._on_closed = on_closed
        self._limit = asyncio.get_running_loop().call_later(_SESSION_TIMEOUT_S, self._expire)

    def _expire(self) -> None:
        self._expired = True
        self._start_closing()

    async def observe(self, view: View | None = None) -> Observation:
        with self.log.timed("observe"):
            image, fields = await self._read_in_time("screenshot", lambda: self._look(view), self._last_look)
            # Storing hashes and may write to a slow disk: in a thread, it holds up no other session.
            shot = await asyncio.to_thread(
                self._images.put, image, *self.viewport_px, f"image/{self.config.screenshot_format}"
            )
            return Observation(screenshot=shot, **fields)

    def _last_look(self) -> Look | None:
        """How the page of the active tab looked last, which is what a window shows of one that does not respond."""
        if self._seen is None or self._seen[:2] != (self.active, self.active.document):
            return None
        return self._seen[2]

    async def snapshot(self) -> Snapshot:
        with self.log.timed("snapshot"):
            return await self._read_in_time("description", self._describe)

    async def read(self, scripts: Sequence[str], url: str = "") -> list[PageRead]:
        with self.log.timed("read"):
            if not url:
                return await self._read_in_time("reading", lambda: self._run_scripts(scripts))
            before = self.active
            try:
                await self._open_aside(url)
                return await self._read_in_time("reading", lambda: self._run_scripts(scripts))
            finally:
                if self.active is not before:
                    with suppress(PlaywrightError, TimeoutError):  # it may have crashed, or hang
                        async with asyncio.timeout(EXIT_TIMEOUT_S):
                            await self.page.close()
                    if before in self.tabs:
                        self.active = before

    async def _run_scripts(self, scripts: Sequence[str]) -> list[PageRead]:
        await self.settle()
        tab = self.active

        async def run() -> list[PageRead]:
            world, read = tab.world, list[PageRead]()
            for script in scripts:
                try:
                    read.append(PageRead(await world.call(script)))
                except ScriptError as error:
                    read.append(PageRead(error=first_line(error)))
            return read

        return await tab.until_read(run)

    async def _open_aside(self, url: str) -> None:
        """Open an address in a new tab, which becomes the active one; the oldest other tab makes room if needed."""
        if len(self.tabs) >= MOST_TABS:
            await next(tab for tab in self.tabs if tab is not self.active).page.close()
        try:
            check_address(url)
            async with asyncio.timeout(self.config.start_timeout_s), self.drawing():
                await self.open_tab()
                await reach(self, url, self.settle, self.lost)
        except StartError as error:
            raise BrowserError(str(error), Failure.PAGE_UNREACHABLE, self.diagnostics(error)) from None
        except TimeoutError as error:
            message = f"{url} did not answer within {self.config.start_timeout_s:g} s (browser.start_timeout_s)"
            raise BrowserError(message, Failure.PAGE_UNREACHABLE, self.diagnostics(error)) from None
        except PlaywrightError as error:
            raise self.lost(error) or BrowserError(
                f"cannot open {url}: {first_line(error)}", Failure.PAGE_UNREACHABLE, self.diagnostics(error)
            ) from error

    async def debug_target(self) -> DebugTarget:
        """Return where a DevTools client finds the active tab; `browser.debugging_port` is on."""
        await self.catch_up()
        found = (await self.active.cdp.send("Target.getTargetInfo"))["targetInfo"]
        return DebugTarget(self._browser.debugger, found["browserContextId"], found["targetId"])

    async def arrive(self) -> None:
        """Wait until the page is ready to which the environment has brought a blank session; "back" leads nowhere."""
        await self.settle()
        await self.active.cdp.send("Page.resetNavigationHistory")

    async def har(self) -> list[dict[str, Any]]:
        if self._har is None:
            raise ConfigError("the reward needs what pages ask the network for: set browser.record_har=true")
        return await self._har.entries()

    async def _describe(self) -> Snapshot:
        await self.settle()
        tab = self.active
        page, refs = await tab.until_read(lambda: snapshot(tab, self.viewport_px))
        await self._number(page, refs, numbered(page).values())
        return page

    async def act(self, calls: Sequence[ToolCall]) -> ActResult:
        result, ready_s, known = ActResult(), self._ready_s, set(self.secrets)
        for call in calls:
            with self.log.timed(call.name):
                feedback, in_time = await self._carry_out(call)
            result.feedback.append(feedback)
            if not in_time:
                break
            if call.name == "done" and feedback.ok:
                result.answer = call.arguments.get("answer", "")
                break
        result.seconds["ready"] = self._ready_s - ready_s
        result.secrets = sorted(self.secrets - known)
        return result

    async def close(self) -> None:
        # A caller that is cancelled while it waits leaves no half-closed session behind.
        await asyncio.shield(self._start_closing())

    def _start_closing(self) -> asyncio.Task[None]:
        self._closing = self._closing or asyncio.create_task(self._close())
        return self._closing

    async def settle(self, point: tuple[int, int] | None = None) -> PageState:
        """Wait until the active tab is ready (`page/ready.py`), and read its state at a CSS pixel."""
        began = time.monotonic()
        try:
            async with self.drawing():
                return await self._read(lambda tab: settle(tab, self.config, point))
        finally:
            self._ready_s += time.monotonic() - began

    async def _read(self, read: Callable[[Tab], Awaitable[dict[str, Any]]]) -> PageState:
        """Return the state that is read of the active tab, or of the next one if another becomes active meanwhile."""
        while True:
            await self.catch_up()
            tab = self.active
            try:
                raw = await read(tab)
                await tab.asked()
            except PlaywrightError:
                if not tab.page.is_closed():
                    raise
                continue
            await self.catch_up()
            if tab is self.active:
                at = {"url": tab.url, "tab": self.tabs.index(tab), "tabs": len(self.tabs), "document": tab.document}
                return state_of(raw | at | {"offer": tab.offer})

    async def _carry_out(self, call: ToolCall) -> tuple[Feedback, bool]:
        """Carry out a call, again where it failed before it touched the page; the feedback, and whether it was in
        time."""
        retries = self.config.step_retries
        while True:
            self._touched = False
            try:
                async with asyncio.timeout(self.config.action_timeout_s):
                    return await self._run(call), True
            except (TimeoutError, PlaywrightError) as error:
                if (lost := self.lost(error)) is not None:
                    raise lost from error
                reason, in_time = first_line(error) if isinstance(error, PlaywrightError) else "", True
                if isinstance(error, TimeoutError):
                    reason, in_time = f"timed out after {self.config.action_timeout_s:g} s", False
                    if self.active.navigating:
                        reason += ": the next page did not load, and was stopped"
                    await self._stop()
                    if not await self.active.responds():
                        reason += f": {_SILENT}"
                if self._touched or not retries or self.active.stuck:
                    reason = "; ".join([reason, *self.take_notes()[:_NOTES_SHOWN]])
                    return failed(call, redact(reason, self.secrets)), in_time
            retries -= 1
            await asyncio.sleep(_RETRY_AFTER_S)

    async def _stop(self, loading: bool = False) -> None:
        """Stop what holds the tabs up: a script that never ends, also of another tab in the same process, a navigation
        without an answer, and with `loading` whatever else the active tab loads, its full screen and pointer lock."""

        async def stop(tab: Tab) -> None:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_STOP_S):
                    if tab.navigating or (loading and tab is self.active):
                        await tab.cdp.send("Page.stopLoading")
                        tab.navigating = False
                    await tab.cdp.send("Runtime.terminateExecution")
                    if loading and tab is self.active:
                        await tab.world.call(LEAVE_JS)  # a locked pointer may keep a page from being drawn

        await asyncio.gather(*map(stop, list(self.tabs)))

    async def _run(self, call: ToolCall) -> Feedback:
        reason = check_call(call)
        if reason is not None:
            return Feedback(ok=False, text=redact(f"invalid call: {reason}", self.secrets))
        if call.name == "done":  # it touches nothing, so there is nothing to compare
            here = PageState(url=self.active.url)
            return describe(redact(call, self.secrets), here, here)
        try:
            if "element" in call.arguments:
                self._touched = True  # to find it is to scroll to it
                x, y = await self.elements.point(call.arguments["element"], self.active)
                rest = {name: value for name, value in call.arguments.items() if name != "element"}
                call = ToolCall(name=call.name, arguments={"x": x, "y": y, **rest})
            at_px = target_px(call, self.viewport_px)
            before = await self._before(call, at_px)
            self._note_secret(call, before)
            async with self.drawing():
                tab, note = self.active, None
                self._touched = True
                try:
                    async with self.make_way(call, before):
                        note = await execute(self, call, before)
                except PlaywrightError:
                    if not tab.page.is_closed():  # else the page answered the input by closing itself
                        raise
                after = await self.settle(at_px)
        except ToolFailed as error:
            self._told = (self.active, self.active.document)
            return failed(call, redact(str(error), self.secrets))
        notes = [note] if note is not None else []
        told, self._told = self._told, (self.active, after.document)
        if self._told != told and self.active.failed_url:  # also where a page left between two calls
            notes.append(self.guard.why_failed(self.active.failed_url) or "it did not load")
        notes = (notes + self.take_notes())[:_NOTES_SHOWN]
        if self.config.redact:
            call, before, after = starred(call, before, after)
        known = self.secrets
        return describe(redact(call, known), redact(before, known), redact(after, known), redact(notes, known))

    async def _before(self, call: ToolCall, at_px: tuple[int, int] | None) -> PageState:
        """The state before a call; one that leaves the tab does not wait for a page that hangs."""
        patience = _LEAVE_S if call.name in _LEAVING else None
        if patience is None and self.active.stuck and not await self.active.responds():
            raise ToolFailed(_SILENT)
        try:
            async with asyncio.timeout(patience):
                return await self._read(lambda tab: tab.until_read(lambda: tab.world.call(PROBE_JS, at_px)))
        except TimeoutError:
            if patience is None:
                raise
        tab = self.active
        return PageState(url=tab.url, tab=self.tabs.index(tab), tabs=len(self.tabs), document=tab.document)

    def _note_secret(self, call: ToolCall, before: PageState) -> None:
        """Remember a text that a call types into a password field."""
        typed = call.arguments["text"] if call.name == "write" and before.focus and before.focus.secret else ""
        if self.config.redact and len(typed) >= SHORTEST_TYPED:
            self.secrets.add(typed)

    async def _number(self, page: Snapshot, refs: Refs, shown: Container[int]) -> None:
        """Let later calls name the controls that are shown."""
        before, self.elements = self.elements, Elements(page, refs, shown)
        await before.forget()

    async def _look(self, view: View | None) -> Look:
        sight = await self._current(view)
        tab, state, data = sight.tab, sight.glance, sight.picture
        text = ""
        if view is not None and sight.described is not None:
            data, text, shown = await asyncio.to_thread(render, view, sight.described[0], data)
            await self._number(*sight.described, shown)
        ours = self.guard.refusal(tab.url) is not None  # a page of our own refusal tells nothing about the site
        look = (
            data,
            {
                "text": text,
                "url": tab.url,
                "title": state.title,
                "tabs": [
                    TabInfo(index=index, url=other.url, title=title, active=other is tab)
                    for index, (other, title) in enumerate(zip(sight.tabs, sight.titles, strict=True))
                ],
                "viewport_px": self.viewport_px,
                "scroll_px": (round(state.scroll[0]), round(state.scroll[1])),
                "page_px": state.page,
                "blocked": "" if ours else blocked_by(tab.status, state.marks),
                "dead": "" if ours else dead_by(tab.url, tab.status, not tab.failed_url),
            },
        )
        self._seen, tab.stuck = (tab, sight.document, look), False
        return look

    async def _current(self, view: View | None) -> Sight:
        """Read the active tab until nothing changed meanwhile; a page that goes on and on is told as it was seen."""
        await self.catch_up()
        if self.active.navigating:
            await self.settle()
        async with AsyncExitStack() as staying:
            for attempt in itertools.count(1):
                sight = await self._sight(view)
                if sight is not None and (self._shows(sight) or attempt > _MOST_LOOKS):
                    return sight
                await self.settle()
                if attempt == _MOST_LOOKS:
                    await staying.enter_async_context(self.active.staying())
        raise AssertionError("there is no end to counting")

    async def _sight(self, view: View | None) -> Sight | None:
        """Read the active tab once; None where another document came, or a tab went, meanwhile."""
        tab, document, tabs = self.active, self.active.document, list(self.tabs)
        try:
            titles = (other.read_title() for other in tabs if other is not tab)
            raw, *others = await asyncio.gather(tab.world.call(PAGE_JS), *titles)
            glance = glance_of(raw)
            tab.title = glance.title
            # A picture of a tab that has crashed ends all of Chromium; one that just answered has not.
            picture = await tab.screenshot(glance.loading)
            described = None if view is None else await snapshot(tab, self.viewport_px)
        except PlaywrightError as error:
            gone = tab.navigating or tab.document != document or any(other.page.is_closed() for other in tabs)
            if not gone and not is_overtaken(error):
                raise
            return None
        others.insert(tabs.index(tab), glance.title)
        return Sight(tab, document, tabs, others, glance, picture, described)

    def _shows(self, sight: Sight) -> bool:
        """Whether the session still has the tabs and the document of a sight."""
        return (self.active, self.active.document, self.tabs) == (sight.tab, sight.document, sight.tabs)

    async def _read_in_time(
        self, what: str, read: Callable[[], Awaitable[T]], otherwise: Callable[[], T | None] = lambda: None
    ) -> T:
        """Read the tab within a limit, which starts anew with each of the retries; a BrowserError where it fails.

        What `otherwise` returns, if anything, stands for a page that does not respond.
        """
        retries, stopped = self.config.step_retries, False
        while True:
            limit_s = _SCREENSHOT_TIMEOUT_S / (1 if stopped else 2)
            try:
                async with asyncio.timeout(_STUCK_S if self.active.stuck else limit_s):
                    return await read()
            except TimeoutError as error:
                if (lost := self.lost(error)) is not None:
                    raise lost from None
                if self.active.stuck and (known := otherwise()) is not None:
                    return known
                if not stopped:
                    await self._stop(loading=True)
                    await self.active.responds()
                    stopped = True
                    continue
                if not retries:
                    message = f"no {what} of {self.active.url} within {_SCREENSHOT_TIMEOUT_S:g} s"
                    diagnostics = self.diagnostics(error)
                    raise BrowserError(message, Failure.SCREENSHOT_TIMEOUT, diagnostics) from None
            except PlaywrightError as error:
                if self.lost(error) is None:
                    await asyncio.sleep(_RETRY_AFTER_S)
                if (lost := self.lost(error)) is not None:
                    raise lost from error
                if not retries:
                    message = f"browser lost at {self.active.url}: {first_line(error)}"
                    raise BrowserError(message, Failure.BROWSER_DIED, self.diagnostics(error)) from error
            retries -= 1

    def lost(self, error: Exception) -> BrowserError | None:
        """Return why the session cannot go on after an error, or None where it can."""
        reason = first_line(error) if isinstance(error, PlaywrightError) else "no answer"
        if self._expired:
            failure, message = Failure.SESSION_TIMEOUT, f"the session ran past its limit of {_SESSION_TIMEOUT_S:g} s"
        elif self._closing is not None:
            failure, message = Failure.BROWSER_DIED, "the session is closed"
        elif not self._browser.alive:
            failure, message = Failure.BROWSER_DIED, f"the browser died: {reason}"
        elif self.active.crashed or "Target crashed" in reason:
            failure, message = Failure.TAB_CRASHED, f"the tab crashed at {self.active.url}"
        else:
            return None
        return BrowserError(message, failure, self.diagnostics(error))

    def diagnostics(self, cause: BaseException | None = None) -> dict[str, Any]:
        """Return `SessionLog.record` together with the `url` of the active tab and the `browser`'s own record."""
        url = self.active.url if self.tabs else ""
        return {"url": url, **self.log.record(cause), "browser": self._browser.record()}

    async def _close(self) -> None:
        for task in self._adopting:
            task.cancel()
        if self._limit is not None:
            self._limit.cancel()
        try:
            with self.log.timed("close"):
                async with asyncio.timeout(EXIT_TIMEOUT_S):
                    await self.context.close()
        except TimeoutError:
            # Its pages may still be running: no new session should share that browser.
            logger.warning("a session did not close within %g s", EXIT_TIMEOUT_S)
            self._browser.retiring = True
        except PlaywrightError:
            pass  # the browser is gone
        finally:
            self._on_closed()
