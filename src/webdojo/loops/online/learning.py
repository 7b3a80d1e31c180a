"""The learner of online training, which is made again where one of its ranks dies, while episodes go on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from webdojo.errors import RankLost
from webdojo.loops.resume import latest
from webdojo.store.run import RunStore
from webdojo.trainer.learner.learner import Learner

T = TypeVar("T")

MAX_REMAKES = 3
"""How often in a row the learner is made again for one piece of work."""

logger = logging.getLogger("webdojo")


class Learning:
    """Holds the learner that `make` makes; a new one goes on from the last checkpoint of online training, or from where
    the first one began. Whoever gets it closes it."""

    def __init__(self, make: Callable[[], Learner], store: RunStore) -> None:
        self._make, self._store = make, store
        self.learner = make()

    async def does(
        self, work: Callable[[Learner], Awaitable[T]], redo: Callable[[Learner], Awaitable[Any]] | None = None
    ) -> T:
        """Do work with the learner, and again with a new one where a rank dies over it.

        `redo` does first with a new one what the last checkpoint has not. RankLost where ranks die again and again.
        """
        for left in reversed(range(MAX_REMAKES + 1)):
            try:
                return await work(self.learner)
            except RankLost as lost:
                if not left:
                    raise
                logger.warning("%s: the learner is made again", lost)
            await self._remake()
            if redo is not None:
                await self.does(redo)
        raise AssertionError("the last try returns or raises")

    async def _remake(self) -> None:
        self.learner.close()
        self.learner = await asyncio.to_thread(self._make)
        if (last := latest(self._store)) is not None:
            await asyncio.to_thread(self.learner.load, last.path)

    def close(self) -> None:
        self.learner.close()
