"""Losses that imitate what was better than its baseline, and learn nothing from the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webdojo.train.losses.loss import Clip, Loss, Tokens, clipped

if TYPE_CHECKING:
    from torch import Tensor


def raft(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """1[A > 0] · -min(ρ, clip(ρ)): positives only, with ratio and clip (RAFT++)."""
    positive_T = (tokens.advantages > 0).to(logprobs_T.dtype)
    return clipped((logprobs_T - tokens.prox_logprobs).exp(), positive_T, bounds)


def bc(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """1[A > 0] · -log π: filtered behaviour cloning (WebGym §5.1)."""
    return -(tokens.advantages > 0).to(logprobs_T.dtype) * logprobs_T


RAFT = Loss(raft, lambda bounds: f"1[A_i > 0] · -min(ρ, {bounds})", clips="token", positives_only=True)
BC = Loss(bc, lambda bounds: "1[A_i > 0] · -log π_θ(k)", positives_only=True)
