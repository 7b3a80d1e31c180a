"""One Chromium process that hosts many isolated sessions.

A session is a browser context: cookies, storage and cache are its own and end with it. The pool
starts the browser when it is entered, starts it anew before the next `open()` where it has died,
and leaves no process behind when it is left.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Self

from playwright.async_api import Browser, Playwright, StorageState, async_playwright
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.find import find_chromium
from webdojo.browser.guard import Guard
from webdojo.browser.proxy import GuardProxy
from webdojo.browser.session import BrowserSession, first_line
from webdojo.config import BrowserConfig
from webdojo.errors import BrowserError, ConfigError, StartError
from webdojo.types import ImageSink

_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-smooth-scrolling",
    # What does not go through the proxy does not pass the guard.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)

_BACK_OFF_S = 0.2

_CLOSE_TIMEOUT_S = 10.0

_SELECT_JS = """(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`select:not([multiple]):not([size]), ::picker(select) { appearance: base-select !important }`);
  document.adoptedStyleSheets.push(sheet);
})()"""
"""Chromium draws a native drop-down outside the page, where synthetic clicks cannot reach it; drawn
inside the page its options can be seen and clicked."""


def host_flags(hosts: Mapping[str, str]) -> list[str]:
    """Flags that make Chromium find host patterns at other addresses."""
    rules = ", ".join(f"MAP {pattern} {address}" for pattern, address in hosts.items())
    return [f"--host-resolver-rules={rules}"] if rules else []


def read_storage_state(file: str) -> StorageState | None:
    """What `browser.storage_state` names; None where it is empty.

    Raises:
        ConfigError: no such file, or not what Playwright writes.
    """
    if not file:
        return None
    try:
        state: StorageState = json.loads(Path(file).read_text())
        well_formed = isinstance(state, dict) and {"cookies", "origins"} & state.keys()
    except (OSError, ValueError) as error:
        raise ConfigError(f"browser.storage_state {file!r} cannot be read: {' '.join(str(error).split())}") from None
    if not well_formed:
        raise ConfigError(f"browser.storage_state {file!r} has no 'cookies' and no 'origins': save one with Playwright")
    return state


class BrowserPool:
    """Sessions in one browser. Use as an async context manager.

    Args:
        config: the recipe's browser section.
        images: where screenshots are put.
        hosts: host patterns and where their pages are served, past the guard: `{"*.localhost:80": "127.0.0.1:4000"}`.

    Raises:
        ConfigError: the recipe's guard section, proxy or storage state is wrong.
    """

    def __init__(
        self, config: BrowserConfig, images: ImageSink, hosts: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._config = config
        self._images = images
        self._hosts = hosts
        self._guard = Guard(config.guard)
        self._proxy = GuardProxy(self._guard, config.proxy)
        self._storage_state = read_storage_state(config.storage_state)
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self._proxy.__aenter__()
        try:
            await self._live_browser()
        except BaseException:
            await self._proxy.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stop()
        await self._proxy.__aexit__(*error)

    async def open(self, start_url: str, headers: dict[str, str] | None = None) -> BrowserSession:
        """Open a fresh session at a URL, ready to be observed.

        Args:
            start_url: an http or https address.
            headers: sent with every request of this session.

        Raises:
            StartError: the guard refuses the URL, or it does not answer, or answers with HTTP 500 or above, after
                `navigation_retries` further tries.
            BrowserError: Chromium cannot be started, or opens no session.
        """
        try:
            async with asyncio.timeout(self._config.start_timeout_s):
                return await self._open(start_url, headers or {})
        except TimeoutError:
            raise StartError(
                f"{start_url} did not answer within {self._config.start_timeout_s:g} s (browser.start_timeout_s)"
            ) from None

    async def _open(self, start_url: str, headers: dict[str, str]) -> BrowserSession:
        try:
            session = await self._session(headers)
        except PlaywrightError:  # mostly a browser whose death is noticed only now
            await asyncio.sleep(_BACK_OFF_S)
            try:
                session = await self._session(headers)
            except PlaywrightError as error:
                raise BrowserError(f"Chromium opened no session for {start_url}: {first_line(error)}") from error
        try:
            await self._reach(session, start_url)
        except BaseException:
            await session.close()
            raise
        return session

    async def _session(self, headers: dict[str, str]) -> BrowserSession:
        browser = await self._live_browser()
        width, height = self._config.viewport_px
        creating = asyncio.ensure_future(
            browser.new_context(
                viewport={"width": width, "height": height},
                device_scale_factor=1,
                extra_http_headers=headers,
                accept_downloads=False,
                locale=self._config.locale,
                timezone_id=self._config.timezone or None,
                user_agent=self._config.user_agent or None,
                storage_state=self._storage_state,
            )
        )
        try:
            context = await asyncio.shield(creating)
        except asyncio.CancelledError:  # Chromium makes it all the same
            await (await creating).close()
            raise
        session = BrowserSession(context, self._config, self._images, self._guard)
        try:
            await context.add_init_script(_SELECT_JS)
            await session.open_tab()
        except BaseException:
            await session.close()
            raise
        return session

    async def _reach(self, session: BrowserSession, url: str) -> None:
        _not_refused(url, session.forbidden(url))
        reason = ""
        for attempt in range(self._config.navigation_retries + 1):
            if attempt:
                await asyncio.sleep(_BACK_OFF_S * 2 ** (attempt - 1))
            try:
                response = await session.page.goto(url, wait_until="commit", timeout=0)
                _not_refused(url, self._guard.refusal(url))
                if response is None or response.status < 500:
                    await session.settle()
                    # "Back" must not lead to the blank page that every tab begins with.
                    await session.active.cdp.send("Page.resetNavigationHistory")
                    return
                unreachable = self._guard.unreachable(url) if response.status == 502 else None
                reason = unreachable or f"it answered HTTP {response.status}"
            except PlaywrightError as error:
                browser = self._browser
                if browser is None or not browser.is_connected():
                    raise BrowserError(f"the browser died while opening {url}: {first_line(error)}") from error
                _not_refused(url, self._guard.refusal(url))
                reason = first_line(error)
        raise StartError(f"cannot open {url}: {reason} ({self._config.navigation_retries + 1} tries)")

    async def _live_browser(self) -> Browser:
        """The running browser; a new one where none runs. One that is connected is never replaced,
        because other sessions live in it."""
        async with self._starting:
            browser = self._browser
            if browser is None or not browser.is_connected():
                await self._stop()
                browser = self._browser = await self._start()
            return browser

    async def _start(self) -> Browser:
        if self._config.cdp_url:
            return await self._attach()
        executable = find_chromium(self._config)
        self._playwright = await async_playwright().start()
        sandbox = os.geteuid() != 0  # Chromium refuses to sandbox root
        try:
            try:
                return await self._launch(self._playwright, executable, sandbox)
            except PlaywrightError as error:
                # Containers and some distributions forbid the namespaces that it needs.
                if not sandbox or "sandbox" not in error.message.lower():
                    raise
                return await self._launch(self._playwright, executable, False)
        except PlaywrightError as error:
            await self._stop()
            raise BrowserError(
                f"{executable} did not start: {first_line(error)}; "
                f"see what `{executable} --headless --dump-dom about:blank` says"
            ) from None

    async def _attach(self) -> Browser:
        """Use the browser at `cdp_url`."""
        self._playwright = await async_playwright().start()
        try:
            return await self._playwright.chromium.connect_over_cdp(
                self._config.cdp_url, timeout=self._config.start_timeout_s * 1000
            )
        except PlaywrightError as error:
            await self._stop()
            raise BrowserError(
                f"no browser at browser.cdp_url {self._config.cdp_url!r}: {first_line(error)}; start one with "
                "--remote-debugging-port, or leave the key out"
            ) from None

    async def _launch(self, playwright: Playwright, executable: str, sandbox: bool) -> Browser:
        return await playwright.chromium.launch(
            executable_path=executable,
            headless=self._config.headless,
            chromium_sandbox=sandbox,
            # Ctrl+C reaches the whole process group: let Python end the browser in its own order.
            handle_sigint=False,
            args=[*_FLAGS, *host_flags(self._hosts), *self._proxy_flags()],
            timeout=self._config.start_timeout_s * 1000,
        )

    def _proxy_flags(self) -> list[str]:
        """All through the proxy, this machine's own addresses too, except `hosts`."""
        direct = ";".join(["<-loopback>", *self._hosts])
        return [f"--proxy-server=http://127.0.0.1:{self._proxy.port}", f"--proxy-bypass-list={direct}"]

    async def _stop(self) -> None:
        browser, playwright = self._browser, self._playwright
        self._browser = self._playwright = None
        if browser is not None and browser.is_connected():
            try:
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await browser.close()
            except (PlaywrightError, TimeoutError):
                pass  # the driver kills what it started when it stops
        if playwright is not None:
            await playwright.stop()


def _not_refused(url: str, reason: str | None) -> None:
    """Raise StartError where the guard has a reason against a start URL."""
    if reason is not None:
        raise StartError(f"{url} is not opened: {reason} (browser.guard)")
