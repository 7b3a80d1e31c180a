"""Losses that weigh log π itself, so that no clip stops a gradient: CISPO, and filtered behaviour cloning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webdojo.trainer.losses.loss import Clip, Loss, Tokens

if TYPE_CHECKING:
    from torch import Tensor


def cispo(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """-sg[clip(ρ, 1 - ε_low, 1 + ε_high)] A log π: the clip bounds the weight and stops no gradient (CISPO)."""
    ratio_T = bounds.clamp((logprobs_T - tokens.prox_logprobs).detach().exp())
    return -ratio_T * tokens.advantages * logprobs_T


def bc(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """1[A > 0] · -log π: filtered behaviour cloning (WebGym §5.1)."""
    return -(tokens.advantages > 0).to(logprobs_T.dtype) * logprobs_T


CISPO = Loss(cispo, lambda bounds: f"-sg[{bounds}] A_i log π_θ(k)")
BC = Loss(bc, lambda bounds: "1[A_i > 0] · -log π_θ(k)", positives_only=True)
