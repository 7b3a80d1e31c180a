"""What episodes ask of the engine, counted."""

from __future__ import annotations

from webdojo.rollout.rest import Rest
from webdojo.types import Engine, Prompt, Response, Sampling


class Requests:
    """An engine whose requests are counted.

    Args:
        rest: of that engine.

    Attributes:
        answered: responses so far, a turn each.
    """

    def __init__(self, engine: Engine, rest: Rest) -> None:
        self.answered = 0
        self._engine = engine
        self._rest = rest
        self._asking = 0
        self._seconds = 0.0
        self._last = rest.awake()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """Sample a response; raises what the engine raises."""
        self._ask(1)
        try:
            response = await self._engine.generate(prompt, sampling)
        finally:
            self._ask(-1)
        self.answered += 1
        return response

    def seconds(self) -> float:
        """Seconds that requests took so far, those in flight included, summed over them, without the engine's rest."""
        self._ask(0)
        return self._seconds

    def _ask(self, more: int) -> None:
        now = self._rest.awake()
        self._seconds += self._asking * (now - self._last)
        self._asking, self._last = self._asking + more, now
