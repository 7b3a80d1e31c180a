"""How each of the 13 tools is executed on the active tab, one coroutine for each tool.

A tool that cannot do what it was asked raises `ToolFailed` with the reason that the agent will read. Anything that
Playwright raises is left to the session, which turns it into feedback too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from urllib.parse import urlsplit

from playwright.async_api import ElementHandle, Page
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.clipboard import Clipboard
from webdojo.browser.keys import normalise_keys
from webdojo.browser.page.probe import PageState
from webdojo.browser.tab import Tab
from webdojo.browser.tools import COORDINATE_MAX, ToolFailed

Arguments = dict[str, Any]

_FOCUSED_JS = """() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
}"""


class ToolSession(Protocol):
    """The part of a session that the tools use."""

    tabs: list[Tab]
    active: Tab
    viewport_px: tuple[int, int]
    clipboard: Clipboard

    async def open_tab(self) -> None: ...

    async def focus_tab(self, tab: Tab) -> None: ...

    def forbidden(self, url: str) -> str | None: ...

    def refusal(self, url: str) -> str | None: ...


def point_px(x: int, y: int, viewport_px: tuple[int, int]) -> tuple[int, int]:
    """Convert a point in 0..1000 to CSS pixels; 1000 is the last pixel, still inside the viewport."""
    width, height = viewport_px
    return min(width - 1, round(x * width / COORDINATE_MAX)), min(height - 1, round(y * height / COORDINATE_MAX))


def web_address(text: str) -> str:
    """Complete an address as an address bar would, and refuse all schemes except http and https.

    Raises:
        ToolFailed: the text has another scheme, no host, or cannot be read as an address.
    """
    text = text.strip()
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?!\d)", text):
        host = text.split("/")[0].split(":")[0]
        text = f"{'http' if host.endswith('localhost') or host == '127.0.0.1' else 'https'}://{text}"
    try:
        parts = urlsplit(text)
    except ValueError as error:  # brackets that hold no IPv6 address
        raise ToolFailed(f'"{text}" is no address: {error}') from None
    if parts.scheme not in ("http", "https"):
        raise ToolFailed(f'only http and https addresses can be opened, not "{parts.scheme}:"')
    if not parts.hostname:
        raise ToolFailed(f'"{text}" names no host')
    return text


async def click(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    x, y = point_px(arguments["x"], arguments["y"], session.viewport_px)
    clicks = 2 if arguments.get("click_type") == "double" else 1
    await session.active.page.mouse.click(x, y, button=arguments.get("button", "left"), click_count=clicks)


async def hover(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    await session.active.page.mouse.move(*point_px(arguments["x"], arguments["y"], session.viewport_px))


async def drag(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    mouse = session.active.page.mouse
    await mouse.move(*point_px(arguments["x1"], arguments["y1"], session.viewport_px))
    await mouse.down()
    # Several moves, because drag handlers start only after the pointer has gone some way.
    await mouse.move(*point_px(arguments["x2"], arguments["y2"], session.viewport_px), steps=6)
    await mouse.up()


async def write(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    page, text, field = session.active.page, arguments["text"], before.focus
    if field is None:
        raise ToolFailed("no field is focused; click one first")
    if field.tag in ("select", "option"):  # an open list may hand the focus to its options
        await _choose(page, text)
        return
    if not field.editable:
        raise ToolFailed(f"the focused <{field.tag}> takes no text; click a text field first")
    if field.editable == "fill":
        try:
            await (await _focused(page)).fill(text)
        except PlaywrightError as error:
            if not field.takes or "Malformed" not in error.message:
                raise
            raise ToolFailed(f'"{text}" does not fit the field; it takes values like {field.takes}') from None
        return
    await page.keyboard.press("ControlOrMeta+a")
    if not text:
        await page.keyboard.press("Delete")
        return
    # One input event for the bulk and real keys for the last character: suggestion lists that
    # listen to keys wake up, and long texts do not cost two round trips a character.
    if text[:-1]:
        await page.keyboard.insert_text(text[:-1])
    await page.keyboard.type(text[-1])


_CHOOSE_JS = """(focused, text) => {
  const list = focused.closest('select'), wanted = text.trim().toLowerCase();
  const usable = [...list.options].filter(o => !o.disabled);
  const labels = usable.map(o => o.label.trim().toLowerCase());
  let at = labels.indexOf(wanted);
  if (at < 0) at = labels.findIndex(label => wanted && label.startsWith(wanted));
  if (at < 0) return {options: usable.slice(0, 20).map(o => o.label.trim())};
  const open = CSS.supports('selector(:open)') && list.matches(':open');
  usable[at].selected = true;
  list.dispatchEvent(new Event('input', {bubbles: true}));
  list.dispatchEvent(new Event('change', {bubbles: true}));
  return {options: null, open};
}"""


async def _choose(page: Page, text: str) -> None:
    """Choose the option of a list that begins with the text, as typing does in browsers."""
    chosen = await (await _focused(page)).evaluate(_CHOOSE_JS, text)
    if chosen["options"] is not None:
        raise ToolFailed(f'the list has no option "{text}"; options: {", ".join(chosen["options"])}')
    if chosen["open"]:
        await page.keyboard.press("Escape")


async def _focused(page: Page) -> ElementHandle:
    """Return the element that has the focus, in whatever frame or shadow root it is."""
    frame = page.main_frame
    while True:
        element = (await frame.evaluate_handle(_FOCUSED_JS)).as_element()
        if element is None:
            raise ToolFailed("the focus moved away")
        inner = await element.content_frame()
        if inner is None:
            return element
        frame = inner


async def press_keys(session: ToolSession, arguments: Arguments, before: PageState) -> str | None:
    note = None
    for chord in normalise_keys(arguments["keys"]):
        if chord == "Alt+ArrowLeft":  # these two keys go to the browser window, and a headless browser has none
            await go_back(session, {}, before)
            continue
        if chord == "Alt+ArrowRight":
            await _go_forward(session)
            continue
        note = await session.clipboard.press(session.active.page, chord) or note
    return note


async def scroll(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    width, height = session.viewport_px
    x, y = scroll_point(arguments)
    dx, dy = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[arguments["direction"]]
    await session.active.page.mouse.move(*point_px(x, y, session.viewport_px))
    await session.active.page.mouse.wheel(dx * arguments["amount"] * width, dy * arguments["amount"] * height)


async def goto_url(session: ToolSession, arguments: Arguments, before: PageState) -> str | None:
    url = web_address(arguments["url"])
    if (reason := session.forbidden(url)) is not None:
        raise ToolFailed(f"refused: {reason}")
    try:
        response = await session.active.page.goto(url, wait_until="commit")
    except PlaywrightError as error:
        if "Download is starting" in error.message:  # the session notes that it was refused
            return None
        if (reason := session.refusal(url)) is None:
            raise
        raise ToolFailed(f"refused: {reason}") from None
    return f"HTTP {response.status}" if response is not None and response.status >= 400 else None


async def go_back(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    """Go back in the tab's history; without one, close a tab that a page opened and return to the tab before it."""
    history = await session.active.cdp.send("Page.getNavigationHistory")
    if history["currentIndex"] > 0:
        await session.active.page.go_back(wait_until="commit")
    elif len(session.tabs) > 1:
        await session.active.page.close()
    else:
        raise ToolFailed("this tab has no earlier page")


async def _go_forward(session: ToolSession) -> None:
    history = await session.active.cdp.send("Page.getNavigationHistory")
    if history["currentIndex"] + 1 == len(history["entries"]):
        raise ToolFailed("this tab has no later page")
    await session.active.page.go_forward(wait_until="commit")


async def wait(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    await asyncio.sleep(arguments["seconds"])


async def new_tab(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    await session.open_tab()


async def switch_tab(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    index = arguments["index"]
    if index >= len(session.tabs):
        raise ToolFailed(f"there is no tab {index}; tabs are 0 to {len(session.tabs) - 1}")
    await session.focus_tab(session.tabs[index])


async def close_tab(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    if len(session.tabs) == 1:
        raise ToolFailed("this is the only tab")
    await session.active.page.close()


async def done(session: ToolSession, arguments: Arguments, before: PageState) -> None:
    """Do nothing: the session stops here."""


Action = Callable[[ToolSession, Arguments, PageState], Awaitable[str | None]]

ACTIONS: dict[str, Action] = {
    action.__name__: action
    for action in (
        *(click, hover, drag, write, press_keys, scroll, goto_url, go_back),
        *(wait, new_tab, switch_tab, close_tab, done),
    )
}
"""The coroutine of each tool; it returns a note for the feedback, or None."""


def scroll_point(arguments: Arguments) -> tuple[int, int]:
    """Return the point in 0..1000 where a scroll turns the wheel: the given one, or the middle of the viewport."""
    return arguments.get("x", COORDINATE_MAX // 2), arguments.get("y", COORDINATE_MAX // 2)


def probe_point(name: str, arguments: Arguments) -> tuple[int, int] | None:
    """Return the point in 0..1000 whose element the feedback of a tool names, if it has one."""
    if name in ("click", "hover"):
        return arguments["x"], arguments["y"]
    if name == "drag":
        return arguments["x1"], arguments["y1"]
    return scroll_point(arguments) if name == "scroll" else None
