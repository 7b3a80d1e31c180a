"""What a person does to the window of a tab: an address that is entered, the ways back and forward, a reload.

Chromium begins these by itself, while what a page begins is announced by its renderer first. Their requests are stopped
before they leave, because the session makes them again when it carries out their call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from webdojo.browser.tab import Tab
from webdojo.types import ToolCall

_BACK, _FORWARD = ToolCall(name="go_back"), ToolCall(name="press_keys", arguments={"keys": ["alt+ArrowRight"]})
_RELOAD = ToolCall(name="press_keys", arguments={"keys": ["F5"]})


class Window:
    """The navigations of one tab.

    Args:
        cdp: a channel to the tab that nobody else intercepts requests by.
        stops: whether what the person begins now is to be stopped.
        on_call: gets the call that does the same.
    """

    def __init__(
        self, tab: Tab, cdp: CDPSession, stops: Callable[[], bool], on_call: Callable[[ToolCall], None]
    ) -> None:
        self._tab, self._cdp = tab, cdp
        self._stops, self._on_call = stops, on_call
        self._announced = False
        """Whether the page itself has asked for the navigation that begins next."""
        self._started = ("", False)
        """The type of the last navigation, and whether the page has asked for it."""
        self._answers: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._cdp.on("Page.frameRequestedNavigation", self._on_requested)
        self._cdp.on("Page.frameStartedNavigating", self._on_started)
        self._cdp.on("Fetch.requestPaused", self._on_paused)
        await self._cdp.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})

    def _on_requested(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._tab.main_frame:
            self._announced = True

    def _on_started(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._tab.main_frame:
            self._started, self._announced = (event["navigationType"], self._announced), False

    def _on_paused(self, event: dict[str, Any]) -> None:
        kind, by_page = self._started
        of_person = event["frameId"] == self._tab.main_frame and not by_page and "redirectedRequestId" not in event
        task = asyncio.create_task(self._answer(event, kind if of_person and self._stops() else ""))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _answer(self, event: dict[str, Any], stopped: str) -> None:
        request = {"requestId": event["requestId"]}
        with suppress(PlaywrightError):  # the tab, or the request, is gone
            if not stopped:
                await self._cdp.send("Fetch.continueRequest", request)
                return
            await self._cdp.send("Fetch.failRequest", {**request, "errorReason": "Aborted"})
            self._on_call(await self._call(event["request"]["url"], stopped))

    async def _call(self, url: str, kind: str) -> ToolCall:
        if kind == "reload":
            return _RELOAD
        history = await self._cdp.send("Page.getNavigationHistory")
        at, urls = history["currentIndex"], [entry["url"] for entry in history["entries"]]
        if kind.startswith("history"):
            here = self._tab.page.url
            if urls[at] == url != here:  # Chromium has not given up yet where the window was to go
                if urls[at - 1 : at] == [here]:
                    return _FORWARD
                if urls[at + 1 : at + 2] == [here]:
                    return _BACK
            if urls[max(0, at - 1)] == url:
                return _BACK
            if urls[at + 1 : at + 2] == [url]:
                return _FORWARD
        return ToolCall(name="goto_url", arguments={"url": url})
