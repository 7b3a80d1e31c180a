"""Who may use a browser server: holders of its token, or programs on this machine, but never a web page.

With a token, every request must carry it. Without one, the server listens on loopback only and refuses requests that a
web page could have made: a page cannot leave out certain headers, and a DNS name that was rebound to this machine shows
in the Host header.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Mapping

from webdojo.browser_service.wire import ErrorKind, Refused, host_of

TOKEN_VARIABLE = "WEBDOJO_BROWSER_TOKEN"
"""The environment variable from which browser servers and their clients read the token."""

OPEN_PATHS = frozenset({"/health", "/docs", "/openapi.json"})
"""Paths that need no token, because they tell nothing about sessions; probes and people read them."""

_FROM_PAGES = ("origin", "referer", "sec-fetch-site")


def token_from_environment() -> str:
    """Return the token without the line break at the end of a secret file; empty if there is none."""
    return os.environ.get(TOKEN_VARIABLE, "").strip()


def is_loopback(host: str) -> bool:
    """Whether a host name or address is always this machine's own, whatever a resolver says."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_access(token: str, path: str, headers: Mapping[str, str]) -> None:
    """Raise Refused for a request without access; `token` is empty if the server listens on loopback only."""
    if token:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        known = scheme.lower() == "bearer" and hmac.compare_digest(given.encode("latin-1"), token.encode())
        if not known and path not in OPEN_PATHS:
            message = f"send the server's token: Authorization: Bearer ${TOKEN_VARIABLE}"
            raise Refused(ErrorKind.UNAUTHORIZED, message)
        return
    host = headers.get("host", "")
    if not is_loopback(host_of(f"http://{host}")):
        message = f"the Host header is {host!r}, but this server answers for loopback names only"
        raise Refused(ErrorKind.FORBIDDEN, message)
    sign = next((name for name in _FROM_PAGES if name in headers), None)
    if sign is not None and path not in OPEN_PATHS:
        raise Refused(ErrorKind.FORBIDDEN, f"a web page asks ({sign} header), and pages have no access without a token")
