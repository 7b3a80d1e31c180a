"""Shows one context of a running Chromium to a DevTools client as if it were the whole browser.

Playwright takes every page that it did not open itself for one of the browser's default context, so that a client that
connects to a browser with many sessions sees the pages of all of them, and opens its own outside all of them. This
relay stands between: of other contexts the client hears nothing, and what it asks of the default context is asked of
this one. It runs in the environment of BrowserGym, and imports what that has.
"""

from __future__ import annotations

import itertools
import json
import threading
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import Server, ServerConnection, serve

_OF_CONTEXT = {
    "Target.createTarget",
    "Storage.getCookies",
    "Storage.setCookies",
    "Storage.clearCookies",
    "Browser.grantPermissions",
    "Browser.resetPermissions",
    "Browser.setPermission",
}
"""Commands to the browser that are about its default context unless they name another."""
_REFUSED = {"Browser.close", "Browser.setDownloadBehavior"}
"""Commands to the browser that are answered and not passed on: it belongs to others, and downloads stay refused."""
_FIRST_ID = 1 << 30
"""Of commands of our own; a client counts its own up from 1."""


class OneContext:
    """A relay to one context, for one client after another; a context manager.

    Args:
        browser: WebSocket address of the browser's DevTools.
        context: id of the browser context.
    """

    def __init__(self, browser: str, context: str) -> None:
        self._browser, self._context = browser, context
        self._hidden: set[str] = set()
        """Sessions of the protocol with pages of other contexts."""
        self._ids = itertools.count(_FIRST_ID)
        self._server: Server

    def __enter__(self) -> OneContext:
        self._server = serve(self._relay, "127.0.0.1", 0, max_size=None, compression=None)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}"

    def _relay(self, client: ServerConnection) -> None:
        with connect(self._browser, max_size=None, compression=None) as browser:
            back = threading.Thread(target=self._back, args=(browser, client), daemon=True)
            back.start()
            try:
                for text in client:
                    self._forward(json.loads(text), browser, client)
            except ConnectionClosed:
                pass
        back.join()

    def _forward(self, message: dict[str, Any], browser: ClientConnection, client: ServerConnection) -> None:
        """Pass a command on to the browser."""
        if "sessionId" not in message:
            if message["method"] in _REFUSED:
                client.send(json.dumps({"id": message["id"], "result": {}}))
                return
            if message["method"] in _OF_CONTEXT:
                message["params"] = {"browserContextId": self._context, **message.get("params", {})}
        browser.send(json.dumps(message))

    def _back(self, browser: ClientConnection, client: ServerConnection) -> None:
        """Pass on what the browser says, until it or the client has gone."""
        try:
            for text in browser:
                message = json.loads(text)
                if not self._is_hidden(message, browser):
                    client.send(text)
        except ConnectionClosed:
            pass
        finally:
            client.close()

    def _is_hidden(self, message: dict[str, Any], browser: ClientConnection) -> bool:
        """Whether a message is about another context, or answers a command of our own.

        A page of another context is let go at once: it may be waiting for whoever has attached to it.
        """
        if message.get("id", 0) >= _FIRST_ID or message.get("sessionId") in self._hidden:
            return True
        method, given = message.get("method"), message.get("params", {})
        if method == "Target.detachedFromTarget":
            return given["sessionId"] in self._hidden
        if method != "Target.attachedToTarget":
            return False
        if given["targetInfo"].get("browserContextId", self._context) == self._context:
            return False
        self._hidden.add(given["sessionId"])
        self._tell(browser, "Runtime.runIfWaitingForDebugger", {}, given["sessionId"])
        self._tell(browser, "Target.detachFromTarget", {"sessionId": given["sessionId"]})
        return True

    def _tell(self, browser: ClientConnection, method: str, params: dict[str, Any], session: str = "") -> None:
        of = {"sessionId": session} if session else {}
        browser.send(json.dumps({"id": next(self._ids), "method": method, "params": params, **of}))
