"""How each of the 13 tools is executed on the active tab.

All contexts of a Chromium share its clipboard, so one session could paste what another one copied. Therefore each
session keeps its own (`Tabs.copied`). `clipboard.js` keeps pages from the shared one and tells what they copy and when
keys ask to paste; pasting sends the text to the page as a paste event, or types it if the page does not handle that.
"""

from __future__ import annotations

import asyncio
import mimetypes
import re
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import FileChooser, FilePayload, Response

from webdojo.browser.keys import normalise_keys
from webdojo.browser.page.probe import Element, PageState
from webdojo.browser.page.scripts import script
from webdojo.browser.tab import MOST_TABS, Tab, Tabs
from webdojo.browser.tools import COORDINATE_MAX, ToolFailed
from webdojo.types import ToolCall

_OPENINGS = 3
"""How often an address is opened whose page another one takes the place of."""
_TRAVEL = {"Alt+ArrowLeft": -1, "Alt+ArrowRight": 1}
_RELOAD = {"f5", "controlormeta+f5", "controlormeta+r", "controlormeta+shift+r"}

LEAVE_JS, _PASTE_JS = script("leave.js"), script("paste.js")
_FILL_JS, _CHOOSE_JS = script("fill.js"), script("choose.js")


def point_px(x: int, y: int, viewport_px: tuple[int, int]) -> tuple[int, int]:
    """Convert a point in 0..1000 to CSS pixels; 1000 is the last pixel, still inside the viewport."""
    width, height = viewport_px
    return min(width - 1, round(x * width / COORDINATE_MAX)), min(height - 1, round(y * height / COORDINATE_MAX))


def point_1000(x_px: float, y_px: float, viewport_px: tuple[int, int]) -> tuple[int, int]:
    """Convert a CSS pixel to the nearest point in 0..1000."""
    (x, y), (width, height) = (x_px, y_px), viewport_px
    return (
        min(max(0, round(x * COORDINATE_MAX / width)), COORDINATE_MAX),
        min(max(0, round(y * COORDINATE_MAX / height)), COORDINATE_MAX),
    )


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
    if call.name not in ("write", "wait"):  # what else is done leaves the page without the file that it asks for
        session.active.chooser = None
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
            if before.offer and session.active.chooser is not None:
                await _upload(session, session.active.chooser, given["text"])
            else:
                await _write(session.active, given["text"], before.focus)
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
            if len(session.tabs) >= MOST_TABS:
                raise ToolFailed(f"{MOST_TABS} tabs are open: close one first")
            await session.open_tab()
        case "switch_tab":
            if given["index"] >= len(session.tabs):
                raise ToolFailed(f"there is no tab {given['index']}; tabs are 0 to {len(session.tabs) - 1}")
            session.choose(session.tabs[given["index"]])
            await session.active.page.bring_to_front()
        case "close_tab":
            if len(session.tabs) == 1:
                raise ToolFailed("this is the only tab")
            await page.close()
    return None


async def _write(tab: Tab, text: str, field: Element | None) -> None:
    keyboard = tab.page.keyboard
    if field is None:
        raise ToolFailed("no field is focused; click one first")
    if field.tag in ("select", "option"):  # an open list may hand the focus to its options
        chosen = await tab.world.call(_CHOOSE_JS, text)
        if chosen is None:
            raise ToolFailed("the focus moved away")
        if chosen["options"] is not None:
            raise ToolFailed(f'the list has no option "{text}"; options: {", ".join(chosen["options"])}')
        if chosen["open"]:
            await keyboard.press("Escape")
        return
    if not field.editable:
        raise ToolFailed(f"the focused <{field.tag}> takes no text; click a text field first")
    if field.editable == "fill":
        took = await tab.world.call(_FILL_JS, text)
        if took is None:
            raise ToolFailed("the focus moved away")
        if not took:
            hint = f"; it takes values like {field.takes}" if field.takes else ""
            raise ToolFailed(f'"{text}" does not fit the field{hint}')
        return
    await keyboard.press("ControlOrMeta+a")
    if not text:
        await keyboard.press("Delete")
        return
    if 0 < field.maxlength < len(text):  # such fields hand the focus on, a character a field
        await keyboard.type(text)
        return
    # One input event for the bulk and real keys for the last character: suggestion lists that
    # listen to keys wake up, and long texts do not cost two round trips a character.
    if text[:-1]:
        await keyboard.insert_text(text[:-1])
    await keyboard.type(text[-1])


async def _upload(session: Tabs, chooser: FileChooser, text: str) -> None:
    """Give the page the files that a text names, one in each line."""
    names = [line.strip() for line in text.strip().splitlines()] or [""]
    for name in names:
        if name not in session.files:
            raise ToolFailed(f'there is no file "{name}" for the page; files: {", ".join(session.files)}')
    if len(names) > 1 and not chooser.is_multiple():
        raise ToolFailed("the page takes one file")
    session.active.chooser = None
    files: list[FilePayload] = [
        {
            "name": name,
            "mimeType": mimetypes.guess_type(name)[0] or "application/octet-stream",
            "buffer": await asyncio.to_thread(session.files[name].read_bytes),
        }
        for name in names
    ]
    await chooser.set_files(files)  # as bytes, because the browser may run elsewhere


async def _press_keys(session: Tabs, keys: list[str]) -> str | None:
    note = None
    for chord in normalise_keys(keys):
        page, name = session.active.page, chord.lower()
        if chord in _TRAVEL:  # these keys go to the browser window, and a headless browser has none
            await _travel(session, _TRAVEL[chord])
        elif name in _RELOAD:
            await page.reload(wait_until="commit")
        elif not chord.isascii():  # it has no key, and input methods insert it
            await page.keyboard.insert_text(chord)
        elif name != "escape" or not await session.active.world.call(LEAVE_JS):
            await page.keyboard.press(chord)
            if "+" in chord:
                note = await _paste_if_asked(session) or note
    return note


async def _paste_if_asked(session: Tabs) -> str | None:
    """Paste what this session has copied, if the keys just pressed ask a browser to paste."""
    tab = session.active
    with suppress(PlaywrightError):  # the keys may have left the page
        await tab.world.call("() => {}")  # after its answer it is known whether they did
    if not session.pasting:
        return None
    session.pasting = False
    if not session.copied:
        return "nothing was copied before"
    if not await tab.world.call(_PASTE_JS, session.copied):
        await tab.page.keyboard.insert_text(session.copied)
    return None


async def _goto_url(session: Tabs, address: str) -> str | None:
    url = web_address(address)
    if (reason := session.forbidden(url)) is not None:
        raise ToolFailed(f"refused: {reason}")
    try:
        response = await _open(session.active, url)
    except PlaywrightError as error:
        if "Download is starting" in error.message:  # the session notes that it was refused
            return None
        await session.active.navigated()  # to the error page of the address that failed, after any redirects
        if why := session.guard.why_failed(session.active.failed_url or url):
            raise ToolFailed(why) from None
        raise
    return f"HTTP {response.status}" if response is not None and response.status >= 400 else None


async def _open(tab: Tab, url: str) -> Response | None:
    """Open an address, and open it again where the page that is left goes elsewhere before it is gone."""
    begun = 0
    events = ("Page.frameRequestedNavigation", "Page.frameStartedNavigating")  # by the page, and by anybody

    def count(event: dict[str, Any]) -> None:
        nonlocal begun
        begun += tab.is_main(event) and tab.document == left

    for name in events:
        tab.cdp.on(name, count)
    try:
        for tries_left in reversed(range(_OPENINGS)):
            begun, left = 0, tab.document
            try:
                response = await tab.page.goto(url, wait_until="commit")
            except PlaywrightError as error:
                interrupted = "interrupted by another navigation" in error.message
                if interrupted and tab.page.url == url:  # Playwright took its own page for the other's
                    return None
                if not (tries_left and (begun > 1 or interrupted)):
                    raise
            else:
                if begun < 2:
                    break
        return response
    finally:
        for name in events:
            tab.cdp.remove_listener(name, count)


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
