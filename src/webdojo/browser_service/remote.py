"""One browser server as a client knows it: its requests, its health, its load.

Every answer that is not a success becomes one of our exceptions, with the server's address in front.
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
        kind: what the server says; None where no browser server answered.
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
        http: carries the token and the time limits.
    """

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.url = url
        self.own = 0
        """Sessions that this client has here or is opening."""
        self._http = http
        self._trouble = ""
        self._reported = Health(draining=False, sessions=0, max_sessions=0)
        self._own_then = 0
        """`own` when the server reported."""

    @property
    def load(self) -> float:
        """Share of its places that are taken: as it reported, with what this client opened and closed since."""
        return self._sessions / self._reported.max_sessions if self._reported.max_sessions else 0.0

    @property
    def places(self) -> int:
        """Sessions that this client may have here: those it has, and as many as are free."""
        return self.own + max(0, self._reported.max_sessions - self._sessions)

    @property
    def takes_sessions(self) -> bool:
        """False where it does not answer, or drains."""
        return not self._trouble

    @property
    def trouble(self) -> str:
        """Why it is not asked for a session now; empty where it is."""
        if self._trouble:
            return self._trouble
        if self.load >= 1:
            return f"full, {self._sessions} of {self._reported.max_sessions} sessions are taken"
        return ""

    @property
    def _sessions(self) -> int:
        return self._reported.sessions + self.own - self._own_then

    async def check(self) -> bool:
        """Ask for its health; False where it takes no sessions for more than being full."""
        try:
            response = await self._http.get(f"{self.url}/health", timeout=HEALTH_TIMEOUT_S)
            health = Health.model_validate_json(response.content)
        except httpx.TransportError as error:
            self._trouble = f"unreachable, {_words(error)}"
        except ValidationError:
            self._trouble = f"HTTP {response.status_code}, and no webdojo browser service"
        else:
            self._trouble = "draining" if health.draining else ""
            self._reported, self._own_then = health, self.own
        return not self._trouble

    def refused(self, error: ServerError) -> None:
        """Remember why it took no session, until a place of ours frees or the next health check."""
        if error.kind is ErrorKind.FULL:
            places = max(self._reported.max_sessions, 1)
            self._reported = Health(draining=False, sessions=places, max_sessions=places)
            self._own_then = self.own
        else:
            self._trouble = str(error).removeprefix(f"{self.url}: ")

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """A successful answer.

        Raises:
            StartError: the server could not open the start URL.
            ServerError: everything else.
        """
        try:
            response = await self._http.request(method, f"{self.url}{path}", **options)
        except httpx.TransportError as error:
            raise ServerError(f"{self.url}: unreachable, {_words(error)}", None) from error
        if response.is_success:
            return response
        try:
            problem = ProblemBody.model_validate_json(response.content).error
        except ValidationError:  # something in between answered
            raise ServerError(f"{self.url}: HTTP {response.status_code}", None) from None
        message, failure = f"{self.url}: {problem.message}", problem.failure
        if problem.kind is ErrorKind.START_ERROR:
            raise StartError(message, failure or Failure.START_FAILED, problem.diagnostics)
        raise ServerError(message, problem.kind, failure or Failure.SERVER_LOST, problem.diagnostics)


def _words(error: httpx.TransportError) -> str:
    """Some of httpx's errors have no text."""
    return " ".join(str(error).split()) or type(error).__name__
