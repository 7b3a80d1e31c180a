"""Cancels the work for clients that disconnect."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from webdojo.errors import WebdojoError

_T = TypeVar("_T")


class ClientGone(Exception):
    """The client disconnected, so nobody waits for the response."""


async def while_connected(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """Do work for a client, and cancel it if the client disconnects.

    Raises:
        ClientGone: the client disconnected.
    """
    working, disconnected = asyncio.create_task(work), asyncio.create_task(_until_disconnected(request))
    try:
        await asyncio.wait({working, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientGone
    finally:
        disconnected.cancel()
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError, WebdojoError):
            await working


async def _until_disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
