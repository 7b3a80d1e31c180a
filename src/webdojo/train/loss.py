"""Losses over flat response tokens.

Every tensor has shape [T]: the response tokens of a micro-batch one after the other, without padding.
Invariant: a loss is linear in `weights`, and a token of weight 0 adds nothing to it, to its gradient or
to its statistics.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class PolicyStats:
    """Plain means over the tokens with a weight other than 0, whatever that weight is."""

    tokens: int
    clip_fraction: float
    """Share of tokens whose gradient the clip cuts off."""
    approx_kl: float
    """KL(old || new) by the k3 estimator, mean of (ρ - 1 - log ρ); nats, never negative."""
    ratio: float
    """Mean of ρ = π_new / π_old."""


def clipped_policy_loss(
    logprobs_T: Tensor,
    old_logprobs_T: Tensor,
    advantages_T: Tensor,
    weights_T: Tensor,
    *,
    clip_low: float,
    clip_high: float,
) -> tuple[Tensor, PolicyStats]:
    """Σ_k w_k · -min(ρ_k A_k, clip(ρ_k, 1 - low, 1 + high) A_k), ρ = exp(logπ - logπ_old) (OpenWebRL §4.4).

    Args:
        logprobs_T: log-probabilities under the weights that learn, in nats; carries the gradient.
        old_logprobs_T: of the policy that the ratio is taken against.
        advantages_T: advantage of each token's trajectory.
        weights_T: see `weights.py`.
        clip_low: ε_low; 0.2 in OpenWebRL.
        clip_high: ε_high; 0.28 in OpenWebRL.

    Returns:
        The summed loss (a scalar with gradient) and its statistics (without).
    """
    log_ratio_T = logprobs_T - old_logprobs_T
    ratio_T = log_ratio_T.exp()
    free_T = ratio_T * advantages_T
    clipped_T = ratio_T.clamp(1 - clip_low, 1 + clip_high) * advantages_T
    loss = -(weights_T * torch.minimum(free_T, clipped_T)).sum()
    with torch.no_grad():
        counted_T = weights_T != 0
        tokens = int(counted_T.sum())
        share = 1 / max(tokens, 1)
        stats = PolicyStats(
            tokens=tokens,
            clip_fraction=share * float((clipped_T < free_T)[counted_T].sum()),
            approx_kl=share * float((ratio_T - 1 - log_ratio_T)[counted_T].sum()),
            ratio=share * float(ratio_T[counted_T].sum()),
        )
    return loss, stats


def likelihood_loss(logprobs_T: Tensor, weights_T: Tensor) -> Tensor:
    """Σ_k w_k · -logπ_k: supervised fine-tuning on the target responses (OpenWebRL §4.2)."""
    return -(weights_T * logprobs_T).sum()
