"""Bringing the active tab to an address that an episode depends on: its start page, or a page that its judge looks at.

The guard holds as for the agent's own navigation. An answer of HTTP 500 or above counts as none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from webdojo.browser.chromium import first_line
from webdojo.browser.network.guard import Refused
from webdojo.browser.tab import Tabs
from webdojo.errors import BrowserError, Failure, StartError

BACK_OFF_S = 0.2
_PERMANENT = ("ERR_UNSAFE_PORT", "ERR_TOO_MANY_REDIRECTS", "ERR_CERT_", "ERR_SSL_", "ERR_INVALID_")
"""Network errors that another try does not mend."""


def check_address(url: str) -> None:
    """Raise StartError unless it is an http or https address with a host."""
    try:
        parts = urlsplit(url)
        names_host, _ = bool(parts.hostname), parts.port
    except ValueError as error:
        raise StartError(f"{url!r} is no address: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise StartError(f"{url!r} is not opened: only http and https addresses are", Failure.START_REFUSED)
    if not names_host:
        raise StartError(f"{url!r} names no host")


async def reach(
    tabs: Tabs, url: str, settle: Callable[[], Awaitable[object]], lost: Callable[[Exception], BrowserError | None]
) -> None:
    """Open an address in the active tab and wait until it is ready, with `browser.navigation_retries` further tries.

    Args:
        settle: waits until the tab is ready.
        lost: what an error says of the session, if that cannot go on (`BrowserSession.lost`).

    Raises:
        StartError: the guard refuses the address, or it does not answer.
        BrowserError: the browser is lost.
    """
    config = tabs.config
    _not_refused(url, tabs.forbidden(url))
    reason = ""
    for attempt in range(config.navigation_retries + 1):
        if attempt:
            await asyncio.sleep(BACK_OFF_S * 2 ** (attempt - 1))
        try:
            async with asyncio.timeout(config.navigation_timeout_s):
                response = await tabs.page.goto(url, wait_until="commit", timeout=0)
            if response is None or response.status < 500:
                await settle()
                # "Back" must not lead to the blank page that every tab begins with.
                await tabs.active.cdp.send("Page.resetNavigationHistory")
                return
            reason = f"it answered HTTP {response.status}"
        except TimeoutError:
            reason = f"no answer within {config.navigation_timeout_s:g} s (browser.navigation_timeout_s)"
            await tabs.active.cdp.send("Page.stopLoading")
        except PlaywrightError as error:
            if (gone := lost(error)) is not None:
                raise gone from error
            await tabs.active.navigated()  # to the error page of the address that failed, after any redirects
            failed_url = tabs.active.failed_url or url
            _not_refused(url, tabs.guard.refusal(failed_url))
            reason = tabs.guard.why_failed(failed_url) or first_line(error)
            if any(name in reason for name in _PERMANENT):
                raise StartError(f"cannot open {url}: {reason}") from None
    raise StartError(f"cannot open {url}: {reason} ({config.navigation_retries + 1} tries)")


def _not_refused(url: str, refused: Refused | None) -> None:
    if refused is not None:
        raise StartError(f"{url} is not opened: {refused} ({refused.setting})", Failure.START_REFUSED)
