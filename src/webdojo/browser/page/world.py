"""Where our scripts run: a world of their own in each document, with the page's DOM and none of its variables.

Chromium calls it an isolated world. What a page does to globals and prototypes does not reach it. Only the names of
forms and fields do, which hide properties of their document and form; `scripts/parts/plain.js` reads past them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.page.scripts import Script

T = TypeVar("T")

WORLD = "webdojo"
"""Its name in Chromium."""
OVERTAKEN = "context was destroyed"
_OVERTAKEN = (
    OVERTAKEN,
    "Cannot find context with specified id",
    "Inspected target navigated or closed",
    "Not attached to an active page",
)
"""What Chromium says of a command whose document is gone."""
_NO_FUNCTION = "does not evaluate to a function"


class ScriptError(PlaywrightError):
    """The script itself raised an error, or is none; the page is there."""


class World:
    """The world of our scripts in one document of a frame, by the DevTools channel of the process that shows it."""

    def __init__(self, cdp: CDPSession, frame_id: str) -> None:
        self.cdp = cdp
        self._frame_id = frame_id
        self._context: int | None = None
        self._kept: list[Script] = []
        """The scripts of ours that the context has been sent; it has them as functions, in this order."""
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def end(self, reason: str) -> None:
        """Let no call wait any more, because the document is gone; the reason is what their error says."""
        if not self._ended.done():
            self._ended.set_result(reason)

    async def call(self, function: str, *arguments: Any) -> Any:
        """Return what a JavaScript function returns, or what its promise resolves to, as plain JSON.

        Raises:
            ScriptError: the function raised an error, or is none.
            PlaywrightError: another document has come (`is_overtaken`), or the tab is closed or has crashed.
        """
        return await self.while_there(self._call(function, arguments))

    async def while_there(self, asked: Awaitable[T]) -> T:
        """Return what is asked of Chromium, which may never answer once the document is gone.

        Raises:
            PlaywrightError: another document has come (`is_overtaken`), or the tab is closed or has crashed.
        """
        running: asyncio.Future[Any] = asyncio.ensure_future(asked)
        try:
            await asyncio.wait({running, self._ended}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return cast(T, running.result())
            raise PlaywrightError(self._ended.result())
        finally:
            running.cancel()

    async def _call(self, function: str, arguments: tuple[Any, ...]) -> Any:
        if self._context is None:
            made = await self.cdp.send("Page.createIsolatedWorld", {"frameId": self._frame_id, "worldName": WORLD})
            self._context, self._kept = made["executionContextId"], []
        try:
            said = await self.cdp.send(
                "Runtime.callFunctionOn",
                {
                    "functionDeclaration": self._declaration(function),
                    "executionContextId": self._context,
                    "arguments": [{"value": value} for value in arguments],
                    "returnByValue": True,
                    "awaitPromise": True,
                },
            )
        except PlaywrightError as error:
            if is_overtaken(error):
                self._context = None
            if _NO_FUNCTION in error.message:
                raise ScriptError(_NO_FUNCTION) from None
            raise
        if "exceptionDetails" in said:
            thrown = said["exceptionDetails"]
            raise ScriptError(thrown.get("exception", {}).get("description", thrown["text"]))
        return said["result"].get("value")

    def _declaration(self, function: str) -> str:
        """What to send for a function: all of it, or the place of a script of ours that was sent before."""
        if not isinstance(function, Script):
            return function
        known = function in self._kept
        if not known:
            self._kept.append(function)
        place = f"(globalThis[Symbol.for('webdojo-scripts')] ??= [])[{self._kept.index(function)}]"
        return f"(...given) => ({place if known else f'{place} = {function}'})(...given)"


async def until_read(read: Callable[[], Awaitable[T]], overtaken: Callable[[], Awaitable[None]] | None = None) -> T:
    """Return what `read` returns about a page; call it again each time that another document has come meanwhile.

    `overtaken` is waited for before each further call.
    """
    while True:
        try:
            return await read()
        except PlaywrightError as error:
            if not is_overtaken(error):
                raise
        if overtaken is not None:
            await overtaken()


def is_overtaken(error: PlaywrightError) -> bool:
    """Whether a command failed because a new document replaced the one that it ran in."""
    return any(reason in error.message for reason in _OVERTAKEN)
