"""Clients of our servers that leave: what they asked for is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from webdojo.errors import WebdojoError

_T = TypeVar("_T")


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


async def while_connected(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """Do work for a client; cancel it where the client leaves.

    Raises:
        ClientGone: the client left.
    """
    working, leaving = asyncio.create_task(work), asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientGone
    finally:
        leaving.cancel()
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError, WebdojoError):
            await working


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
