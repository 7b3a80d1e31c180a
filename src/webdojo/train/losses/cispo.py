"""CISPO: REINFORCE whose importance weight is clipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webdojo.train.losses.loss import Clip, Loss, Tokens

if TYPE_CHECKING:
    from torch import Tensor


def cispo(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """-sg[clip(ρ, 1 - ε_low, 1 + ε_high)] A log π: the clip bounds the weight and stops no gradient (CISPO)."""
    ratio_T = bounds.clamp((logprobs_T - tokens.prox_logprobs).detach().exp())
    return -ratio_T * tokens.advantages * logprobs_T


CISPO = Loss(cispo, lambda bounds: f"-sg[{bounds}] A_i log π_θ(k)")
