"""One Chromium process: which program to run, its start, its watch and its end.

Each `Chromium` has its own Playwright driver, so that a crash takes only its own sessions along. A watchdog kills a
browser that no longer answers, and `close` leaves no process behind, whatever state the processes are in.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, cast

import psutil
from playwright.async_api import Browser, BrowserContext, CDPSession, Playwright
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.begin_frame import FLAGS, BeginFrames
from webdojo.browser.config import BrowserConfig, StorageState
from webdojo.browser.driver import Driver
from webdojo.browser.page.scripts import script
from webdojo.config import with_environment
from webdojo.errors import BrowserError, Failure

_INIT_JS = ";\n".join(map(script, ("popups.js", "clipboard.js", "timers.js")))
_PERSON_JS = script("person.js")
_DISABLED_FEATURES = (
    "RenderDocument",  # a new frame for each page of a site: a third of the work of loading a small one
    # Those that Playwright 1.59 to 1.65 disable themselves: of two such switches Chromium obeys the last alone.
    "AimEnabled",
    "AutoDeElevate",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "BoundaryEventDispatchTracksNodeRemoval",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "TcpPortRandomizationWin",
    "ThirdPartyStoragePartitioning",
    "Translate",
    "msEdgeUpdateLaunchServicesPreferredVersion",
    "msForceBrowserSignIn",
)
_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-smooth-scrolling",
    "--hide-scrollbars",  # so that a page is as wide in a window as without one
    # A frame waits for its images, so that none is missing in a screenshot.
    "--disable-checker-imaging",
    # The guard sees only what goes through the proxy.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    f"--disable-features={','.join(_DISABLED_FEATURES)}",
)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_MAC_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_HOW_TO_INSTALL = (
    "install one with `apt-get install chromium-headless-shell` or `python -m playwright install chromium`"
)
_HOW_TO_INSTALL_WINDOWS = _HOW_TO_INSTALL.replace("-headless-shell", "")

EXIT_TIMEOUT_S = 15.0
"""Closing a session, or a browser, which is killed then (OpenWebRL Table 7)."""
_CHECK_EVERY_S = 5.0
_HANG_S = 20.0
"""A browser that does not report its version within this time hangs; on a loaded machine it takes a second or two."""

logger = logging.getLogger(__name__)


class BackgroundTasks:
    """The running background tasks of one owner; asyncio alone would let them be garbage-collected."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine, whose failure is ignored."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def finish(self) -> None:
        """Wait until no task runs, including tasks that others start meanwhile."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


class Chromium:
    """A running browser; `Chromium.start` makes one."""

    def __init__(
        self, driver: Driver, config: BrowserConfig, on_end: Callable[[Chromium], None], for_person: bool
    ) -> None:
        self.load = 0
        """Number of sessions that are open or about to be; the pool counts them."""
        self.hosted = 0
        """Number of sessions that it has had so far; the pool counts them too."""
        self.retiring = False
        """Whether it takes no more sessions, because it has hosted enough or one of them would not close."""
        self.frames: BeginFrames | None = None
        """Draws its pages, if they are drawn on demand."""
        self.background = BackgroundTasks()
        """Tasks that end with it."""
        self._config = config
        self._on_end = on_end
        self._init_js = f"{_PERSON_JS};\n{_INIT_JS}" if for_person else _INIT_JS
        self._began = time.monotonic()
        self._browser: Browser
        self._cdp: CDPSession
        self._making_context = asyncio.Lock()
        self._exits: list[Callable[[], Awaitable[None]]] = [driver.stop]
        self._processes: list[psutil.Process] = []
        """The main process of the browser and the driver above it; empty for a browser that runs elsewhere."""
        self._profile: Path | None = None
        """The temporary folder that the driver has made for it."""
        self._ended = False

    @classmethod
    async def start(
        cls, config: BrowserConfig, flags: Sequence[str], on_end: Callable[[Chromium], None], for_person: bool = False
    ) -> Chromium:
        """Start a browser, or attach to the one at `cdp_url`; raise BrowserError if that fails.

        `on_end` is called once when the browser has died or was killed because it hung, but not after `close`.
        `for_person` keeps what a person does in its windows from their pages (`person/`).
        """
        driver = await Driver.start()
        self = cls(driver, config, on_end, for_person)
        on_demand = config.capture == "begin_frame" and not config.cdp_url
        try:
            if config.debugging_port:
                flags = (*flags, "--remote-debugging-port=0")
            self._browser = await _browser(driver.playwright, config, (*flags, *FLAGS) if on_demand else flags)
            self._exits.insert(0, self._browser.close)
            self._cdp = await self._browser.new_browser_cdp_session()
            if not config.cdp_url:
                self._processes = await _processes(self._cdp)
                self._profile = _profile(self._processes[0])
            works = not on_demand or await self._draws_on_demand()
        except PlaywrightError as error:
            await self.close()
            raise BrowserError(f"Chromium died while it started: {first_line(error)}", Failure.BROWSER_DIED) from error
        except BaseException:
            await self.close()
            raise
        if not works:
            logger.warning("this Chromium cannot draw on demand (browser.capture: begin_frame): it takes screenshots")
            await self.close()
            return await cls.start(config.model_copy(update={"capture": "screenshot"}), flags, on_end, for_person)
        self._browser.on("disconnected", lambda _: self.end())
        self.background.start(self._watch())
        return self

    async def _draws_on_demand(self) -> bool:
        self.frames = BeginFrames(self._cdp, self.end)
        try:
            context = await self.new_context(None)
            works = await self.frames.works(context)
            await context.close()
        except (PlaywrightError, TimeoutError):
            return False
        return works

    @property
    def alive(self) -> bool:
        # Playwright does not report the loss of its driver as the end of the browser.
        return not self._ended and self._browser.is_connected() and all(map(_runs, self._processes))

    @property
    def debugger(self) -> str:
        """The WebSocket address of its DevTools (`browser.debugging_port`)."""
        assert self._profile is not None and self._config.debugging_port, "it listens nowhere"
        port, path = (self._profile / "DevToolsActivePort").read_text().split()
        return f"ws://127.0.0.1:{port}{path}"

    async def memory_mb(self) -> float:
        """Return the private memory of all its processes in MB; 0 for a browser that runs elsewhere."""
        return await asyncio.to_thread(_private_mb, self._processes)

    def record(self) -> dict[str, Any]:
        return {
            "alive": self.alive,
            "uptime_s": round(time.monotonic() - self._began, 1),
            "open": self.load,
            "hosted": self.hosted,
            "memory_mb": round(_private_mb(self._processes), 1),
        }

    async def close(self) -> None:
        """End the browser with all its sessions; processes that do not exit within `EXIT_TIMEOUT_S` are killed."""
        self._ended = True
        self.background.cancel()
        family = await asyncio.to_thread(_family, self._processes)
        for end in self._exits:
            with contextlib.suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(EXIT_TIMEOUT_S):
                    await end()
        await asyncio.to_thread(_kill, family)
        if self._profile is not None:  # a driver that was killed has left it
            await asyncio.to_thread(psutil.wait_procs, family, EXIT_TIMEOUT_S)
            await asyncio.to_thread(shutil.rmtree, self._profile, ignore_errors=True)
        self.background.cancel()  # tasks that were started while the first ones ended
        await self.background.finish()

    async def new_context(self, storage_state: StorageState | None) -> BrowserContext:
        creating = asyncio.ensure_future(self._new_context(storage_state))
        try:
            return await asyncio.shield(creating)
        except asyncio.CancelledError:  # Chromium makes the context all the same
            self.background.start(_discard(creating))
            raise

    async def _new_context(self, storage_state: StorageState | None) -> BrowserContext:
        config, frames = self._config, self.frames
        width, height = config.viewport_px
        async with self._making_context if frames else contextlib.nullcontext():
            before = await frames.contexts() if frames else set()
            context = await self._browser.new_context(
                viewport={"width": width, "height": height},
                screen={"width": width, "height": height},
                device_scale_factor=1,
                accept_downloads=False,
                locale=config.locale,
                timezone_id=config.timezone or None,
                user_agent=config.user_agent or None,
                storage_state=cast("Any", storage_state),
            )
            if frames:
                await frames.register(context, before)
        await context.add_init_script(self._init_js)
        return context

    async def _watch(self) -> None:
        try:
            while True:
                await asyncio.sleep(_CHECK_EVERY_S)
                async with asyncio.timeout(_HANG_S):
                    await self._cdp.send("Browser.getVersion")
        except TimeoutError:
            reason = f"it did not answer for {_HANG_S:g} s"
        except PlaywrightError as error:
            reason = first_line(error)
        if not self._ended:
            logger.warning("ending a Chromium: %s", reason)
            self.end()

    def end(self) -> None:
        """Kill what is left of a lost browser, and report it."""
        if self._ended:
            return
        self._ended = True
        _kill(_family(self._processes[:1]))  # the driver ends when `close` is called
        self._on_end(self)


async def _browser(playwright: Playwright, config: BrowserConfig, flags: Sequence[str]) -> Browser:
    timeout_ms = config.start_timeout_s * 1000
    if config.cdp_url:
        address = with_environment(config.cdp_url, "browser.cdp_url")
        try:
            return await playwright.chromium.connect_over_cdp(address, timeout=timeout_ms)
        except PlaywrightError as error:
            why = first_line(error).replace(address, config.cdp_url)
            raise BrowserError(
                f"no browser at browser.cdp_url {config.cdp_url!r}: {why}; start one with "
                "--remote-debugging-port, or leave the key out"
            ) from None
    executable = find_chromium(config)
    for sandbox in (True, False) if os.geteuid() != 0 else (False,):  # Chromium refuses to sandbox root
        try:
            width, height = config.viewport_px
            return await playwright.chromium.launch(
                executable_path=executable,
                headless=config.headless,
                chromium_sandbox=sandbox,
                # Ctrl+C reaches the whole process group; Python ends the browser in order.
                handle_sigint=False,
                # A page in full screen has the size of its window.
                args=[*_FLAGS, f"--window-size={width},{height}", *flags],
                # Downloads, traces and films are off; a folder of its own would outlive a driver that is killed.
                artifacts_dir=tempfile.gettempdir(),
                timeout=timeout_ms,
            )
        except PlaywrightError as error:
            # Containers and some distributions forbid the namespaces that the sandbox needs.
            if not sandbox or "sandbox" not in error.message.lower():
                raise BrowserError(
                    f"{executable} did not start: {first_line(error)}; "
                    f"see what `{executable} --headless --dump-dom about:blank` says"
                ) from None
    raise AssertionError("the last try returns or raises")


def find_chromium(config: BrowserConfig) -> str:
    """Return the path of the configured Chromium, else of the system's, else of the one that Playwright downloaded.

    The headless shell comes first, since it starts in half the time and takes half the memory, but it shows no window.
    """
    if config.executable:
        path = shutil.which(config.executable)
        if path is None:
            raise BrowserError(
                f"browser.executable {config.executable!r} is not a program; "
                f"leave it empty to find Chromium, or {_HOW_TO_INSTALL}"
            )
        return path
    names = ("chromium-headless-shell", *_BROWSERS) if config.headless else _BROWSERS
    installed = next(filter(None, map(shutil.which, (*names, *_MAC_APPS))), None)
    path = installed or _playwright_chromium(config.headless)
    if path is None:
        found, install = ("", _HOW_TO_INSTALL) if config.headless else (" that shows a window", _HOW_TO_INSTALL_WINDOWS)
        raise BrowserError(f"no Chromium{found} found; {install}, or set browser.executable to its path")
    return path


def _playwright_chromium(headless: bool) -> str | None:
    """Return the newest Chromium that `playwright install` left in its cache."""
    default = "~/Library/Caches/ms-playwright" if sys.platform == "darwin" else "~/.cache/ms-playwright"
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", default)).expanduser()
    patterns = [
        *(["chromium_headless_shell-*/*/*headless[_-]shell"] if headless else []),
        "chromium-*/chrome-linux*/chrome",
        "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    ]
    for pattern in patterns:
        programs = [path for path in cache.glob(pattern) if os.access(path, os.X_OK) and path.is_file()]
        if programs:
            return str(max(programs, key=lambda path: int(re.findall(r"chromium\w*-(\d+)", str(path))[-1])))
    return None


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


def _profile(browser: psutil.Process) -> Path | None:
    """Return the folder of a browser's profile."""
    flag = "--user-data-dir="
    found = [word.removeprefix(flag) for word in browser.cmdline() if word.startswith(flag)]
    return Path(found[-1]) if found else None


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


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


def first_line(error: PlaywrightError) -> str:
    """Return the first line of Playwright's message, without its prefix."""
    line = error.message.splitlines()[0]
    head, colon, rest = line.partition(": ")
    return rest if colon and "." in head and " " not in head else line
