"""The wire format between browser servers and their clients: requests, responses, errors and screenshots.

An observation is one body, a line of JSON followed by the bytes of the encoded screenshot, so that observing costs one
round trip and no image is encoded as text. A client that names the screenshot that it has gets the line alone while the
screen stays the same. Every error has one shape, `{"error": {"kind", "message"}}`; the failure of a browser adds its
name and its diagnostics.
"""

from __future__ import annotations

import ipaddress
import json
import os
from enum import StrEnum
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import Field, TypeAdapter, field_validator, model_validator

from webdojo.browser.config import StorageState
from webdojo.browser.interface import ActResult, PageRead
from webdojo.browser.page.snapshot import Snapshot
from webdojo.errors import Failure
from webdojo.types import Record, ToolCall

OBSERVATION_MIME = "application/vnd.webdojo.observation"
TOKEN_VARIABLE = "WEBDOJO_BROWSER_TOKEN"
"""The environment variable from which browser servers and their clients read the token."""

RESULT, SNAPSHOT, READS = TypeAdapter(ActResult), TypeAdapter(Snapshot), TypeAdapter(list[PageRead])

HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
HeaderValue = Annotated[str, Field(pattern=r"^[ -~]*$")]


def token_from_environment() -> str:
    """Return the token without the line break at the end of a secret file; empty if there is none."""
    return os.environ.get(TOKEN_VARIABLE, "").strip()


def is_loopback(host: str) -> bool:
    """Whether a host name or address is always this machine's own, whatever a resolver says."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(url: str) -> str:
    """Return the host of an http or https address; empty if it is none, or has an impossible port."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:
        return ""
    return parts.hostname or "" if valid else ""


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
        if not host_of(url):
            raise ValueError("the address names no host, or an invalid port")
        return url


class Opened(Record):
    """A session that is ready to be observed."""

    id: str
    viewport_px: tuple[int, int]
    secrets: list[str] = Field(default_factory=list)
    """What is to be masked of the cookies and local storage that it begins with."""


class ActRequest(Record):
    """Tool calls of one turn, in order."""

    calls: list[ToolCall]

    @model_validator(mode="after")
    def _is_text(self) -> ActRequest:
        """Refuse lone surrogates (`"\\ud800"`), which JSON can express and no browser accepts."""
        for call in self.calls:
            json.dumps([call.name, call.arguments], ensure_ascii=False).encode()
        return self


class ReadRequest(Record):
    """Scripts to run in a page, in order."""

    scripts: list[str] = Field(description="JavaScript functions without parameters, such as `() => document.title`.")
    url: str = Field(
        default="",
        pattern=r"^([hH][tT][tT][pP][sS]?://.*)?$",
        max_length=32_768,
        description="Opened in a new tab, which closes afterwards; empty: the active tab.",
    )

    @model_validator(mode="after")
    def _is_text(self) -> ReadRequest:
        """Refuse lone surrogates, as `ActRequest` does."""
        "".join([*self.scripts, self.url]).encode()
        return self


class Health(Record):
    """Whether a server takes new sessions, and how many it has."""

    draining: bool
    sessions: int
    """Number of sessions that are open, opening or closing."""
    max_sessions: int


class ErrorKind(StrEnum):
    """What went wrong, as a word for programs, and its HTTP status."""

    status: int

    def __new__(cls, word: str, status: int) -> Self:
        kind = str.__new__(cls, word)
        kind._value_, kind.status = word, status
        return kind

    BAD_REQUEST = "bad_request", 422
    UNAUTHORIZED = "unauthorized", 401
    FORBIDDEN = "forbidden", 403
    NOT_FOUND = "not_found", 404
    UNKNOWN_SESSION = "unknown_session", 404
    START_ERROR = "start_error", 424  # the site or the address failed, not the server
    PAGE_ERROR = "page_error", 424  # the same of a page that is opened later
    FULL = "full", 429
    INTERNAL = "internal", 500
    BROWSER_ERROR = "browser_error", 502
    DRAINING = "draining", 503


class Refused(Exception):
    """A request that the server does not carry out."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Problem(Record):
    """An error; if a browser failed, with the name of the failure and its diagnostics (`errors.BrowserError`)."""

    kind: ErrorKind
    message: str
    failure: Failure | None = None
    diagnostics: dict[str, Any] = Field(default_factory=dict)


class ProblemBody(Record):
    """The body of every response that is not a success."""

    error: Problem


def pack(record: object) -> bytes:
    """Encode as JSON on one line; lone surrogates, which pages may contain, become `?`."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
