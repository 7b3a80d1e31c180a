"""One `generate` call on its way through the embedded engine.

It collects what was sampled, knows when its response is complete, and clocks its phases. Invariant:
its future is resolved exactly once, with a response or an `EngineError`, unless its caller gave up.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Literal

from webdojo.policy.hf.kv_cache import Boundary
from webdojo.types import FinishReason, Prompt, Response, Sampling

Phase = Literal["queue", "prefill", "decode"]
Decode = Callable[[list[int]], str]


class Request:
    """A prompt and what was sampled after it so far; `stream` gives uniform numbers, one a token."""

    def __init__(self, prompt: Prompt, boundaries: list[Boundary], sampling: Sampling, stream: random.Random) -> None:
        self.prompt = prompt
        self.boundaries = boundaries
        self.sampling = sampling
        self.stream = stream
        self.future: Future[Response] = Future()
        self.abandoned = False
        """The caller was cancelled: nobody waits for the answer."""
        self.ids: list[int] = []
        self.next_position = 0
        """mrope position of the token sampled last."""
        self._logprobs: list[float] = []
        self._versions: list[int] = []
        self._stop_window = max((len(stop.encode()) for stop in sampling.stop), default=0)
        """Tokens that a stop text spans at most: none decodes to less than a byte."""
        self._seconds: dict[str, float] = {"queue": 0.0, "prefill": 0.0, "decode": 0.0}
        self._phase: Phase = "queue"
        self._since = time.perf_counter()

    @property
    def tokens(self) -> int:
        return len(self.prompt) + len(self.ids)

    def enter(self, phase: Phase) -> None:
        """The clock goes on in another phase."""
        now = time.perf_counter()
        self._seconds[self._phase] += now - self._since
        self._phase, self._since = phase, now

    def take(
        self, token: int, logprob: float, version: int, eos_ids: tuple[int, ...], decode: Decode
    ) -> FinishReason | None:
        """Add a sampled token; tells why the response is complete, if it is."""
        self.ids.append(token)
        self._logprobs.append(logprob)
        self._versions.append(version)
        if token in eos_ids or (self._stop_window and self._stopped(decode)):
            return FinishReason.STOP
        return FinishReason.LENGTH if len(self.ids) == self.sampling.max_tokens else None

    def answer(self, reason: FinishReason) -> None:
        """Resolve the future with the response."""
        self.enter("decode")
        self.future.set_result(
            Response(
                ids=self.ids,
                logprobs=self._logprobs,
                versions=self._versions,
                finish_reason=reason,
                seconds={**self._seconds, "total": sum(self._seconds.values())},
            )
        )

    def _stopped(self, decode: Decode) -> bool:
        text = decode(self.ids[-self._stop_window :])
        return any(stop in text for stop in self.sampling.stop)
