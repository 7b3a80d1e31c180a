"""Waiting until a page is ready to be looked at, by events and never by fixed sleeps.

A page is ready when no navigation is under way, the document is loaded (or was parsed a second ago), DOM, layout and
scroll position have been still for `_QUIET_S`, fonts and the images in view are loaded, and neither a data request
(fetch, XHR) nor the next document of a frame is pending. Running animations and slow third parties delay it by at most
`ready_cap_s` after the document is there. Browsers that are started here draw no frame without its images
(`chromium.py`). Browsers that run elsewhere may do so, and there each image is decoded first.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from playwright.async_api import Error as PlaywrightError

from webdojo.browser.config import BrowserConfig
from webdojo.browser.page.scripts import script
from webdojo.browser.tab import Tab

T = TypeVar("T")

_QUIET_S = 0.06
_LOAD_S = 1.0
"""How long to wait for the end of loading; what takes longer is mostly a third party."""

_READY_JS = script("ready.js")


async def settle(tab: Tab, config: BrowserConfig, point_px: tuple[int, int] | None = None) -> dict[str, Any]:
    """Wait until the tab is ready, and return its state as `probe.js` does.

    A navigation that is under way may take as long as the caller's timeout allows; `ready_cap_s` counts from its end.
    """
    document = -1
    deadline = 0.0
    while True:
        await tab.navigated()
        if document != tab.document:
            deadline = time.monotonic() + config.ready_cap_s
        document = tab.document
        left = max(0.0, deadline - time.monotonic())
        try:
            raw: dict[str, Any] = await tab.page.evaluate(
                _READY_JS, [_QUIET_S * 1000, left * 1000, _LOAD_S * 1000, bool(config.cdp_url), point_px]
            )
        except PlaywrightError as error:
            if not is_overtaken(error):
                raise
            continue
        if not (tab.navigating or tab.document != document or await tab.requests_done(deadline)):
            return raw


async def until_read(read: Callable[[], Awaitable[T]], navigated: Callable[[], Awaitable[None]] | None = None) -> T:
    """Return what `read` returns about a page; call it again each time that a new document has come meanwhile.

    `navigated` waits for the end of the navigation before each further call.
    """
    while True:
        try:
            return await read()
        except PlaywrightError as error:
            if not is_overtaken(error):
                raise
        if navigated is not None:
            await navigated()


def is_overtaken(error: PlaywrightError) -> bool:
    """Whether a command failed because a new document replaced the one that it ran in."""
    return "context was destroyed" in error.message or "Not attached to an active page" in error.message
