"""Many isolated sessions on a few Chromium processes.

A session is a browser context: cookies, storage and cache are its own and end with it. `open` gives it to the browser
with the fewest, and takes a place, which is free again when the session has closed, whatever happens in between.
Browsers that died or have hosted enough are replaced. Each has spare sessions, because opening one takes long.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import defaultdict, deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from playwright.async_api import Error as PlaywrightError

from webdojo.browser.chromium import BackgroundTasks, Chromium, first_line
from webdojo.browser.config import (
    HOSTED,
    BrowserConfig,
    StorageState,
    check_storage_state,
    files_to_upload,
    read_storage_state,
)
from webdojo.browser.interface import BLANK
from webdojo.browser.network.guard import Guard
from webdojo.browser.network.proxy import GuardProxy
from webdojo.browser.reach import BACK_OFF_S, check_address, reach
from webdojo.browser.session import BrowserSession
from webdojo.config import with_environment
from webdojo.errors import BrowserError, Failure, StartError
from webdojo.memory import free_memory
from webdojo.types import ImageSink

_BLANK_TAB_S = (10.0, 20.0, 40.0)
"""A blank tab opens in a fraction of a second, or never, if its renderer dies meanwhile. A busy machine takes longer,
so each further try waits twice as long."""
_SESSION_MB = 120
"""Memory that a session on a heavy page may need."""
_MAX_SESSIONS = 64

logger = logging.getLogger(__name__)


def host_flags(hosts: Mapping[str, str]) -> list[str]:
    rules = ", ".join(f"MAP {pattern} {address}" for pattern, address in hosts.items())
    return [f"--host-resolver-rules={rules}"] if rules else []


def browser_count(config: BrowserConfig) -> int:
    """Return the number of Chromium processes: as configured, or one for two cores; one if it runs elsewhere."""
    return 1 if config.cdp_url else config.browsers or max(1, (os.cpu_count() or 1) // 2)


def sessions_per_browser(config: BrowserConfig) -> int:
    """Return how many sessions one Chromium holds: as configured, or its share of the memory that is free now."""
    share = free_memory() / 1e6 / _SESSION_MB / browser_count(config)
    return config.sessions_per_browser or max(1, min(_MAX_SESSIONS, int(share)))


class BrowserPool:
    """Sessions in local browsers; an async context manager.

    Args:
        hosts: host patterns and the addresses that serve them, which the guard does not check, such as
            `{"*.localhost:80": "127.0.0.1:4000"}`.
        for_person: whether a person uses the windows, of whose input pages then get nothing (`person/`).
    """

    def __init__(
        self,
        config: BrowserConfig,
        images: ImageSink,
        hosts: Mapping[str, str] = MappingProxyType({}),
        *,
        for_person: bool = False,
    ) -> None:
        self.browsers: list[Chromium] = []
        """The browsers that run, retiring ones included."""
        self._spares: defaultdict[Chromium, deque[BrowserSession]] = defaultdict(deque)
        self._refilling: set[Chromium] = set()
        self._config = config
        self._images = images
        self._hosts = hosts
        self._for_person = for_person
        self._guard = Guard(config.guard)
        self._proxy = GuardProxy(
            self._guard, with_environment(config.proxy, "browser.proxy"), config.guard.connections_per_second
        )
        self._storage_state = read_storage_state(config.storage_state, "browser.storage_state")
        self._files = files_to_upload(config.uploads)
        self._max_browsers = browser_count(config)
        self.places = self._max_browsers * sessions_per_browser(config)
        """Number of sessions that can be open at once."""
        self._free_places = asyncio.Semaphore(self.places)
        self._starting = asyncio.Lock()
        self._background = BackgroundTasks()
        self._exiting = False

    async def __aenter__(self) -> Self:
        if self._config.cdp_url:
            logger.warning(HOSTED)
        await self._proxy.__aenter__()
        try:
            await self._pick()
        except BaseException:
            await self._proxy.__aexit__()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        self._exiting = True
        await self._background.finish()
        await asyncio.gather(*(browser.close() for browser in self.browsers))
        await self._background.finish()  # a browser may have died meanwhile
        self.browsers.clear()
        await self._proxy.__aexit__(*error)

    async def open(
        self, start_url: str, headers: dict[str, str] | None = None, storage_state: StorageState | None = None
    ) -> BrowserSession:
        """See `interface.Pool.open`; an answer of HTTP 500 or above counts as none."""
        if start_url != BLANK:
            check_address(start_url)
        check_storage_state(storage_state or {}, "storage_state of the visit")
        try:
            async with asyncio.timeout(self._config.acquire_timeout_s):
                await self._free_places.acquire()
        except TimeoutError:
            raise BrowserError(
                f"none of the {self.places} browser sessions became free within {self._config.acquire_timeout_s:g} s "
                "(browser.acquire_timeout_s); raise browser.sessions_per_browser, or lower rollout.concurrency",
                Failure.ACQUIRE_TIMEOUT,
            ) from None
        made: list[BrowserSession] = []
        try:
            async with asyncio.timeout(self._config.start_timeout_s):
                for timeout_s in _BLANK_TAB_S:
                    try:
                        return await self._try(start_url, headers, storage_state, made, timeout_s)
                    except BrowserError as error:
                        mendable = error.failure in (Failure.BROWSER_DIED, Failure.TAB_CRASHED)
                        if not mendable or timeout_s == _BLANK_TAB_S[-1]:
                            raise
                    await asyncio.sleep(BACK_OFF_S)
            raise AssertionError("the last try returns or raises")
        except TimeoutError as error:
            self._free_places.release()
            raise StartError(
                f"{start_url} did not answer within {self._config.start_timeout_s:g} s (browser.start_timeout_s)",
                Failure.START_TIMEOUT,
                made[-1].diagnostics(error) if made else None,
            ) from None
        except BaseException:
            self._free_places.release()
            raise

    async def _try(
        self,
        url: str,
        headers: dict[str, str] | None,
        storage_state: StorageState | None,
        made: list[BrowserSession],
        timeout_s: float,
    ) -> BrowserSession:
        """Open a session at the URL, and append it to `made`; its blank tab must come within `timeout_s`."""
        browser = await self._pick()
        browser.load += 1
        session: BrowserSession | None = None
        try:
            async with asyncio.timeout(timeout_s):
                session = await self._blank_session(browser, storage_state)
                if headers:
                    await session.context.set_extra_http_headers(headers)
            browser.hosted += 1
            self._refill(browser)
            made.append(session)
            if url != BLANK:
                with session.log.timed("start"):
                    async with session.drawing():
                        await reach(session, url, session.settle, session.lost)
        except BaseException as error:
            diagnostics = session.diagnostics(error) if session is not None else {}
            if session is not None:
                await session.close()
            self._session_ended(browser)
            if isinstance(error, BrowserError):
                error.diagnostics = error.diagnostics or diagnostics
            elif isinstance(error, PlaywrightError | TimeoutError):  # mostly a browser that died unnoticed
                reason = first_line(error) if isinstance(error, PlaywrightError) else f"no tab within {timeout_s:g} s"
                raise BrowserError(
                    f"Chromium opened no session for {url}: {reason}", Failure.BROWSER_DIED, diagnostics
                ) from error
            raise

        def closed() -> None:
            self._session_ended(browser)
            self._free_places.release()

        session.begin(closed)
        return session

    async def _blank_session(self, browser: Chromium, storage_state: StorageState | None) -> BrowserSession:
        """Return a session with one blank tab: a spare one, unless it begins with cookies of its own."""
        while storage_state is None and self._spares[browser]:
            session = self._spares[browser].popleft()
            if session.usable:
                return session
            await session.close()
        return await self._new_session(browser, storage_state or self._storage_state)

    async def _new_session(self, browser: Chromium, storage_state: StorageState | None) -> BrowserSession:
        context = await browser.new_context(storage_state)
        session = BrowserSession(context, browser, self._config, self._images, self._guard, storage_state, self._files)
        try:
            await session.open_tab()
        except BaseException:
            browser.background.start(session.close())  # this may take long if the tab never came
            raise
        return session

    def _refill(self, browser: Chromium) -> None:
        """Make spare sessions, but none in somebody else's browser."""
        if not self._config.cdp_url and browser.alive and browser not in self._refilling:
            self._refilling.add(browser)
            browser.background.start(self._make_spares(browser))

    async def _make_spares(self, browser: Chromium) -> None:
        try:
            while len(self._spares[browser]) < self._config.warm_sessions and not browser.retiring:
                self._spares[browser].append(await self._new_session(browser, self._storage_state))
        except (PlaywrightError, BrowserError) as error:
            logger.debug("no spare session: %s", error)  # the caller that needs one makes it, and reports the failure
        finally:
            self._refilling.discard(browser)

    async def _pick(self) -> Chromium:
        """Return the browser for the next session; start another one if all have sessions and the limit allows it."""
        async with self._starting:
            for browser in [each for each in self.browsers if not each.alive]:
                browser.end()  # its end was not reported yet
            ready = [browser for browser in self.browsers if not browser.retiring]
            if len(ready) < self._max_browsers and all(browser.load for browser in ready):
                # Everything except `hosts` goes through the proxy, loopback addresses included.
                proxy = f"--proxy-server=http://127.0.0.1:{self._proxy.port}"
                direct = f"--proxy-bypass-list={';'.join(['<-loopback>', *self._hosts])}"
                flags = [*host_flags(self._hosts), proxy, direct]
                browser = await Chromium.start(self._config, flags, self._lost, self._for_person)
                ready.append(browser)
                self.browsers.append(browser)
                self._refill(browser)
            return min(ready, key=lambda browser: browser.load)

    def _session_ended(self, browser: Chromium) -> None:
        """Count the end of a session, and replace a browser that has hosted enough."""
        browser.load -= 1
        if not self._exiting:
            self._background.start(self._recycle(browser))

    async def _recycle(self, browser: Chromium) -> None:
        limit_mb = self._config.recycle_memory_mb
        if 0 < self._config.recycle_after <= browser.hosted or 0 < limit_mb < await browser.memory_mb():
            browser.retiring = True
        if browser.retiring and browser.load == 0 and browser in self.browsers:
            self._forget(browser)
            await browser.close()

    def _forget(self, browser: Chromium) -> None:
        self.browsers.remove(browser)
        self._spares.pop(browser, None)

    def _lost(self, browser: Chromium) -> None:
        self._forget(browser)
        self._background.start(browser.close())
        if not self._exiting:
            self._background.start(self._replace())

    async def _replace(self) -> None:
        """Start another browser in place of one that died."""
        try:
            await self._pick()
        except BrowserError as error:
            logger.warning("no new Chromium for one that died: %s", error)  # the next `open` tries again, and says so
