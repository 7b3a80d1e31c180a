"""One browser server as its client sees it: requests, health and load.

Every response that is not a success becomes one of our exceptions, whose message begins with the server's URL.
"""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import ValidationError

from webdojo.browser_service.wire import ErrorKind, Health, ProblemBody
from webdojo.errors import BrowserError, Failure, StartError

HEALTH_TIMEOUT_S = 5.0


class ServerError(BrowserError):
    """A server refused or failed a request, or could not be reached.

    Attributes:
        kind: the error kind that the server gave; None if no browser server answered.
    """

    def __init__(
        self,
        message: str,
        kind: ErrorKind | None,
        failure: Failure = Failure.SERVER_LOST,
        diagnostics: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message, failure, diagnostics)
        self.kind = kind


class RemoteServer:
    """A server at a URL.

    Args:
        url: `http://host:port`, without a path.
        http: the HTTP client, with the token and the timeouts.
    """

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.url = url
        self.own = 0
        """Number of sessions that this client has here or is opening."""
        self._http = http
        self._trouble = ""
        self._reported = Health(draining=False, sessions=0, max_sessions=0)
        self._own_then = 0
        """The value of `own` when the server reported."""

    @property
    def load(self) -> float:
        """The share of its places that are taken: as it reported, with what this client has opened and closed since."""
        return self._sessions / self._reported.max_sessions if self._reported.max_sessions else 0.0

    @property
    def places(self) -> int:
        """Number of sessions that this client may have here: those that it has, and the free places."""
        return self.own + max(0, self._reported.max_sessions - self._sessions)

    @property
    def takes_sessions(self) -> bool:
        """Whether it answers and is not draining."""
        return not self._trouble

    @property
    def trouble(self) -> str:
        """Why it cannot be asked for a session now; empty if it can."""
        if self._trouble:
            return self._trouble
        if self.load >= 1:
            return f"full, {self._sessions} of {self._reported.max_sessions} sessions are taken"
        return ""

    @property
    def _sessions(self) -> int:
        return self._reported.sessions + self.own - self._own_then

    async def check(self) -> bool:
        """Ask for its health; return False if it takes no sessions for another reason than being full."""
        try:
            response = await self._http.get(f"{self.url}/health", timeout=HEALTH_TIMEOUT_S)
            health = Health.model_validate_json(response.content)
        except httpx.TransportError as error:
            self._trouble = f"unreachable, {_one_line(error)}"
        except ValidationError:
            self._trouble = f"HTTP {response.status_code}, and no webdojo browser service"
        else:
            self._trouble = "draining" if health.draining else ""
            self._reported, self._own_then = health, self.own
        return not self._trouble

    def refused(self, error: ServerError) -> None:
        """Remember why it took no session, until a session of this client ends or the next health check."""
        if error.kind is ErrorKind.FULL:
            places = max(self._reported.max_sessions, 1)
            self._reported = Health(draining=False, sessions=places, max_sessions=places)
            self._own_then = self.own
        else:
            self._trouble = str(error).removeprefix(f"{self.url}: ")

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request, and return its successful response.

        Raises:
            StartError: the server could not open the start URL.
            ServerError: any other failure.
        """
        try:
            response = await self._http.request(method, f"{self.url}{path}", **options)
        except httpx.TransportError as error:
            raise ServerError(f"{self.url}: unreachable, {_one_line(error)}", None) from error
        if response.is_success:
            return response
        try:
            problem = ProblemBody.model_validate_json(response.content).error
        except ValidationError:  # a proxy or another server answered
            raise ServerError(f"{self.url}: HTTP {response.status_code}", None) from None
        message, failure = f"{self.url}: {problem.message}", problem.failure
        if problem.kind is ErrorKind.START_ERROR:
            raise StartError(message, failure or Failure.START_FAILED, problem.diagnostics)
        raise ServerError(message, problem.kind, failure or Failure.SERVER_LOST, problem.diagnostics)


def _one_line(error: httpx.TransportError) -> str:
    """Return the error as one line; some of httpx's errors have no text, only a type."""
    return " ".join(str(error).split()) or type(error).__name__
