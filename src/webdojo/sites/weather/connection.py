"""Lets a dropped connection be seen.

Chromium sends a request anew, and tells nobody, where a connection that it used before closes without an
answer. So sessions under weather use each connection once.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

WEATHER_HEADER = "X-Webdojo-Weather"


def one_request_each(app: ASGIApp, stormy: bool = False) -> ASGIApp:
    """The app, with connections that end after an answer to a session under weather; `stormy`: to every session."""

    async def closing(scope: Scope, receive: Receive, send: Send) -> None:
        async def last(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["connection"] = "close"
            await send(message)

        ends = scope["type"] == "http" and (stormy or WEATHER_HEADER in Headers(scope=scope))
        await app(scope, receive, last if ends else send)

    return closing
