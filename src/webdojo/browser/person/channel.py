"""The DevTools channel by which the documents of a process tell what a person does, and are opened for calls.

A frame of another site runs in a process of its own, so a tab has one channel for its page and one for each of these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.page.scripts import script

_TOLD_JS, _THROUGH_JS = script("person_told.js"), script("person_through.js")
_WORLD, _BINDING = "webdojo-person", "webdojoInput"
_ANSWER_S = 1.0
"""How long a document may take to open or close; one that hangs takes no input either."""


class Channel:
    """What the documents of one process tell; `on_told` is called with the id of the frame and what it told."""

    def __init__(self, cdp: CDPSession, on_told: Callable[[str, str], None]) -> None:
        self.cdp = cdp
        self._on_told = on_told
        self._frames: dict[int, str] = {}
        """The frame of each document that is there, by the id of our world in it."""

    async def open(self) -> None:
        cdp = self.cdp
        cdp.on("Runtime.executionContextCreated", self._on_created)
        cdp.on("Runtime.executionContextDestroyed", self._on_destroyed)
        cdp.on("Runtime.executionContextsCleared", lambda _: self._frames.clear())
        cdp.on("Runtime.bindingCalled", self._on_called)
        told = {"source": _TOLD_JS, "worldName": _WORLD, "runImmediately": True}
        await cdp.send("Page.enable")
        await cdp.send("Runtime.enable")
        await cdp.send("Runtime.addBinding", {"name": _BINDING, "executionContextName": _WORLD})
        await cdp.send("Page.addScriptToEvaluateOnNewDocument", told)

    async def let_through(self, needed: str) -> None:
        """Let all its documents let through what a call needs, as JSON (`input.needed_by`)."""
        await asyncio.gather(*(self._call(context, needed) for context in list(self._frames)))

    async def is_open(self) -> bool:
        """Whether its process still shows its frame."""
        try:
            await self.cdp.send("Page.getFrameTree")
        except PlaywrightError:
            return False
        return True

    async def _call(self, context: int, needed: str) -> None:
        given = {"functionDeclaration": _THROUGH_JS, "executionContextId": context, "arguments": [{"value": needed}]}
        with suppress(PlaywrightError, TimeoutError):  # the document is gone
            async with asyncio.timeout(_ANSWER_S):
                await self.cdp.send("Runtime.callFunctionOn", given)

    def _on_created(self, event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"] == _WORLD:
            self._frames[context["id"]] = context["auxData"]["frameId"]

    def _on_destroyed(self, event: dict[str, Any]) -> None:
        self._frames.pop(event["executionContextId"], None)

    def _on_called(self, event: dict[str, Any]) -> None:
        frame = self._frames.get(event["executionContextId"])
        if event["name"] == _BINDING and frame is not None:
            self._on_told(frame, event["payload"])
