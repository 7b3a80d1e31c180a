"""Losses with PPO's clip: PPO itself, its decoupled form for samples of older weights, GSPO, and RAFT++."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webdojo.trainer.losses.loss import Clip, Loss, Tokens, clipped, clipped_formula, too_far, turn_means

if TYPE_CHECKING:
    from torch import Tensor


def clip(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """-min(ρA, clip(ρ, 1 - ε_low, 1 + ε_high) A); with dual clip at most -cA where A < 0 (OpenWebRL §4.4; DAPO)."""
    return clipped((logprobs_T - tokens.prox_logprobs).exp(), tokens.advantages, bounds)


def decoupled(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """sg[π_prox / π_behave] · `clip`, 0 where that weight is too large (decoupled PPO; AsyncWebRL, equation 1)."""
    weight_T = (tokens.prox_logprobs - tokens.behave_logprobs).exp()
    return weight_T.masked_fill(too_far(tokens, bounds), 0) * clip(logprobs_T, tokens, bounds)


def gspo(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """`clip` with the ratio of the whole turn, s = exp(mean log ρ), straight through to each token (GSPO)."""
    log_ratio = (logprobs_T - tokens.prox_logprobs).detach()
    mean_T = turn_means(log_ratio, tokens.turns)
    return clipped((mean_T + logprobs_T - logprobs_T.detach()).exp(), tokens.advantages, bounds)


def raft(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """1[A > 0] · -min(ρ, clip(ρ)): positives only, with ratio and clip (RAFT++)."""
    positive_T = (tokens.advantages > 0).to(logprobs_T.dtype)
    return clipped((logprobs_T - tokens.prox_logprobs).exp(), positive_T, bounds)


def _decoupled_formula(bounds: Clip) -> str:
    cap = f", 0 where π_prox / π_engine > {bounds.behave:g}" if bounds.behave else ""
    return f"sg[π_prox / π_engine] · ({clipped_formula(bounds)}){cap}"


def _gspo_formula(bounds: Clip) -> str:
    return f"{clipped_formula(bounds)} with ρ the geometric mean over the turn"


CLIP = Loss(clip, clipped_formula, clips="token", dual_clip=True)
DECOUPLED = Loss(decoupled, _decoupled_formula, clips="token", dual_clip=True, decoupled=True)
GSPO = Loss(gspo, _gspo_formula, clips="turn", dual_clip=True)
RAFT = Loss(raft, lambda bounds: f"1[A_i > 0] · -min(ρ, {bounds})", clips="token", positives_only=True)
