"""Which Chromium to run: the configured one, else the system's, else the one that Playwright downloaded.

`chromium-headless-shell` comes first because it starts in half the time and takes half the memory of the full
browser; it cannot show a window, so `headless: false` skips it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from webdojo.browser.config import BrowserConfig
from webdojo.errors import BrowserError

_SHELLS = ("chromium-headless-shell",)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_MAC_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_HOW_TO_INSTALL = (
    "install one with `apt-get install chromium-headless-shell` or `python -m playwright install chromium`"
)


def find_chromium(config: BrowserConfig) -> str:
    """Return the path of the Chromium to run.

    Raises:
        BrowserError: none is found, or `browser.executable` does not name a program.
    """
    if config.executable:
        path = shutil.which(config.executable)
        if path is None:
            raise BrowserError(
                f"browser.executable {config.executable!r} is not a program; "
                f"leave it empty to find Chromium, or {_HOW_TO_INSTALL}"
            )
        return path
    names = (*_SHELLS, *_BROWSERS) if config.headless else _BROWSERS
    installed = next(filter(None, map(shutil.which, (*names, *_MAC_APPS))), None)
    path = installed or _playwright_chromium(config.headless)
    if path is None:
        raise BrowserError(f"no Chromium found; {_HOW_TO_INSTALL}, or set browser.executable to its path")
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
