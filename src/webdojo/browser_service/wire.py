"""The wire format between browser servers and their clients: requests, responses, errors and screenshots.

An observation is one body, a line of JSON followed by the bytes of the encoded screenshot, so that observing costs one
round trip and no image is encoded as text. A client that names the screenshot that it has gets the line alone while the
screen stays the same. Every error has one shape, `{"error": {"kind", "message"}}`; the failure of a browser adds its
name and its diagnostics.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, TypeAdapter, field_validator, model_validator

from webdojo.browser.config import StorageState
from webdojo.browser.interface import ActResult
from webdojo.browser.page.snapshot import Snapshot
from webdojo.errors import Failure
from webdojo.types import Observation, Record, ToolCall

_RESULT = TypeAdapter(ActResult)
_SNAPSHOT = TypeAdapter(Snapshot)

OBSERVATION_MIME = "application/vnd.webdojo.observation"

HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
HeaderValue = Annotated[str, Field(pattern=r"^[ -~]*$")]


class OpenRequest(Record):
    """Open a session."""

    start_url: str = Field(pattern=r"^[hH][tT][tT][pP][sS]?://", max_length=32_768, examples=["https://example.org/"])
    headers: dict[HeaderName, HeaderValue] = Field(
        default_factory=dict, description="Sent with every request of this session."
    )
    storage_state: StorageState | None = Field(
        default=None, description="Cookies and local storage to begin with, as Playwright's `storage_state` has them."
    )
    deadline_s: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="The server ends the session so many seconds from now."
    )

    @field_validator("start_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if not parts.hostname or parts.port == 0:  # `parts.port` raises ValueError for a port that is not a number
            raise ValueError("the address names no host, or an invalid port")
        return url


class Opened(Record):
    """A session that is ready to be observed."""

    id: str
    viewport_px: tuple[int, int]


class ActRequest(Record):
    """Tool calls of one turn, in order."""

    calls: list[ToolCall]

    @model_validator(mode="after")
    def _is_text(self) -> ActRequest:
        """Refuse lone surrogates (`"\\ud800"`), which JSON can express and no browser accepts."""
        for call in self.calls:
            json.dumps([call.name, call.arguments], ensure_ascii=False).encode()
        return self


class Health(Record):
    """Whether a server takes new sessions, and how many it has."""

    draining: bool
    sessions: int
    """Number of sessions that are open, opening or closing."""
    max_sessions: int


class ErrorKind(StrEnum):
    """What went wrong, as a word for programs."""

    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    UNKNOWN_SESSION = "unknown_session"
    START_ERROR = "start_error"
    FULL = "full"
    INTERNAL = "internal"
    BROWSER_ERROR = "browser_error"
    DRAINING = "draining"


STATUS = {
    ErrorKind.BAD_REQUEST: 422,
    ErrorKind.UNAUTHORIZED: 401,
    ErrorKind.FORBIDDEN: 403,
    ErrorKind.NOT_FOUND: 404,
    ErrorKind.UNKNOWN_SESSION: 404,
    # The site or the address failed, not the server.
    ErrorKind.START_ERROR: 424,
    ErrorKind.FULL: 429,
    ErrorKind.INTERNAL: 500,
    ErrorKind.BROWSER_ERROR: 502,
    ErrorKind.DRAINING: 503,
}
"""The HTTP status of each kind."""


class Problem(Record):
    """An error; if a browser failed, with the name of the failure and its diagnostics (`errors.BrowserError`)."""

    kind: ErrorKind
    message: str
    failure: Failure | None = None
    diagnostics: dict[str, Any] = Field(default_factory=dict)


class ProblemBody(Record):
    """The body of every response that is not a success."""

    error: Problem


def pack_observation(observation: Observation, image: bytes) -> bytes:
    """Encode both as one body; an empty `image` stands for the screenshot that the client has."""
    return _encode(observation.model_dump(mode="json")) + b"\n" + image


def unpack_observation(body: bytes) -> tuple[Observation, bytes]:
    """The reverse of `pack_observation`."""
    line, _, image = body.partition(b"\n")
    return Observation.model_validate_json(line), image


def pack_result(result: ActResult) -> bytes:
    feedback = [feedback.model_dump() for feedback in result.feedback]
    return _encode({"feedback": feedback, "answer": result.answer, "seconds": result.seconds})


def unpack_result(body: bytes) -> ActResult:
    """The reverse of `pack_result`."""
    return _RESULT.validate_json(body)


def pack_snapshot(snapshot: Snapshot) -> bytes:
    return _encode(asdict(snapshot))


def unpack_snapshot(body: bytes) -> Snapshot:
    """The reverse of `pack_snapshot`."""
    return _SNAPSHOT.validate_json(body)


def _encode(record: object) -> bytes:
    """Encode as JSON on one line; lone surrogates, which pages may contain, become `?`."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
