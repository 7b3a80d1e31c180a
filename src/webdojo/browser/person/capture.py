"""The input of a person in all tabs of a session, one call after another, and the way that is made for each.

What the person does while a call is carried out waits for its turn. An address that the person enters, and a way back
by the buttons of the window, is stopped before it leaves, and becomes a call too.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from webdojo.browser.actions import target_px
from webdojo.browser.page.frames import Frames
from webdojo.browser.page.probe import PageState
from webdojo.browser.page.scripts import script
from webdojo.browser.person.channel import Channel
from webdojo.browser.person.composer import Composer, Pauses
from webdojo.browser.person.input import NOTHING, Input, needed_by, read_input
from webdojo.browser.person.window import Window
from webdojo.browser.session import BrowserSession
from webdojo.browser.tab import Tab
from webdojo.errors import BrowserError
from webdojo.types import ToolCall

_FIELD_JS, _SCROLLS_JS = script("field.js"), script("scrolls.js")
_PLACED = ("press", "release", "wheel", "hover")
_NAMES = {" ": "Space", "\n": "Enter", "\t": "Tab"}
"""Keys of characters that are not named by them."""


_FOLLOW_S = 2.0
"""How long to wait until new tabs and frames tell what is done in them."""


class WindowClosed(Exception):
    """The person has closed the last tab."""


@dataclass(frozen=True)
class Field:
    """The text field that has the focus."""

    sides: tuple[str, str] | None
    """What it holds before and after its selection; None where that cannot be told."""
    value: str
    middle_px: tuple[float, float] | None
    """The middle of what is seen of it, in CSS pixels of the viewport; None where nothing is."""
    secret: bool
    """Whether it is a password field."""


@dataclass(frozen=True)
class _Told:
    page: Page
    frame: str
    """The id of the frame in which it was done; empty for what was done to the window."""
    what: Input | ToolCall
    at: float
    """When, in seconds of the monotonic clock."""


class Capture:
    """What a person does in the window of a session; `Capture.of` begins it.

    The session must be of a pool for persons (`BrowserPool`), whose documents have `person.js`.
    """

    def __init__(self, session: BrowserSession, pauses: Pauses, on_note: Callable[[str], None]) -> None:
        self._session = session
        self._on_note = on_note
        self._composer = Composer(session.viewport_px, pauses)
        self._told: deque[_Told] = deque()
        self._ready: deque[ToolCall] = deque()
        self._began = 0.0
        """When the input was told that may go on."""
        self._news = asyncio.Event()
        self._channels: dict[Page, list[Channel]] = {}
        self._channels_of_frames: dict[Frame, Channel] = {}
        """Those of frames in processes of their own."""
        self._following = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._awaited = False
        """Whether a call is waited for, so that whatever navigates or opens is the person or the page itself."""
        self._front: Tab = session.active
        """The active tab when the wait for a call began."""

    @classmethod
    async def of(cls, session: BrowserSession, pauses: Pauses, on_note: Callable[[str], None]) -> Self:
        """Begin; `on_note` is told, in a line, what the person does and nothing can record."""
        self = cls(session, pauses, on_note)
        session.make_way = self._make_way
        session.context.on("page", lambda page: self._start(self._on_page(page)))
        session.context.on("close", lambda _: self._news.set())
        for page in session.context.pages:
            await self._follow(page)
        return self

    @property
    def since(self) -> float | None:
        """When the person did what becomes the next call, by the monotonic clock; None where nothing was done."""
        if self._ready or self._composer.patience_s is not None:
            return self._began
        return self._told[0].at if self._told else None

    async def call(self) -> ToolCall:
        """The next call, as soon as it is complete; whoever stops waiting for it loses none.

        Raises:
            WindowClosed: the person has closed the window.
            BrowserError: the browser is lost, or the tab has crashed.
        """
        call = await self._call(waits=True)
        assert call is not None
        return call

    async def begun_call(self) -> ToolCall | None:
        """The next call of what the person has done so far, None where that is no call; raises as `call`."""
        return await self._call(waits=False)

    async def _call(self, waits: bool) -> ToolCall | None:
        if self._tasks:  # tabs and frames that are new
            await asyncio.wait(set(self._tasks), timeout=_FOLLOW_S)
        self._awaited, self._front = True, self._session.active
        try:
            while not self._ready:
                if self.since is None and not waits:
                    return None
                await self._compose()
            call = await self._fitted(self._ready[0])
            self._ready.popleft()
            return call
        finally:
            self._awaited = False

    async def field(self) -> Field | None:
        """The text field that has the focus in the active tab; None where keys go to something else."""
        tab = self._session.active
        found = await tab.until_read(lambda: tab.world.call(_FIELD_JS))
        if found is None:
            return None
        sides, middle = found["sides"], found["middle"]
        middle_px = tuple(middle) if middle else None
        return Field(tuple(sides) if sides else None, found["value"], middle_px, found["secret"])

    async def _compose(self) -> None:
        """Take one more input, or a pause."""
        if not await self._more(self._composer.patience_s):
            self._ready += self._composer.rest()
            return
        tab = self._tab_of(self._told[0].page)
        if tab is not None and tab is not self._session.active:
            index = self._session.tabs.index(tab)  # the person looks at another tab than the session
            self._ready += [*self._composer.rest(), ToolCall(name="switch_tab", arguments={"index": index})]
            return
        what = None if tab is None else await self._placed(tab, self._told[0])
        at, goes_on = self._told.popleft().at, self._composer.patience_s is not None
        if isinstance(what, ToolCall):
            done = [*self._composer.rest(), what]
        elif what is None or what.kind == "lost":
            done = []
        else:
            if what.kind == "paste" and self._session.copied:  # as agents do, from what the session has copied
                what = Input("key", key="v", modifiers=("ctrl",))
            done = self._composer.take(what)
        if done or not goes_on:
            self._began = at
        self._ready += done
        if isinstance(what, Input) and what.kind == "lost":
            self._on_note("what an input method writes into this editor cannot be recorded: type it without one")

    def _tab_of(self, page: Page) -> Tab | None:
        return next((tab for tab in self._session.tabs if tab.page is page), None)

    async def _more(self, patience_s: float | None) -> bool:
        """Wait for more input; return whether it has come in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                while not self._told:
                    self._news.clear()
                    await self._news.wait()
                    if (lost := self._session.lost(PlaywrightError("the window is gone"))) is not None:
                        raise lost
                    if not self._session.tabs:
                        raise WindowClosed
        return bool(self._told)

    async def _placed(self, tab: Tab, told: _Told) -> Input | ToolCall | None:
        """What was done, with its place in the viewport; None where its frame is gone."""
        what = told.what
        if isinstance(what, ToolCall) or told.frame == tab.main_frame or what.kind not in _PLACED:
            return what
        frames = await Frames.of(tab.page, tab.cdp)
        try:
            frame = next((each for each in frames.all if each.frame_id == told.frame), None)
            box = await frame.box_px() if frame is not None else None
        finally:
            await frames.close()
        return None if box is None else replace(what, x=what.x + box[0], y=what.y + box[1])

    async def _fitted(self, call: ToolCall) -> ToolCall:
        """A call of the composer as the page takes it."""
        tab = self._session.active
        if call.name == "write" and tab.chooser is None:
            field, text = await self.field(), call.arguments["text"]
            if field is not None and field.sides is not None:
                before, after = field.sides
                return ToolCall(name="write", arguments={"text": f"{before}{text}{after}"})
            keys = [_NAMES.get(character, character) for character in text.replace("\r", "")]
            return ToolCall(name="press_keys", arguments={"keys": keys})
        if call.name == "scroll":
            direction = {key: call.arguments[key] for key in ("direction", "amount")}
            anywhere = ToolCall(name="scroll", arguments=direction)
            if await self._scrolls_page(call) and await self._scrolls_page(anywhere):
                return anywhere
        return call

    async def _scrolls_page(self, scroll: ToolCall) -> bool:
        """Whether a scroll moves the whole page."""
        tab, at_px = self._session.active, target_px(scroll, self._session.viewport_px)
        return bool(await tab.until_read(lambda: tab.world.call(_SCROLLS_JS, at_px)))

    @asynccontextmanager
    async def _make_way(self, call: ToolCall, before: PageState) -> AsyncIterator[None]:
        """Let the active tab take the input of a call while the block runs."""
        needed = needed_by(call, before)
        if needed is None:
            yield
            return
        page = self._session.page
        channels = self._channels.get(page, [])
        await self._let_through(channels, needed)
        try:
            yield
        finally:
            await self._let_through(channels, NOTHING)
        if needed["wheels"]:
            # A turn that moves nothing, and is kept from the page: after it turns can be prevented again (`person.js`).
            await page.mouse.wheel(0, 0)

    async def _let_through(self, channels: list[Channel], needed: dict[str, Any]) -> None:
        await asyncio.gather(*(channel.let_through(json.dumps(needed)) for channel in channels))

    def _tell(self, page: Page, frame: str, what: Input | ToolCall) -> None:
        self._told.append(_Told(page, frame, what, time.monotonic()))
        self._news.set()

    def _on_input(self, page: Page, frame: str, text: str) -> None:
        what = read_input(text)
        if what is not None:
            self._tell(page, frame, what)

    async def _follow(self, page: Page) -> None:
        """Take what is done in a page, if it is one of a tab."""
        if (tab := self._tab_of(page)) is None:
            return
        channel = Channel(await page.context.new_cdp_session(page), partial(self._on_input, page))
        self._channels[page] = [channel]
        await channel.open()
        await Window(tab, channel.cdp, lambda: self._awaited, partial(self._tell, page, "")).open()
        page.on("framenavigated", lambda frame: self._start(self._follow_frame(page, frame)))
        page.on("crash", lambda _: self._news.set())
        page.on("close", self._on_closed)
        for frame in page.frames[1:]:
            await self._follow_frame(page, frame)

    async def _follow_frame(self, page: Page, frame: Frame) -> None:
        """Take what is done in a frame that runs in a process of its own."""
        if frame == page.main_frame:
            return
        async with self._following:
            known = self._channels_of_frames.pop(frame, None)
            if known is not None and await known.is_open():
                self._channels_of_frames[frame] = known
                return
            if known is not None:
                self._channels[page].remove(known)
            try:
                cdp = await page.context.new_cdp_session(frame)
            except PlaywrightError:  # it runs in that of the frame around it
                return
            channel = self._channels_of_frames[frame] = Channel(cdp, partial(self._on_input, page))
            self._channels[page].append(channel)
            await channel.open()

    async def _on_page(self, page: Page) -> None:
        """Follow a new tab; one that the person has opened closes again, because the session opens it."""
        of_person = self._awaited and await page.opener() is None
        await self._session.catch_up()
        if not of_person:
            await self._follow(page)
            return
        await page.close()
        self._session.choose(self._front)
        self._tell(self._front.page, "", ToolCall(name="new_tab"))

    def _on_closed(self, page: Page) -> None:
        del self._channels[page]
        if self._awaited and self._session.tabs:
            self._on_note("a tab that is closed in the window is not recorded: type :close_tab instead")
        self._news.set()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            with suppress(PlaywrightError, BrowserError):  # the page, or the frame, is gone
                await work

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
