"""Options of browsers: the recipe's `browser` section."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from webdojo.config import Section, with_environment
from webdojo.errors import ConfigError

StorageState = dict[str, Any]
"""Cookies and local storage that a session begins with: plain JSON with `cookies` and `origins`, as Playwright's
`storage_state` writes it."""


_PASSWORD = re.compile(r"//[^/@:]*:([^/@]*)@")


class GuardConfig(Section):
    allowed_domains: list[str] = []
    """Only these domains and those below them may be reached; empty allows all that are not blocked."""
    blocked_domains: list[str] = []
    """Domains that may not be reached, nor those below them."""
    private_hosts: list[str] = []
    """Hosts, addresses and networks (`10.0.0.0/8`) that may be reached although they are not public."""
    connections_per_second: float = Field(default=20, ge=0)
    """Connections of all sessions together to one host, averaged over five seconds; more have to wait. 0 is no limit.
    The embedded sites have none."""


class ServeConfig(Section):
    max_sessions: int = Field(default=16, ge=1)
    """Open at once; a further one is refused until another closes."""
    idle_timeout_s: float = Field(default=300, gt=0)
    """A session that nobody calls for so long is closed: its client is gone."""
    drain_timeout_s: float = Field(default=600, ge=0)
    """How long open sessions may go on after the server was told to stop."""


HOSTED = (
    "browser.cdp_url: the guard checks the addresses at which sessions start and that the agent asks for, and nothing "
    "else: links, redirects, frames and scripts of that browser reach whatever its machine can reach; run it where "
    "that is only the public web"
)
"""What the guard can promise of a browser that runs elsewhere."""


class BrowserConfig(Section):
    executable: str = ""
    """Chromium to run; empty finds one (see `browser/chromium.py`)."""
    cdp_url: str = ""
    """DevTools address of a browser that runs elsewhere (`wss://…`, `http://…`), to use instead of starting one.
    What it opens does not pass the guard; only the addresses that the agent asks for are checked. `${NAME}` in it is
    read from the environment: `wss://host/?token=${TOKEN}`."""
    servers: list[str] = []
    """Browser servers (`webdojo browser serve`) that `train` and `eval` use instead of this machine's browsers, such as
    `http://10.0.0.7:8400`; their token is read from WEBDOJO_BROWSER_TOKEN. The rest of this section is then theirs, but
    for `viewport_px`, which must be the same there, `acquire_timeout_s` and `step_retries`."""
    debugging_port: bool = False
    """Browsers listen for DevTools clients on a free port of 127.0.0.1, for environments that attach to their pages
    (`browsergym`). Any program of this machine can drive them then."""
    proxy: str = ""
    """Forward proxy to the web, `http://host:port` or `http://user:${NAME}@host:port` with a password from the
    environment. It resolves names, so the guard sees names only."""
    storage_state: str = ""
    """File with cookies and local storage that every session starts with, as Playwright's `storage_state` writes it."""
    uploads: list[str] = []
    """Files that agents may upload, each up to 50 MB. Where a page asks for a file, the feedback names them, and a
    `write` of such a name gives it to the page. Without any the feedback says that uploads are not possible."""
    redact: bool = True
    """Mask what is typed into password fields, and the cookies and local storage of a `storage_state`, wherever people
    or other programs read them: feedback, logs, films, reports and exports. The run's own `run.sqlite` keeps them,
    because training needs the sampled tokens, and screenshots show what the page shows."""
    record_har: bool = False
    """Keep what pages ask the network for, for rewards that judge by it (`webarena_verified`)."""
    locale: str = "en-US"
    timezone: str = ""
    """IANA name, such as `Europe/Oslo`; empty keeps the machine's."""
    user_agent: str = ""
    """Empty keeps Chromium's own."""
    viewport_px: tuple[int, int] = (1280, 1000)
    """Width and height; DPR is 1 (OpenWebRL Table 7)."""
    screenshot_format: Literal["jpeg", "png"] = "jpeg"
    capture: Literal["screenshot", "begin_frame"] = "screenshot"
    """`begin_frame` draws pages on demand, which is cheaper; a Chromium that cannot (only the headless shell can) takes
    screenshots all the same."""
    headless: bool = True
    browsers: int = Field(default=0, ge=0)
    """Chromium processes; 0 takes one for two cores."""
    sessions_per_browser: int = Field(default=0, ge=0)
    """Sessions that one Chromium hosts at once; 0 takes what the memory holds, at most 64."""
    warm_sessions: int = Field(default=1, ge=0)
    """Blank sessions that each Chromium keeps ready."""
    recycle_after: int = Field(default=500, ge=0)
    """Sessions after which a Chromium takes no more and ends with its last; 0 keeps it for ever."""
    recycle_memory_mb: int = Field(default=0, ge=0)
    """Private memory of a Chromium and its children, in MB, above which it takes no more sessions; 0 is no limit."""
    acquire_timeout_s: float = Field(default=600, gt=0)
    """Waiting for a free slot (OpenWebRL Table 7)."""
    start_timeout_s: float = Field(default=60, gt=0)
    """Opening the browser, a context and the start URL, all tries together."""
    navigation_timeout_s: float = Field(default=30, gt=0)
    """One try to reach the start URL."""
    action_timeout_s: float = Field(default=45, gt=0)
    """One try of a tool call, its readiness wait included."""
    ready_cap_s: float = Field(default=5, gt=0)
    """Longest wait for a page to become quiet after an action."""
    navigation_retries: int = Field(default=2, ge=0)
    """Further tries to reach the start URL."""
    step_retries: int = Field(default=2, ge=0)
    """Further tries of an observation that failed, and of a tool call that failed before it had touched the page
    (OpenWebRL Table 7, browser step retries). What may have had an effect is never repeated."""
    guard: GuardConfig = GuardConfig()
    """Which addresses may be reached; by default all public ones, and the embedded sites."""
    serve: ServeConfig = ServeConfig()
    """Limits of `webdojo browser serve`."""

    def check(self) -> None:
        """Raise ConfigError where a password would be written into recipes and run folders, Missing where what stands
        for one is not in the environment."""
        password = _PASSWORD.search(self.proxy)
        if password is not None and "${" not in password[1]:
            raise ConfigError(
                "browser.proxy has a password, which would be written into the run folder: put it into the environment "
                "and name it there, 'browser.proxy=http://user:${PROXY_PASSWORD}@host:port'"
            )
        with_environment(self.proxy, "browser.proxy")
        with_environment(self.cdp_url, "browser.cdp_url")


_UPLOAD_MB = 50
"""What Playwright takes at most for one call."""


def files_to_upload(paths: Sequence[str]) -> dict[str, Path]:
    """Return the files of `browser.uploads` by the names by which agents know them; ConfigError if one is unusable."""
    found: dict[str, Path] = {}
    for path in map(Path, paths):
        if not path.is_file():
            raise ConfigError(f"browser.uploads has {str(path)!r}, which is no file on this machine")
        if path.name in found:
            raise ConfigError(
                f"browser.uploads has two files named {path.name!r}: agents tell them apart by their names"
            )
        if path.stat().st_size > _UPLOAD_MB * 1e6:
            raise ConfigError(f"browser.uploads has {str(path)!r}, which is larger than {_UPLOAD_MB} MB")
        found[path.name] = path
    return found


def check_storage_state(state: StorageState, named_by: str) -> None:
    """Raise ConfigError for a cookie that lacks what a browser needs; `named_by` names the state."""
    for number, cookie in enumerate(state.get("cookies", []), 1):
        lacks = [key for key in ("name", "value") if key not in cookie]
        if "url" not in cookie:
            lacks += [key for key in ("domain", "path") if not cookie.get(key)]
        if lacks:
            which = f"cookie {cookie['name']!r}" if "name" in cookie else f"cookie {number}"
            raise ConfigError(
                f"{named_by}: {which} has no {' and no '.join(lacks)}; a cookie needs name, value, domain and path, "
                "such as 'domain': '127.0.0.1', 'path': '/'"
            )


def read_storage_state(file: str, named_by: str) -> StorageState | None:
    """Read a storage state from a file; return None if its name is empty. `named_by` names the key for ConfigError."""
    if not file:
        return None
    try:
        state = json.loads(Path(file).read_text())
        well_formed = isinstance(state, dict) and {"cookies", "origins"} & state.keys()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{named_by} {file!r} cannot be read: {' '.join(str(error).split())}") from None
    if not well_formed:
        raise ConfigError(f"{named_by} {file!r} has no 'cookies' and no 'origins': save one with Playwright")
    check_storage_state(state, f"{named_by} {file!r}")
    return dict(state)
