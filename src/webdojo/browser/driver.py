"""Playwright's driver: the process between Python and one Chromium."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

from playwright.async_api import Playwright, async_playwright


class Driver:
    """A running driver; `Driver.start` makes one."""

    def __init__(self, manager: Any, playwright: Playwright) -> None:
        self._manager = manager
        self.playwright = playwright

    @classmethod
    async def start(cls) -> Self:
        manager = async_playwright()
        return cls(manager, await manager.start())

    async def stop(self) -> None:
        """End the process; it may have died before."""
        await self.playwright.stop()
        # Of a driver that was killed, Playwright 1.65 keeps an error that nobody reads, and asyncio complains at exit.
        with suppress(AttributeError):  # another version, which may complain
            error = self._manager._client._transport.on_error_future
            if error.done():
                error.exception()
