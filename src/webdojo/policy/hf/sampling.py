"""Drawing tokens from a batch of distributions, each with its own `Sampling`.

Every request has its own stream of uniform numbers and a token is the inverse of the cumulative
distribution at the next one, so what a request draws does not depend on who shares its batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from webdojo.policy.model.forward import LogitBias
from webdojo.types import Sampling


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
    """Sample one id a row.

    Args:
        logprobs: float32 [N, vocabulary], banned ids at -inf.
        samplings: temperature 0 takes the most likely id; top-k applies before top-p.
        uniforms: one number in [0, 1) a row.

    Returns:
        int64 [N]
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
