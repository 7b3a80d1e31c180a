"""Who may ask, and what browsers may do with an answer.

On loopback there is no token, and a request must name a loopback host, so that a DNS name that was rebound to this
machine is of no use to a page. Elsewhere every request needs the token: from the address that the command prints, which
turns it into a cookie, or as a bearer. Changes are taken only from our own pages. The policy that goes with every
answer allows no script, style or connection but those of this server, and none that stands in a page.
"""

from __future__ import annotations

import hmac
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webdojo.browser_service.wire import host_of, is_loopback

TOKEN_VARIABLE = "WEBDOJO_VIEW_TOKEN"
_COOKIE = "webdojo_view"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Access:
    """Middleware that refuses whoever may not ask, before anything else reads the request."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._answer(scope) or self._app
        await answer(scope, receive, guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """What is answered in place of the application; None lets it answer."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._token and not is_loopback(host_of(f"http://{host}")):
            return PlainTextResponse("this server answers for loopback names only\n", 403)
        if self._token:
            given = dict(parse_qsl(scope["query_string"].decode("latin-1")))
            if self._is_token(given.pop("token", "")):
                query = f"?{urlencode(given)}" if given else ""
                answer = RedirectResponse(quote(scope["path"]) + query, 303)
                answer.set_cookie(_COOKIE, self._token, httponly=True, samesite="lax")
                return answer
            if not (self._is_token(_bearer(headers)) or self._is_token(_cookie(headers))):
                return PlainTextResponse("open the address that `webdojo view` has printed, with its token\n", 401)
        if scope["method"] not in ("GET", "HEAD") and headers.get("origin") != f"{scope['scheme']}://{host}":
            return PlainTextResponse("changes are taken from pages of this server only\n", 403)
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())


def _bearer(headers: Headers) -> str:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given if scheme.lower() == "bearer" else ""


def _cookie(headers: Headers) -> str:
    found = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
    return found.value if found is not None else ""
