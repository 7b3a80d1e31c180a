"""The interface of every pool of browsers, in this process or on other machines.

Episodes, harnesses and adapters are written against these two protocols. `pool.BrowserPool` opens sessions in
Chromium processes of its own, `browser_service.client.RemotePool` on servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from webdojo.browser.config import StorageState
from webdojo.types import Feedback, Observation, ToolCall, View

if TYPE_CHECKING:  # it brings Playwright, and a recipe names a reward, which may read a session
    from webdojo.browser.page.snapshot import Snapshot


BLANK = "about:blank"
"""The address at which a session opens nothing: its environment opens the first page (`Environment.enter`)."""


class DebugTarget(NamedTuple):
    """Where a DevTools client finds the active tab of a session."""

    browser: str
    """WebSocket address of the browser's DevTools."""
    context: str
    """Id of the browser context."""
    page: str
    """Id of the tab's target."""


@dataclass
class ActResult:
    """One feedback for each executed call, and the answer if one of them was `done`."""

    feedback: list[Feedback] = field(default_factory=list)
    answer: str | None = None
    seconds: dict[str, float] = field(default_factory=dict, compare=False)
    """Wall seconds by phase: `ready` is the time spent waiting for pages."""
    secrets: list[str] = field(default_factory=list, compare=False)
    """What was typed into password fields, where it is to be masked."""


@dataclass
class PageRead:
    """What one script found in a page."""

    value: Any = None
    """What it returned, as plain JSON."""
    error: str = ""
    """The error that it raised instead, in one line."""


class Session(Protocol):
    """One isolated browser session: look at it, act in it, close it."""

    viewport_px: tuple[int, int]
    secrets: set[str]
    """What is to be masked wherever people or other programs read it (`redact.py`)."""

    async def observe(self, view: View | None = None) -> Observation:
        """See the active tab as it is now; a `view` numbers its controls, and adds text or marks.

        Raises:
            BrowserError: the browser or its server is lost, the tab crashed, or no screenshot came in time.
            StoreFailure: the screenshot cannot be stored.
        """
        ...

    async def act(self, calls: Sequence[ToolCall]) -> ActResult:
        """Execute calls in order; `done`, or a call that times out, ends the turn.

        Raises:
            BrowserError: the browser or its server is lost, or the tab crashed.
        """
        ...

    async def snapshot(self) -> Snapshot:
        """Read what the active tab says, for the text observations of `page/views.py`; raise as `observe` does."""
        ...

    async def read(self, scripts: Sequence[str], url: str = "") -> list[PageRead]:
        """Run scripts that only read, JavaScript functions without parameters, apart from the page's own scripts.

        Args:
            scripts: run one after the other in a page that is ready.
            url: opened in a new tab of this session, which closes afterwards; empty: the active tab.

        Raises:
            BrowserError: the guard refuses the address, it does not answer, or the page, the browser or its server is
                lost.
        """
        ...

    async def har(self) -> list[dict[str, Any]]:
        """What its pages have asked the network for, as entries of an HTTP archive (`network/har.py`).

        Raises:
            ConfigError: `browser.record_har` is off.
            BrowserError: the server is lost.
        """
        ...

    async def close(self) -> None:
        """Close all tabs and forget cookies and storage. Closing twice is allowed."""
        ...


SessionT_co = TypeVar("SessionT_co", bound=Session, covariant=True)


class Pool(Protocol[SessionT_co]):
    """Opens sessions; an async context manager."""

    @property
    def places(self) -> int:
        """How many sessions the caller may have at once, open ones included, as far as is known now; others wait."""
        ...

    async def open(
        self, start_url: str, headers: dict[str, str] | None = None, storage_state: StorageState | None = None
    ) -> SessionT_co:
        """Open a fresh session at an http or https address, ready to be observed, or at `BLANK`.

        Args:
            headers: sent with every request of this session.
            storage_state: cookies and local storage to begin with, instead of those of the recipe.

        Raises:
            StartError: the start URL is refused, or cannot be reached.
            BrowserError: no browser is available.
        """
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *error: object) -> None: ...
