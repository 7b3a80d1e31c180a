"""PPO's clipped loss, and its decoupled form for samples of older weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webdojo.train.losses.loss import Clip, Loss, Tokens, clipped, clipped_formula, too_far

if TYPE_CHECKING:
    from torch import Tensor


def clip(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """-min(ρA, clip(ρ, 1 - ε_low, 1 + ε_high) A); with dual clip at most -cA where A < 0 (OpenWebRL §4.4; DAPO)."""
    return clipped((logprobs_T - tokens.prox_logprobs).exp(), tokens.advantages, bounds)


def decoupled(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """sg[π_prox / π_behave] · `clip`, 0 where that weight is too large (decoupled PPO; AsyncWebRL, equation 1)."""
    weight_T = (tokens.prox_logprobs - tokens.behave_logprobs).exp()
    return weight_T.masked_fill(too_far(tokens, bounds), 0) * clip(logprobs_T, tokens, bounds)


def _decoupled_formula(bounds: Clip) -> str:
    cap = f", 0 where π_prox / π_engine > {bounds.behave:g}" if bounds.behave else ""
    return f"sg[π_prox / π_engine] · ({clipped_formula(bounds)}){cap}"


CLIP = Loss(clip, clipped_formula, clips="token", dual_clip=True)
DECOUPLED = Loss(decoupled, _decoupled_formula, clips="token", dual_clip=True, decoupled=True)
