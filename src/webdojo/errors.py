"""Errors that a user can act on.

The CLI prints a `WebdojoError` as one line without a traceback, so its message says what is
wrong, the value, where the value came from and what to do. Broken invariants of our own code
are `assert`s instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, ClassVar

PASSING = 75
"""The exit code of a command that may get further when it is run again (EX_TEMPFAIL of sysexits.h)."""


class WebdojoError(Exception):
    """Base of every error that a user can act on."""

    exit_code: ClassVar[int] = 2
    """The exit code of a command that ends with this error."""

    @property
    def lines(self) -> Sequence[str]:
        """What the command line prints of it: one line."""
        return [" ".join(str(self).split())]


class ConfigError(WebdojoError):
    """A recipe, an override or a command-line value is wrong."""


class Missing(ConfigError):
    """What only the user can bring is not there: a file of tasks, a key, addresses. Each thing is a line of its own."""

    def __init__(self, *things: str, otherwise: str = "") -> None:
        self.things = things
        self.otherwise = otherwise
        """What to do without them."""
        super().__init__("; ".join(self.lines))

    @property
    def lines(self) -> Sequence[str]:
        return [*self.things, self.otherwise] if self.otherwise else self.things


class Failure(StrEnum):
    """The cause that ended an episode from outside, or kept it from starting."""

    NO_BROWSER = "no_browser"
    ACQUIRE_TIMEOUT = "acquire_timeout"
    """No slot became free in time."""
    START_TIMEOUT = "start_timeout"
    """The session was not at its start URL in time."""
    START_REFUSED = "start_refused"
    """The guard does not allow the start URL."""
    START_FAILED = "start_failed"
    """The start URL cannot be reached, or answers with an error."""
    ROBOTS_TXT = "robots_txt"
    """The site's robots.txt forbids the start URL to programs."""
    BLOCKED = "blocked"
    """The site turns robots away, and the agent did not get past it."""
    SCREENSHOT_TIMEOUT = "screenshot_timeout"
    PAGE_UNREACHABLE = "page_unreachable"
    """A page that the reward function looks at cannot be opened."""
    SESSION_TIMEOUT = "session_timeout"
    TAB_CRASHED = "tab_crashed"
    BROWSER_DIED = "browser_died"
    SERVER_LOST = "server_lost"
    """The browser server does not answer any more, or has forgotten the session."""
    WORKER_LOST = "worker_lost"
    """The process of the cluster that ran the episode died, or hung."""
    CALLER_LOST = "caller_lost"
    """Whoever drove the episode from outside went away, or did not go on with it."""
    ENGINE_LOST = "engine_lost"
    ENGINE_TIMEOUT = "engine_timeout"
    """The engine took too long for one response."""
    ENGINE_REFUSED = "engine_refused"
    """The endpoint refuses whatever it is asked: the key, the name of the model or the address is wrong."""
    BUDGET_SPENT = "budget_spent"
    """The budget of the engine's endpoint does not allow another request."""
    STOPPED = "stopped"
    """The person who demonstrates has stopped."""
    DISCARDED = "discarded"
    """The person who demonstrates begins the task anew."""
    ENVIRONMENT_FAILED = "environment_failed"
    """The environment's own code raised an error."""
    UNEXPECTED = "unexpected"
    """An error that nothing has named, raised by what a page did to our code, or by that code itself."""
    REWARD_FAILED = "reward_failed"
    """The reward function raised an error, or took too long."""

    @property
    def is_loss(self) -> bool:
        """Whether a process was lost that is started again, so that the episode may succeed when it is run again."""
        return self in (
            Failure.TAB_CRASHED,
            Failure.BROWSER_DIED,
            Failure.SERVER_LOST,
            Failure.WORKER_LOST,
            Failure.ENGINE_LOST,
        )

    @property
    def is_of_site(self) -> bool:
        """Whether it is the site that fails, so that a task on another one may still go well."""
        return self in (
            Failure.START_TIMEOUT,
            Failure.START_REFUSED,
            Failure.START_FAILED,
            Failure.ROBOTS_TXT,
            Failure.BLOCKED,
            Failure.PAGE_UNREACHABLE,
        )


class BrowserError(WebdojoError):
    """No browser can be started, or a browser failed and its session with it.

    Attributes:
        failure: the name by which such failures are counted.
        diagnostics: what the session went through (`browser.diagnostics`), as plain JSON; may be empty.
    """

    exit_code = PASSING
    default: ClassVar[Failure] = Failure.NO_BROWSER

    def __init__(self, message: str, failure: Failure | None = None, diagnostics: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.failure = failure or self.default
        self.diagnostics = diagnostics or {}


class StartError(BrowserError):
    """The session could not be brought to its start URL; the episode never began."""

    default = Failure.START_FAILED


class SiteError(WebdojoError):
    """A request for an embedded site that does not exist."""


class TaskError(WebdojoError):
    """A task record is malformed or names something that does not exist."""


class ActionError(WebdojoError):
    """An action that lies outside the Gymnasium action space, or a tool call that it cannot express."""


class ModelError(WebdojoError):
    """A model folder is missing, corrupt, or of a kind that holds no chat."""


class HarnessError(WebdojoError):
    """The format of a harness cannot express a tool call."""


class EngineError(WebdojoError):
    """The policy engine failed a request (out of memory, shut down)."""

    exit_code = PASSING
    failure: ClassVar[Failure | None] = None
    """The name by which such failures are counted, if they have one of their own."""


class EngineLost(EngineError):
    """The engine's process died under a request; it is started again for the next one."""

    failure = Failure.ENGINE_LOST


class EngineTimeout(EngineError):
    """The engine gave no response in time (OpenWebRL Tables 7 and 8, inference step timeout)."""

    failure = Failure.ENGINE_TIMEOUT


class EngineRefused(EngineError):
    """The endpoint has refused whatever it was asked, for want of a right key, name or address."""

    exit_code = 2
    failure = Failure.ENGINE_REFUSED


class Stopped(EngineError):
    """Whoever answers does no more episodes; what was done is stored, and goes on later."""

    failure = Failure.STOPPED


class Discarded(EngineError):
    """Whoever answers wants the episode forgotten and begun anew."""

    failure = Failure.DISCARDED


class BudgetError(Stopped):
    """The budget of an endpoint is spent; what was done is stored, and a run goes on with a larger one."""

    exit_code = 2
    failure = Failure.BUDGET_SPENT


class RewardError(WebdojoError):
    """The reward function failed again and again."""

    exit_code = PASSING


class StoreError(WebdojoError):
    """The run folder cannot be created, read or written."""


class StoreFailure(StoreError):
    """The disk or the database failed a running run; what was stored before is kept, so the run can be resumed."""


class TrainError(WebdojoError):
    """Training cannot continue: there are no effective groups, or numbers are no longer finite."""


class RankLost(TrainError):
    """A process of the learner died."""

    exit_code = PASSING


def one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
