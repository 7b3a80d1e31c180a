"""One server as the engine sees it: up or down, how busy, with which weights.

Invariant: requests go only to a server whose weights are the engine's current ones and whose
log-probabilities were checked; a server that was lost is started again before its next request, and
loads the current weights first.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from webdojo.errors import EngineError, EngineLost
from webdojo.policy.vllm.server import Server, WeightFolder
from webdojo.policy.vllm.wire import GENERATE, METRICS, check_probe, probe_body, waiting_requests

_LOOK_S = 10.0
_LOOK_EVERY_S = 1.0


@dataclass
class Common:
    """What all replicas of an engine share."""

    client: httpx.AsyncClient
    version: int
    """Version of the weights that servers are started with."""
    weights: WeightFolder | None
    """Those that must be served; None for those that servers are started with."""
    allowed: Sequence[int]
    """A few ids that may be sampled, for the check of log-probabilities."""
    awake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while servers may start; those that sleep leave their GPU to others."""


@dataclass(eq=False)
class Replica:
    """One server, which answers already."""

    server: Server
    common: Common
    busy: int = 0
    """Requests that are not answered yet."""
    is_up: bool = False
    """It serves the current weights."""
    life: int = 0
    """How often the server was lost."""
    error: str = ""
    """Why it could not be brought up the last time."""
    _answers: bool = True
    _holds: WeightFolder | None = None
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _rising: asyncio.Task[None] | None = None
    _queue: int = 0
    _looking: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Those of `busy` that the server keeps in a queue, as of the last look."""
        return min(self._queue, self.busy) if self.is_up else self.busy

    def look(self) -> None:
        """Ask the server in the background for the length of its queue, unless it was asked a moment ago."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Wait until the replica serves; a server that is lost in the block is started again.

        All who wait share one start; if that fails they get its EngineError, and the next who come try again.
        """
        self.begin()
        if self._rising is not None:
            await asyncio.shield(self._rising)
        life = self.life
        try:
            yield
        except EngineLost:
            self.lose(life)
            raise

    def begin(self) -> None:
        """Bring the replica up in the background, if it is not."""
        if not self.is_up and self._rising is None:
            self._rising = asyncio.create_task(self._rise())
            # Nobody may wait for a start that fails; `error` keeps why.
            self._rising.add_done_callback(lambda task: task.cancelled() or task.exception())

    def lose(self, life: int) -> None:
        """Give up the server as it was in its `life`, and start it again at once, or when the engine is awake."""
        if life != self.life or self.server.closed:  # somebody else saw it too, or ended it
            return
        self.life += 1
        self.is_up = self._answers = False
        self._holds = None
        self.begin()

    def forget(self) -> None:
        """End what runs in the background."""
        for task in (self._looking, self._rising):
            if task is not None:
                task.cancel()

    async def load(self, weights: WeightFolder) -> None:
        """Serve other weights from the next sampled token on; running requests are read again under them.

        Where it raises, the server serves neither the old weights nor the new ones.
        """
        async with self._loading:
            if self._holds is weights:
                return
            # The pause itself must clear nothing: it would drop images that requests on their way refer to.
            await self.post("/pause?mode=keep&clear_cache=false")
            await self.post("/start_weight_update")
            await self.post("/update_weights", {"update_info": {"folder": str(weights.folder)}})
            await self.post("/finish_weight_update", {"weight_version": str(weights.version)})
            # Keys, values and visual features of the old weights are wrong under the new ones.
            await self.post("/reset_prefix_cache?reset_running_requests=true")
            await self.post("/reset_encoder_cache")
            await self.post("/resume")
            self._holds = weights

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The JSON of the answer to a request; EngineLost if the server is gone, EngineError if it refuses."""
        try:
            answer = await self.common.client.post(self.server.url + path, json=body)
        except httpx.TransportError as error:
            raise self._gone(type(error).__name__) from error
        if answer.is_success:
            return answer.json() if answer.content else {}
        if answer.is_server_error and not await asyncio.to_thread(self.server.answers):
            raise self._gone(f"HTTP {answer.status_code}")
        reason = " ".join(answer.text.split())[:500]
        raise EngineError(f"the vLLM server refuses {path.partition('?')[0]} (HTTP {answer.status_code}): {reason}")

    async def _rise(self) -> None:
        try:
            if not self._answers:
                await self.common.awake.wait()
                await asyncio.to_thread(self.server.start)
                await asyncio.to_thread(self.server.wait)
            self._answers = False  # what fails from here on is mended by another start
            await self.post("/init_weight_transfer_engine", {"init_info": {}})
            while (weights := self.common.weights) is not self._holds:
                assert weights is not None
                await self.load(weights)
            if weights is None:
                await self.post("/update_weight_version", {"new_version": str(self.common.version)})
            check_probe(await self.post(GENERATE, probe_body(self.common.allowed)), self.server.url)
            self.is_up, self.error = True, ""
        except EngineError as error:
            self.error = str(error)
            raise
        finally:
            self._rising = None

    async def _look(self) -> None:
        try:
            answer = await self.common.client.get(self.server.url + METRICS, timeout=_LOOK_S)
        except httpx.TransportError:
            return  # whose request it fails finds out why
        self._queue = waiting_requests(answer.text)
        await asyncio.sleep(_LOOK_EVERY_S)

    def _gone(self, how: str) -> EngineLost:
        return EngineLost(f"the vLLM server at {self.server.url} does not answer any more ({how}); it is started again")
