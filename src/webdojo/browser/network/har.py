"""What the pages of a session asked the network for, as entries of an HTTP archive (HAR 1.2), for judges that need it.

There is an entry for each document and each request of a script, redirects and failures included, in the order in which
they were sent; pictures, styles, fonts and scripts are left out. Bodies are kept of what pages send and of JSON that
they get. Cookies that scripts may not read, which are mostly log-ins, are left out.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from playwright.async_api import BrowserContext, Request
from playwright.async_api import Error as PlaywrightError

_LEFT_OUT = frozenset({"stylesheet", "script", "image", "media", "font", "manifest"})
_PATIENCE_S = 5.0
"""How long requests that are under way are waited for; then they count as unanswered."""

Entry = dict[str, Any]
Headers = list[dict[str, str]]


class HarLog:
    """Follows the pages of a context from now on."""

    def __init__(self, context: BrowserContext) -> None:
        self._entries: dict[Request, Entry] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._open: set[Request] = set()
        self._ended = asyncio.Event()
        self._hidden: set[str] = set()
        """Names of the cookies that scripts may not read."""
        context.on("request", self._on_request)
        context.on("requestfinished", self._on_end)
        context.on("requestfailed", self._on_end)

    async def entries(self) -> list[Entry]:
        """All entries so far, as plain JSON."""
        deadline = time.monotonic() + _PATIENCE_S
        while self._open and (left := deadline - time.monotonic()) > 0:
            self._ended.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._ended.wait()
        await asyncio.gather(*self._reading)
        return [self._shown(entry) for entry in self._entries.values()]

    def _on_request(self, request: Request) -> None:
        if request.resource_type in _LEFT_OUT or not request.url.startswith("http"):
            return
        self._open.add(request)
        self._entries[request] = {
            "startedDateTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "request": {
                "method": request.method,
                "url": request.url,
                "headers": [{"name": name, "value": value} for name, value in request.headers.items()],
                "queryString": [
                    {"name": name, "value": value}
                    for name, value in parse_qsl(urlsplit(request.url).query, keep_blank_values=True)
                ],
            },
            "response": {"status": -1, "headers": [], "cookies": [], "redirectURL": ""},
        }

    def _on_end(self, request: Request) -> None:
        if request not in self._open:
            return
        task = asyncio.create_task(self._read(request))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)
        self._open.discard(request)
        self._ended.set()

    async def _read(self, request: Request) -> None:
        entry = self._entries[request]
        try:
            sent = await request.headers_array()
            entry["request"]["headers"] = list(sent)
            body = request.post_data_buffer
            if body is not None:
                kind = next((each["value"] for each in sent if each["name"].lower() == "content-type"), "")
                entry["request"]["postData"] = {"mimeType": kind, "text": body.decode(errors="replace")}
            response = await request.response()
            if response is None:
                return
            got = [{"name": each["name"], "value": each["value"]} for each in await response.headers_array()]
            values = {each["name"].lower(): each["value"] for each in got}
            entry["response"] = {
                "status": response.status,
                "headers": [each for each in got if each["name"].lower() != "set-cookie"],
                "cookies": self._cookies(got),
                "redirectURL": values.get("location", ""),
            }
            if "json" in values.get("content-type", ""):
                content = {"mimeType": values["content-type"], "text": await response.text()}
                entry["response"]["content"] = content
        except PlaywrightError:
            pass  # the page or its browser has gone; what is known of the request stands

    def _cookies(self, got: Headers) -> Headers:
        found: Headers = []
        lines = [line for each in got if each["name"].lower() == "set-cookie" for line in each["value"].split("\n")]
        for line in lines:
            try:
                cookies = SimpleCookie(line)
            except CookieError:
                continue
            for name, morsel in cookies.items():
                if morsel["httponly"]:
                    self._hidden.add(name)
                else:
                    found.append({"name": name, "value": morsel.value})
        return found

    def _shown(self, entry: Entry) -> Entry:
        """An entry without the cookies that scripts may not read, and without passwords of HTTP itself."""
        headers: Headers = []
        for header in entry["request"]["headers"]:
            name, value = header["name"], header["value"]
            if name.lower() == "cookie":
                pairs = (pair.strip() for pair in value.split(";"))
                value = "; ".join(pair for pair in pairs if pair.partition("=")[0] not in self._hidden)
            if value and name.lower() != "authorization":
                headers.append({"name": name, "value": value})
        return {**entry, "request": {**entry["request"], "headers": headers}}
