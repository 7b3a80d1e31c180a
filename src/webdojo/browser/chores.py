"""Work that goes on beside its owner, who must see its end: asyncio alone would forget such tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class Chores:
    """The tasks of one owner that have not ended."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work from now on; its failure is its own matter."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Stop what goes on."""
        for task in self._tasks:
            task.cancel()

    async def finish(self) -> None:
        """Wait until nothing goes on, chores that others started included."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
