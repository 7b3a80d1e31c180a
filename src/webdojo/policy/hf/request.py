"""One `generate` call on its way through the embedded engine, and how the next tokens of a batch of them are drawn.

Invariant: the future of a request is resolved exactly once, with a response or an `EngineError`, unless its caller gave
up. Every request has its own stream of uniform numbers and a token is the inverse of the cumulative distribution at the
next one, so what a request draws does not depend on who shares its batch.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Literal

import torch

from webdojo.policy.hf.kv_cache import Boundary
from webdojo.policy.model.forward import LogitBias
from webdojo.policy.model.processor import Processor
from webdojo.types import FinishReason, Prompt, Response, Sampling

Phase = Literal["queue", "prefill", "decode"]


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

    def take(self, token: int, logprob: float, version: int, processor: Processor) -> FinishReason | None:
        """Add a sampled token; tells why the response is complete, if it is."""
        self.ids.append(token)
        self._logprobs.append(logprob)
        self._versions.append(version)
        if token == processor.stop_id or (self._stop_window and self._stopped(processor)):
            return FinishReason.STOP
        return FinishReason.LENGTH if len(self.ids) == self.sampling.max_tokens else None

    def answer(self, reason: FinishReason) -> None:
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

    def _stopped(self, processor: Processor) -> bool:
        text = processor.decode(self.ids[-self._stop_window :])
        return any(stop in text for stop in self.sampling.stop)


def temperatures(samplings: Sequence[Sampling]) -> torch.Tensor:
    """float32 [N, 1]: what the logits are divided by; greedy rows score at temperature 1."""
    return torch.tensor([[s.temperature or 1.0] for s in samplings])


def logit_bias(samplings: Sequence[Sampling], device: torch.device) -> LogitBias | None:
    """The biases of a batch, each sampling a row; None where there are none."""
    entries = [(row, token, value) for row, s in enumerate(samplings) for token, value in s.logit_bias.items()]
    if not entries:
        return None
    rows, ids, values = (torch.tensor(column, device=device) for column in zip(*entries, strict=True))
    return (rows, ids), values.float()


def draw(logprobs: torch.Tensor, samplings: Sequence[Sampling], uniforms: Sequence[float]) -> torch.Tensor:
    """Sample one id a row, int64 [N], from float32 `logprobs` [N, vocabulary] with banned ids at -inf.

    Each row has a number in [0, 1) to draw by. Temperature 0 takes the most likely id; top-k applies before top-p.
    """
    greedy = logprobs.argmax(-1)
    if all(s.temperature == 0 for s in samplings):
        return greedy
    u = torch.tensor(uniforms, dtype=torch.float64, device=logprobs.device)[:, None]
    if all(s.top_p == 1 and s.top_k == 0 for s in samplings):
        drawn = _invert(logprobs.double().exp(), u)
    else:
        ordered, order = logprobs.double().exp().sort(-1, descending=True)
        drawn = order.gather(-1, _invert(_filtered(ordered, samplings), u)[:, None]).squeeze(-1)
    is_greedy = torch.tensor([s.temperature == 0 for s in samplings], device=logprobs.device)
    return torch.where(is_greedy, greedy, drawn)


def _filtered(ordered: torch.Tensor, samplings: Sequence[Sampling]) -> torch.Tensor:
    """Zero what top-k and top-p leave out of probabilities [N, vocabulary] in falling order."""
    width = ordered.shape[-1]
    top_k = torch.tensor([[s.top_k or width] for s in samplings], device=ordered.device)
    top_p = torch.tensor([[s.top_p] for s in samplings], dtype=ordered.dtype, device=ordered.device)
    kept = ordered.masked_fill(torch.arange(width, device=ordered.device) >= top_k, 0.0)
    before = kept.cumsum(-1) - kept
    return kept.masked_fill(before >= top_p * kept.sum(-1, keepdim=True), 0.0)


def _invert(weights: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """The first index whose cumulated weight exceeds u times the total: never one of weight zero."""
    cumulated = weights.cumsum(-1)
    return torch.searchsorted(cumulated, u * cumulated[:, -1:], right=True).squeeze(-1)
