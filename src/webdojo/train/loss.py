"""Losses over flat response tokens.

Every tensor has shape [T]: the response tokens of a row one after the other, without padding.
Invariant: a loss is linear in `weights`, and a token of weight 0 adds nothing to it, to its gradient or
to its statistics.

π is the policy that learns, π_prox the one that ratios are taken against, and π_behave the one that
sampled. ρ = π / π_prox, carrying the gradient; A is the advantage of the token's trajectory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from webdojo.train.turns import turn_means


@dataclass(frozen=True)
class Tokens:
    """What is known of T response tokens before the forward pass; float32 [T] but for `turns`."""

    prox_logprobs: Tensor
    behave_logprobs: Tensor
    """As the engine reported them."""
    advantages: Tensor
    weights: Tensor
    """See `weights.py`."""
    turns: Tensor
    """int64 [T]: which response each token belongs to, counted from 0."""


@dataclass(frozen=True)
class Clip:
    """Bounds of the ratios."""

    low: float = 0.2
    """ε_low."""
    high: float = 0.28
    """ε_high."""
    dual: float = 0.0
    """c of dual clip: where A < 0 a token's loss is at most -c·A; 0 is off."""
    behave: float = 0.0
    """Of `decoupled`: tokens with π_prox / π_behave above it add nothing; 0 is off."""


Surrogate = Callable[[Tensor, Tokens, Clip], Tensor]
"""From log-probabilities [T] with gradient to the loss of each token [T], before weights."""


def clip(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """-min(ρA, clip(ρ, 1 - ε_low, 1 + ε_high) A); with dual clip at most -cA where A < 0 (OpenWebRL §4.4; DAPO)."""
    return _clipped((logprobs_T - tokens.prox_logprobs).exp(), tokens.advantages, bounds)


def decoupled(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """sg[π_prox / π_behave] · `clip`, 0 where that weight is too large (decoupled PPO; AsyncWebRL, equation 1)."""
    weight = (tokens.prox_logprobs - tokens.behave_logprobs).exp()
    return torch.where(_too_heavy(tokens, bounds), 0, weight) * clip(logprobs_T, tokens, bounds)


def _too_heavy(tokens: Tokens, bounds: Clip) -> Tensor:
    """bool [T]"""
    return (tokens.prox_logprobs - tokens.behave_logprobs).exp() > (bounds.behave or math.inf)


def gspo(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """`clip` with the ratio of the whole turn, s = exp(mean log ρ), straight through to each token (GSPO)."""
    log_ratio = (logprobs_T - tokens.prox_logprobs).detach()
    mean_T = turn_means(log_ratio, tokens.turns)
    return _clipped((mean_T + logprobs_T - logprobs_T.detach()).exp(), tokens.advantages, bounds)


def cispo(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """-sg[clip(ρ, 1 - ε_low, 1 + ε_high)] A log π: the clip bounds the weight and stops no gradient (CISPO)."""
    ratio = (logprobs_T - tokens.prox_logprobs).detach().exp().clamp(1 - bounds.low, 1 + bounds.high)
    return -ratio * tokens.advantages * logprobs_T


def raft(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """1[A > 0] · -min(ρ, clip(ρ)): positives only, with ratio and clip (RAFT++)."""
    positive = (tokens.advantages > 0).to(logprobs_T.dtype)
    return _clipped((logprobs_T - tokens.prox_logprobs).exp(), positive, bounds)


def bc(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """1[A > 0] · -log π: filtered behaviour cloning (WebGym §5.1)."""
    return -(tokens.advantages > 0).to(logprobs_T.dtype) * logprobs_T


SURROGATES: dict[str, Surrogate] = {f.__name__: f for f in (clip, decoupled, gspo, cispo, raft, bc)}
"""What `train.policy_loss` of a recipe may name."""
UNCLIPPED = ("cispo", "bc")
"""Those in which a clip cuts off no gradient."""


def _clipped(ratio_T: Tensor, advantages_T: Tensor, bounds: Clip) -> Tensor:
    free = ratio_T * advantages_T
    gain = torch.minimum(free, ratio_T.clamp(1 - bounds.low, 1 + bounds.high) * advantages_T)
    if bounds.dual:
        gain = torch.where(advantages_T < 0, torch.maximum(gain, bounds.dual * advantages_T), gain)
    return -gain


def kl_k1(logprobs_T: Tensor, reference_T: Tensor) -> Tensor:
    """log π - log π_ref: unbiased, of either sign; as a loss its gradient does not hold the policy back."""
    return logprobs_T - reference_T


def kl_k2(logprobs_T: Tensor, reference_T: Tensor) -> Tensor:
    """(log π - log π_ref)² / 2: its gradient is that of KL(π || π_ref) on samples of π."""
    return (logprobs_T - reference_T).square() / 2


def kl_k3(logprobs_T: Tensor, reference_T: Tensor) -> Tensor:
    """r - 1 - log r with r = π_ref / π: unbiased, never negative (GRPO; WebAgent-R1 §2.3)."""
    log_r = reference_T - logprobs_T
    return log_r.exp() - 1 - log_r


KL_ESTIMATORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"k1": kl_k1, "k2": kl_k2, "k3": kl_k3}
"""What `train.kl_estimator` of a recipe may name."""


@dataclass(frozen=True)
class PolicyStats:
    """Plain means over the tokens with a weight other than 0, whatever that weight is."""

    tokens: int
    clip_fraction: float
    """Share of tokens whose gradient the clip of ρ, of `gspo` that of the turn, cuts off; 0 in `UNCLIPPED` losses."""
    dual_clip_fraction: float
    """Share of tokens whose gradient dual clip cuts off."""
    capped_fraction: float
    """Share of tokens whose π_prox / π_behave is above its cap."""
    approx_kl: float
    """KL(π_prox || π) by the k3 estimator, mean of (ρ - 1 - log ρ); nats, never negative."""
    ratio: float
    """Mean of ρ."""


@torch.no_grad()
def policy_stats(logprobs_T: Tensor, tokens: Tokens, bounds: Clip, policy_loss: str = "clip") -> PolicyStats:
    """How far the policy has moved from π_prox on these tokens, and what the loss of that name cuts off."""
    counted = tokens.weights != 0
    log_ratio_T = logprobs_T - tokens.prox_logprobs
    held_T = turn_means(log_ratio_T, tokens.turns) if policy_loss == "gspo" else log_ratio_T
    advantages, log_ratio, held = tokens.advantages[counted], log_ratio_T[counted], held_T[counted].exp()
    if policy_loss == "raft":
        advantages = advantages.clamp(min=0)
    ratio = log_ratio.exp()
    count = len(ratio)
    share = 1 / max(count, 1)
    outside = held.clamp(1 - bounds.low, 1 + bounds.high) * advantages < held * advantages
    if policy_loss in UNCLIPPED:
        outside = torch.zeros_like(outside)
    dual = (advantages < 0) & (held > bounds.dual) if bounds.dual else torch.zeros_like(outside)
    return PolicyStats(
        tokens=count,
        clip_fraction=share * float(outside.sum()),
        dual_clip_fraction=share * float(dual.sum()),
        capped_fraction=share * float(_too_heavy(tokens, bounds)[counted].sum()),
        approx_kl=share * float((ratio - 1 - log_ratio).sum()),
        ratio=share * float(ratio.sum()),
    )


def likelihood_loss(logprobs_T: Tensor, weights_T: Tensor) -> Tensor:
    """Σ_k w_k · -logπ_k: supervised fine-tuning on the target responses (OpenWebRL §4.2)."""
    return -(weights_T * logprobs_T).sum()
