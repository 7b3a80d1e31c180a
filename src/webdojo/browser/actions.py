"""How each of the 13 tools is executed on the active tab.

All contexts of a Chromium share its clipboard, so one session could paste what another one copied. Therefore each
session keeps its own (`Tabs.copied`): copying remembers the selected text, and pasting sends it to the page as a paste
event, or types it if the page does not handle that event.
"""

from __future__ import annotations

import asyncio
import re
from urllib.parse import urlsplit

from playwright.async_api import ElementHandle, Page
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.keys import normalise_keys
from webdojo.browser.page.probe import Element, PageState
from webdojo.browser.page.scripts import script
from webdojo.browser.tab import Tabs
from webdojo.browser.tools import COORDINATE_MAX, ToolFailed
from webdojo.types import ToolCall

_TRAVEL = {"Alt+ArrowLeft": -1, "Alt+ArrowRight": 1}
_COPY = {"controlormeta+c", "controlormeta+insert", "controlormeta+x", "shift+delete"}
_PASTE = {"controlormeta+v", "controlormeta+shift+v", "shift+insert"}

_SELECTED_JS, _PASTE_JS = script("selected.js"), script("paste.js")
_FOCUSED_JS, _CHOOSE_JS = script("focused.js"), script("choose.js")


def point_px(x: int, y: int, viewport_px: tuple[int, int]) -> tuple[int, int]:
    """Convert a point in 0..1000 to CSS pixels; 1000 is the last pixel, still inside the viewport."""
    width, height = viewport_px
    return min(width - 1, round(x * width / COORDINATE_MAX)), min(height - 1, round(y * height / COORDINATE_MAX))


def web_address(text: str) -> str:
    """Complete an address as an address bar would; raise ToolFailed unless it is an http or https address."""
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


def target_px(call: ToolCall, viewport_px: tuple[int, int]) -> tuple[int, int] | None:
    """Return the CSS pixel at which a call begins, and whose element its feedback names, if there is one."""
    if call.name not in ("click", "hover", "drag", "scroll"):
        return None
    given, middle = call.arguments, COORDINATE_MAX // 2
    return point_px(given.get("x", given.get("x1", middle)), given.get("y", given.get("y1", middle)), viewport_px)


async def execute(session: Tabs, call: ToolCall, before: PageState) -> str | None:
    """Execute a call that `tools.check_call` accepts on the active tab, and return a note for its feedback.

    `before` was read at the call's `target_px`. The session makes feedback of ToolFailed and PlaywrightError.
    """
    given, page = call.arguments, session.active.page
    mouse = page.mouse
    x, y = target_px(call, session.viewport_px) or (0, 0)
    match call.name:
        case "click":
            clicks = 2 if given.get("click_type") == "double" else 1
            await mouse.click(x, y, button=given.get("button", "left"), click_count=clicks)
        case "hover":
            await mouse.move(x, y)
        case "drag":
            await mouse.move(x, y)
            await mouse.down()
            # Several moves, because drag handlers start only after the pointer has gone some way.
            await mouse.move(*point_px(given["x2"], given["y2"], session.viewport_px), steps=6)
            await mouse.up()
        case "write":
            await _write(page, given["text"], before.focus)
        case "press_keys":
            return await _press_keys(session, given["keys"])
        case "scroll":
            width, height = session.viewport_px
            dx, dy = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[given["direction"]]
            await mouse.move(x, y)
            await mouse.wheel(dx * given["amount"] * width, dy * given["amount"] * height)
        case "goto_url":
            return await _goto_url(session, given["url"])
        case "go_back":
            await _travel(session, -1)
        case "wait":
            await asyncio.sleep(given["seconds"])
        case "new_tab":
            await session.open_tab()
        case "switch_tab":
            if given["index"] >= len(session.tabs):
                raise ToolFailed(f"there is no tab {given['index']}; tabs are 0 to {len(session.tabs) - 1}")
            session.active = session.tabs[given["index"]]
            await session.active.page.bring_to_front()
        case "close_tab":
            if len(session.tabs) == 1:
                raise ToolFailed("this is the only tab")
            await page.close()
    return None


async def _write(page: Page, text: str, field: Element | None) -> None:
    if field is None:
        raise ToolFailed("no field is focused; click one first")
    if field.tag in ("select", "option"):  # an open list may hand the focus to its options
        chosen = await (await _focused(page)).evaluate(_CHOOSE_JS, text)
        if chosen["options"] is not None:
            raise ToolFailed(f'the list has no option "{text}"; options: {", ".join(chosen["options"])}')
        if chosen["open"]:
            await page.keyboard.press("Escape")
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


async def _press_keys(session: Tabs, keys: list[str]) -> str | None:
    note = None
    for chord in normalise_keys(keys):
        page, name = session.active.page, chord.lower()
        if chord in _TRAVEL:  # these keys go to the browser window, and a headless browser has none
            await _travel(session, _TRAVEL[chord])
        elif name in _PASTE:
            if not session.copied:
                note = "nothing was copied before"
            elif not await page.evaluate(_PASTE_JS, session.copied):
                await page.keyboard.insert_text(session.copied)
        else:
            if name in _COPY:
                session.copied = await page.evaluate(_SELECTED_JS) or session.copied
            await page.keyboard.press(chord)
    return note


async def _goto_url(session: Tabs, address: str) -> str | None:
    url = web_address(address)
    if (reason := session.forbidden(url)) is not None:
        raise ToolFailed(f"refused: {reason}")
    try:
        response = await session.active.page.goto(url, wait_until="commit")
    except PlaywrightError as error:
        if "Download is starting" in error.message:  # the session notes that it was refused
            return None
        if (refused := session.guard.refusal(url)) is None:
            raise
        raise ToolFailed(f"refused: {refused}") from None
    return f"HTTP {response.status}" if response is not None and response.status >= 400 else None


async def _travel(session: Tabs, step: int) -> None:
    """Go back or forward in the tab's history; without a page to go back to, close a tab that a page opened."""
    page = session.active.page
    history = await session.active.cdp.send("Page.getNavigationHistory")
    if 0 <= history["currentIndex"] + step < len(history["entries"]):
        await (page.go_back if step < 0 else page.go_forward)(wait_until="commit")
    elif step < 0 and len(session.tabs) > 1:
        await page.close()
    else:
        raise ToolFailed(f"this tab has no {'earlier' if step < 0 else 'later'} page")
