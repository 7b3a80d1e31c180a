"""One Chromium process and the sessions in it.

Each `Chromium` has its own Playwright driver, so that a crash takes only its own sessions along. A watchdog kills a
browser that no longer answers, and `close` leaves no process behind, whatever state the processes are in. Spare
sessions are kept ready, because opening one takes longer than using it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, cast

import psutil
from playwright.async_api import Browser, BrowserContext, CDPSession, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.begin_frame import FLAGS, BeginFrames
from webdojo.browser.config import BrowserConfig
from webdojo.browser.find import find_chromium
from webdojo.browser.network.guard import Guard
from webdojo.browser.page.popups import POPUPS_JS
from webdojo.browser.session import BrowserSession, first_line
from webdojo.browser.storage import StorageState
from webdojo.errors import BrowserError, Failure
from webdojo.types import ImageSink

_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-smooth-scrolling",
    # A frame waits for its images, so that none is missing in a screenshot.
    "--disable-checker-imaging",
    # The guard sees only what goes through the proxy.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)

_CHECK_EVERY_S = 5.0
_HANG_S = 20.0
"""A browser that does not report its version within this time hangs; on a loaded machine it takes a second or two."""

logger = logging.getLogger(__name__)


class BackgroundTasks:
    """The running background tasks of one owner; asyncio alone would let them be garbage-collected."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine from now on; its failure is ignored."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Cancel all tasks that run."""
        for task in self._tasks:
            task.cancel()

    async def finish(self) -> None:
        """Wait until no task runs, including tasks that others start meanwhile."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


@dataclass(frozen=True)
class LaunchOptions:
    """What every browser of a pool is started with."""

    config: BrowserConfig
    images: ImageSink
    guard: Guard
    flags: Sequence[str]
    storage_state: StorageState | None


class Chromium:
    """A running browser; `Chromium.start` makes one."""

    def __init__(
        self, playwright: Playwright, browser: Browser, options: LaunchOptions, on_end: Callable[[Chromium], None]
    ) -> None:
        self.load = 0
        """Number of sessions that are open or about to be; the pool counts them."""
        self.hosted = 0
        """Number of sessions that it has handed out so far."""
        self.retiring = False
        """Whether it takes no more sessions."""
        self._playwright = playwright
        self._browser = browser
        self._options = options
        self._on_end = on_end
        self._began = time.monotonic()
        self._cdp: CDPSession
        self._frames: BeginFrames | None = None
        self._making_context = asyncio.Lock()
        self._processes: list[psutil.Process] = []
        """The main process of the browser and the driver above it; empty for a browser that runs elsewhere."""
        self._spare: deque[BrowserSession] = deque()
        self._background = BackgroundTasks()
        self._refilling = False
        self._ended = False

    @classmethod
    async def start(cls, options: LaunchOptions, on_end: Callable[[Chromium], None]) -> Chromium:
        """Start a browser, or attach to the one at `cdp_url`.

        Args:
            on_end: called once when the browser has died or was killed because it hung, but not after `close`.

        Raises:
            BrowserError: no browser can be started or reached.
        """
        on_demand = options.config.capture == "begin_frame" and not options.config.cdp_url
        self = await cls._started(options, on_end, FLAGS if on_demand else ())
        if on_demand and not await self._draws_on_demand():
            logger.warning("this Chromium cannot draw on demand (browser.capture: begin_frame): it takes screenshots")
            await self.close()
            self = await cls._started(options, on_end, ())
        self._browser.on("disconnected", lambda _: self._end())
        self._background.start(self._watch())
        self._refill()
        return self

    @classmethod
    async def _started(
        cls, options: LaunchOptions, on_end: Callable[[Chromium], None], flags: Sequence[str]
    ) -> Chromium:
        playwright = await async_playwright().start()
        try:
            browser = await (
                _attach(playwright, options) if options.config.cdp_url else _launch(playwright, options, flags)
            )
            self = cls(playwright, browser, options, on_end)
            self._cdp = await browser.new_browser_cdp_session()
            if not options.config.cdp_url:
                self._processes = await _processes(self._cdp)
        except PlaywrightError as error:
            await playwright.stop()
            raise BrowserError(f"Chromium died while it started: {first_line(error)}", Failure.BROWSER_DIED) from error
        except BaseException:
            await playwright.stop()
            raise
        return self

    async def _draws_on_demand(self) -> bool:
        self._frames = BeginFrames(self._cdp, self._end)
        try:
            context = await self._new_context()
            works = await self._frames.works(context)
            await context.close()
        except PlaywrightError:
            return False
        except BaseException:
            await self.close()
            raise
        return works

    @property
    def alive(self) -> bool:
        return not self._ended and self._browser.is_connected()

    def retire(self) -> None:
        """Take no more sessions, because it has hosted enough or one of them would not close."""
        self.retiring = True

    async def session(self, headers: dict[str, str], storage_state: StorageState | None = None) -> BrowserSession:
        """Return a session with one blank tab that sends `headers` with every request.

        Args:
            storage_state: cookies and local storage to begin with, instead of the pool's.

        Raises:
            PlaywrightError: Chromium opens no session.
        """
        spare = await self._take() if storage_state is None else None
        session = spare if spare is not None else await self._new_session(storage_state)
        try:
            if headers:
                await session.send_headers(headers)
        except BaseException:
            await session.close()
            raise
        self.hosted += 1
        self._refill()
        return session

    async def memory_mb(self) -> float:
        """Return the private memory of all its processes in MB; 0 for a browser that runs elsewhere."""
        return await asyncio.to_thread(_private_mb, self._processes)

    def record(self) -> dict[str, Any]:
        """Return its part of a session's diagnostics: `alive`, `uptime_s`, `open`, `hosted` sessions, `memory_mb`."""
        return {
            "alive": self.alive,
            "uptime_s": round(time.monotonic() - self._began, 1),
            "open": self.load,
            "hosted": self.hosted,
            "memory_mb": round(_private_mb(self._processes), 1),
        }

    async def close(self) -> None:
        """End the browser with all its sessions; processes that do not exit within `exit_timeout_s` are killed."""
        self._ended = True
        self._background.cancel()
        timeout_s = self._options.config.exit_timeout_s
        family = await asyncio.to_thread(_family, self._processes)
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._browser.close()
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._playwright.stop()
        await asyncio.to_thread(_kill, family)
        self._background.cancel()  # tasks that were started while the first ones ended
        await self._background.finish()

    async def _take(self) -> BrowserSession | None:
        while self._spare:
            session = self._spare.popleft()
            if session.usable:
                return session
            await session.close()
        return None

    async def _new_session(self, storage_state: StorageState | None = None) -> BrowserSession:
        creating = asyncio.ensure_future(self._new_context(storage_state))
        try:
            context = await asyncio.shield(creating)
        except asyncio.CancelledError:  # Chromium makes the context all the same
            self._background.start(_discard(creating))
            raise
        session = BrowserSession(
            context, self._options.config, self._options.images, self._options.guard, self, self._frames
        )
        try:
            await context.add_init_script(POPUPS_JS)
            await session.open_tab()
        except BaseException:
            self._background.start(session.close())  # this may take long if the tab never came
            raise
        return session

    async def _new_context(self, storage_state: StorageState | None = None) -> BrowserContext:
        if self._frames is None:
            return await self._bare_context(storage_state)
        async with self._making_context:
            before = await self._frames.contexts()
            context = await self._bare_context(storage_state)
            await self._frames.register(context, before)
            return context

    async def _bare_context(self, storage_state: StorageState | None) -> BrowserContext:
        config = self._options.config
        width, height = config.viewport_px
        return await self._browser.new_context(
            viewport={"width": width, "height": height},
            device_scale_factor=1,
            accept_downloads=False,
            locale=config.locale,
            timezone_id=config.timezone or None,
            user_agent=config.user_agent or None,
            storage_state=cast("Any", storage_state or self._options.storage_state),
        )

    def _refill(self) -> None:
        if self._options.config.cdp_url:
            return  # in somebody else's browser nothing is kept in reserve
        if not self._refilling and not self.retiring and not self._ended:
            self._refilling = True
            self._background.start(self._make_spares())

    async def _make_spares(self) -> None:
        try:
            while len(self._spare) < self._options.config.warm_sessions and not self.retiring:
                self._spare.append(await self._new_session())
        except (PlaywrightError, BrowserError) as error:
            logger.debug("no spare session: %s", error)  # the caller that needs one makes it, and reports the failure
        finally:
            self._refilling = False

    async def _watch(self) -> None:
        """Kill the browser when it stops answering."""
        reason = f"it did not answer for {_HANG_S:g} s"
        with contextlib.suppress(TimeoutError):
            while True:
                await asyncio.sleep(_CHECK_EVERY_S)
                try:
                    async with asyncio.timeout(_HANG_S):
                        await self._cdp.send("Browser.getVersion")
                except PlaywrightError as error:
                    reason = first_line(error)
                    break
        if not self._ended:
            logger.warning("ending a Chromium: %s", reason)
            self._end()

    def _end(self) -> None:
        """Kill what is left of a lost browser, and report it."""
        if self._ended:
            return
        self._ended = True
        _kill(_family(self._processes[:1]))  # the driver ends when `close` is called
        self._on_end(self)


async def _launch(playwright: Playwright, options: LaunchOptions, flags: Sequence[str]) -> Browser:
    config = options.config
    executable = find_chromium(config)

    async def launch(sandbox: bool) -> Browser:
        return await playwright.chromium.launch(
            executable_path=executable,
            headless=config.headless,
            chromium_sandbox=sandbox,
            # Ctrl+C reaches the whole process group; Python ends the browser in order.
            handle_sigint=False,
            args=[*_FLAGS, *options.flags, *flags],
            timeout=config.start_timeout_s * 1000,
        )

    sandbox = os.geteuid() != 0  # Chromium refuses to sandbox root
    try:
        try:
            return await launch(sandbox)
        except PlaywrightError as error:
            # Containers and some distributions forbid the namespaces that the sandbox needs.
            if not sandbox or "sandbox" not in error.message.lower():
                raise
            return await launch(False)
    except PlaywrightError as error:
        raise BrowserError(
            f"{executable} did not start: {first_line(error)}; "
            f"see what `{executable} --headless --dump-dom about:blank` says"
        ) from None


async def _attach(playwright: Playwright, options: LaunchOptions) -> Browser:
    config = options.config
    try:
        return await playwright.chromium.connect_over_cdp(config.cdp_url, timeout=config.start_timeout_s * 1000)
    except PlaywrightError as error:
        raise BrowserError(
            f"no browser at browser.cdp_url {config.cdp_url!r}: {first_line(error)}; start one with "
            "--remote-debugging-port, or leave the key out"
        ) from None


async def _discard(creating: asyncio.Future[BrowserContext]) -> None:
    with contextlib.suppress(PlaywrightError):
        await (await creating).close()


async def _processes(cdp: CDPSession) -> list[psutil.Process]:
    """Return the main process of a browser on this machine, then the processes between it and ours: the driver."""
    info = await cdp.send("SystemInfo.getProcessInfo")
    (pid,) = [process["id"] for process in info["processInfo"] if process["type"] == "browser"]
    main = psutil.Process(pid)
    between = itertools.takewhile(lambda process: process.pid != os.getpid(), main.parents())
    return [main, *between]


def _family(processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    """Return the processes and all their descendants that are alive."""
    found: dict[int, psutil.Process] = {}
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            found |= {each.pid: each for each in (process, *process.children(recursive=True))}
    return list(found.values())


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):  # psutil checks that the pid was not reused
            process.kill()


def _private_mb(processes: Sequence[psutil.Process]) -> float:
    total = 0
    for process in _family(processes):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            total += process.memory_full_info().uss
    return total / 1e6
