"""Waiting until a page is ready to be looked at, by events and never by fixed sleeps.

A page is ready when no navigation is under way, the document is loaded (or was parsed a second ago), DOM, layout and
scroll position have been still for `_QUIET_S`, fonts and the images in view are loaded, no short animation, timer,
frame or idle callback is pending, no request for data (fetch, XHR), for a script of the page's host or for the next
document of a frame either, and its scripts have drawn something (or nothing for `_BLANK_S`). Scripts that go on moving
things and slow third parties delay it by at most `ready_cap_s` after the document is there. Browsers that are started
here draw no frame without its images (`chromium.py`). Browsers that run elsewhere may do so, and there each image is
decoded first.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from playwright.async_api import Error as PlaywrightError

from webdojo.browser.config import BrowserConfig
from webdojo.browser.page.probe import PROBE_JS
from webdojo.browser.page.scripts import script
from webdojo.browser.page.world import is_overtaken
from webdojo.browser.tab import Tab

_QUIET_S = 0.06
_LOAD_S = 1.0
"""How long to wait for the end of loading; what takes longer is mostly a third party."""
_ANIMATION_S = 1.0
"""The rest of an animation that is waited for; what takes longer is mostly decoration."""
_TIMER_S = 0.3
"""How long timers that a script has set are waited for."""
_TURNS_S = 1.0
"""How long the frames and idle callbacks that a script has asked for, one after the other, are waited for."""
_BLANK_S = 3.0
"""How old a page with scripts may become before it is taken as one that draws nothing."""
_MOST_DOCUMENTS = 3
"""Waited for one after the other, or more of them in `ready_cap_s`; a page that has gone on so often will not stay."""

_READY_JS, _DRAWN_JS = script("ready.js"), script("drawn.js")


async def settle(tab: Tab, config: BrowserConfig, point_px: tuple[int, int] | None = None) -> Any:
    """Wait until the tab is ready, and return its state as `probe.js` does.

    A navigation that is under way may take as long as the caller's timeout allows; `ready_cap_s` counts from its end.
    A page that goes on to another again and again is taken as it is.
    """
    document, documents, patience = -1, 0, 0.0
    deadline = 0.0
    while True:
        await tab.navigated()
        if document != tab.document:
            deadline = time.monotonic() + config.ready_cap_s
            documents += 1
            patience = patience or deadline
        if documents > _MOST_DOCUMENTS and time.monotonic() > patience:
            return await tab.until_read(lambda: tab.world.call(PROBE_JS, point_px), patience_s=0)
        document = tab.document
        left = max(0.0, deadline - time.monotonic())
        try:
            waits_s = (_QUIET_S, left, _LOAD_S, _ANIMATION_S, _TIMER_S, _TURNS_S, _BLANK_S)
            raw = await tab.world.call(_READY_JS, *(1000 * each for each in waits_s), bool(config.cdp_url), point_px)
            blank_s = min(raw.pop("blankMs") / 1000, deadline - time.monotonic())
            if blank_s > 0 and await _draws(tab, blank_s):
                continue
        except PlaywrightError as error:
            if not is_overtaken(error):
                raise
            continue
        if not (tab.navigating or tab.document != document or await tab.requests_done(deadline)):
            return raw


async def _draws(tab: Tab, limit_s: float) -> bool:
    """Wait for the first thing that the page draws; return whether it came within the limit."""
    try:
        async with asyncio.timeout(limit_s):
            await tab.world.call(_DRAWN_JS)
    except TimeoutError:
        return False
    return True
