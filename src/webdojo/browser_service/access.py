"""Who may use a server of ours: holders of its token, or programs on this machine, but never a web page.

With a token, every request must carry it. Without one, the server listens on loopback only and refuses requests that a
web page could have made: a page cannot leave out certain headers, and a DNS name that was rebound to this machine shows
in the Host header.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import os
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from webdojo.browser_service.wire import STATUS, ErrorKind, Problem, ProblemBody
from webdojo.errors import BrowserError

TOKEN_VARIABLE = "WEBDOJO_BROWSER_TOKEN"
"""The environment variable from which browser servers and their clients read the token."""

OPEN_PATHS = frozenset({"/health", "/docs", "/openapi.json"})
"""Paths that need no token, because they tell nothing about sessions; probes and people read them."""

Refuse = Callable[[ErrorKind, str, dict[str, str]], ASGIApp]

_FROM_PAGES = ("origin", "referer", "sec-fetch-site")


def token_from_environment(variable: str = TOKEN_VARIABLE) -> str:
    """Return a server's token without the line break at the end of a secret file; empty if there is none."""
    return os.environ.get(variable, "").strip()


def is_loopback(host: str) -> bool:
    """Whether a host name or address is always this machine's own, whatever a resolver says."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def problem_response(
    kind: ErrorKind, message: str, headers: dict[str, str] | None = None, cause: BrowserError | None = None
) -> JSONResponse:
    """Return an error response; `cause` is the failure of the browser, if the browser failed."""
    problem = Problem(kind=kind, message=_whole(message))
    if cause is not None:
        problem.failure, problem.diagnostics = cause.failure, json.loads(_whole(json.dumps(cause.diagnostics)))
    return JSONResponse(ProblemBody(error=problem).model_dump(exclude_defaults=True), STATUS[kind], headers)


def _whole(text: str) -> str:
    """Replace lone surrogates, which pages may contain and UTF-8 cannot encode."""
    return text.encode(errors="backslashreplace").decode()


class Access:
    """ASGI middleware that refuses requests without access.

    Args:
        token: the token that `Authorization: Bearer` must carry; empty if the server listens on loopback only.
        refuse: makes the response to a refused request from an error kind, a message and headers.
        variable: the environment variable in which users of the server keep the token, for the message.
    """

    def __init__(self, app: ASGIApp, token: str, refuse: Refuse, variable: str) -> None:
        self._app = app
        self._token = token.encode()
        self._refuse = refuse
        self._variable = variable

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # there are no web sockets here
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope["path"], headers)
        if refusal is None:
            await self._app(scope, receive, send)
            return
        kind, message = refusal
        challenge = {"WWW-Authenticate": "Bearer"} if kind is ErrorKind.UNAUTHORIZED else {}
        await self._refuse(kind, message, challenge)(scope, receive, send)

    def _refusal(self, path: str, headers: Headers) -> tuple[ErrorKind, str] | None:
        if self._token:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            known = scheme.lower() == "bearer" and hmac.compare_digest(given.encode("latin-1"), self._token)
            if known or path in OPEN_PATHS:
                return None
            return ErrorKind.UNAUTHORIZED, f"send the server's token: Authorization: Bearer ${self._variable}"
        host = headers.get("host", "")
        if not is_loopback(_host_name(host)):
            return ErrorKind.FORBIDDEN, f"the Host header is {host!r}, but this server answers for loopback names only"
        sign = next((name for name in _FROM_PAGES if name in headers), None)
        if sign is not None and path not in OPEN_PATHS:
            return ErrorKind.FORBIDDEN, f"a web page asks ({sign} header), and pages have no access without a token"
        return None


def _host_name(header: str) -> str:
    """Return the name in a Host header; empty if it has none."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""
