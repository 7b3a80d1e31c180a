"""Policy losses, one record each, and what may stand beside them: corrections and KL estimators.

A loss is a function over flat response tokens: every tensor has shape [T], the response tokens of a micro-batch one
after the other, without padding. Invariant: it is computed token by token before weights, so that a token of weight 0
adds nothing to it, to its gradient or to its statistics.

π is the policy that learns, π_prox the one that ratios are taken against, and π_behave the one that
sampled. ρ = π / π_prox, carrying the gradient; A is the advantage of the token's trajectory.

A new one is a line in its registry, or a file of your own that the recipe names. Nothing here imports torch: the recipe
reads the records when it is validated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from webdojo.plugins import Registry, instance_of

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Tokens:
    """T response tokens as they are known before the forward pass; float32 [T] but for `turns`."""

    prox_logprobs: Tensor
    behave_logprobs: Tensor
    advantages: Tensor
    token_weights: Tensor
    """See `advantages.py`."""
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
    """Cap of a decoupled loss: tokens with π_prox / π_behave above it add nothing; 0 is off."""

    def clamp(self, ratio_T: Tensor) -> Tensor:
        """clip(ρ, 1 - ε_low, 1 + ε_high)."""
        return ratio_T.clamp(1 - self.low, 1 + self.high)

    def __str__(self) -> str:
        return f"clip(ρ, {1 - self.low:g}, {1 + self.high:g})"


@dataclass(frozen=True)
class Loss:
    """A policy loss, as `train.policy_loss` of a recipe names it."""

    function: Callable[[Tensor, Tokens, Clip], Tensor]
    """Takes log-probabilities [T] with gradient and gives the loss of each token [T], before weights. Methods of
    tensors will do, so its module need not import torch."""
    formula: Callable[[Clip], str]
    """The loss of token k as `webdojo explain` prints it."""
    clips: Literal["token", "turn"] | None = None
    """The ratio whose clip cuts gradients off: that of each token, or that of the whole turn; None where none does."""
    positives_only: bool = False
    """It imitates what got a positive reward and learns nothing from the rest: the advantage of a token is then 1 or 0,
    whatever `train.advantage` is."""
    dual_clip: bool = False
    """It honours `Clip.dual`; `train.dual_clip` is refused for others."""
    decoupled: bool = False
    """It weighs tokens by π_prox / π_behave, up to `Clip.behave`: it needs a π_prox, and takes no correction."""

    def __post_init__(self) -> None:
        for name, given in (("function", self.function), ("formula", self.formula)):
            if not callable(given):
                raise TypeError(f"{name} of a Loss is called, so it must be a function, not {given!r}")


def clipped(ratio_T: Tensor, advantages_T: Tensor, bounds: Clip) -> Tensor:
    """-min(ρA, clip(ρ) A); with dual clip at most -cA where A < 0."""
    gain = (ratio_T * advantages_T).minimum(bounds.clamp(ratio_T) * advantages_T)
    if bounds.dual:
        gain = gain.maximum(bounds.dual * advantages_T).where(advantages_T < 0, gain)
    return -gain


def too_far(tokens: Tokens, bounds: Clip) -> Tensor:
    """bool [T]: where π_prox / π_behave is above its cap."""
    return (tokens.prox_logprobs - tokens.behave_logprobs).exp() > (bounds.behave or math.inf)


def turn_sums(values_T: Tensor, turns_T: Tensor) -> Tensor:
    """For each token the sum over its turn: values [T], and int64 [T], the turn of each token counted from 0."""
    turns = int(turns_T.max()) + 1 if len(turns_T) else 0
    return values_T.new_zeros(turns).index_add(0, turns_T, values_T)[turns_T]


def turn_means(values_T: Tensor, turns_T: Tensor) -> Tensor:
    """For each token the mean over its turn, as `turn_sums`."""
    return turn_sums(values_T, turns_T) / turn_sums(values_T.new_ones(len(values_T)), turns_T)


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


def cispo(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """-sg[clip(ρ, 1 - ε_low, 1 + ε_high)] A log π: the clip bounds the weight and stops no gradient (CISPO)."""
    ratio_T = bounds.clamp((logprobs_T - tokens.prox_logprobs).detach().exp())
    return -ratio_T * tokens.advantages * logprobs_T


def raft(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """1[R > 0] · -min(ρ, clip(ρ)): positives only, with ratio and clip (RAFT++)."""
    return clipped((logprobs_T - tokens.prox_logprobs).exp(), tokens.advantages, bounds)


def bc(logprobs_T: Tensor, tokens: Tokens, bounds: Clip) -> Tensor:
    """1[R > 0] · -log π: filtered behaviour cloning (WebGym, equation 1)."""
    return -tokens.advantages * logprobs_T


def _clip_formula(bounds: Clip) -> str:
    most = f", at most {-bounds.dual:g} A_i where A_i < 0" if bounds.dual else ""
    return f"-min(ρ A_i, {bounds} A_i){most}"


def _decoupled_formula(bounds: Clip) -> str:
    cap = f", 0 where π_prox / π_engine > {bounds.behave:g}" if bounds.behave else ""
    return f"sg[π_prox / π_engine] · ({_clip_formula(bounds)}){cap}"


def _gspo_formula(bounds: Clip) -> str:
    return f"{_clip_formula(bounds)} with ρ the geometric mean over the turn"


LOSSES: Registry[Loss] = Registry(
    "webdojo.losses",
    "loss",
    *instance_of(Loss),
    {
        "clip": Loss(clip, _clip_formula, clips="token", dual_clip=True),
        "decoupled": Loss(decoupled, _decoupled_formula, clips="token", dual_clip=True, decoupled=True),
        "gspo": Loss(gspo, _gspo_formula, clips="turn", dual_clip=True),
        "cispo": Loss(cispo, lambda bounds: f"-sg[{bounds}] A_i log π_θ(k)"),
        "raft": Loss(raft, lambda bounds: f"-min(ρ, {bounds}) A_i", clips="token", positives_only=True),
        "bc": Loss(bc, lambda bounds: "-log π_θ(k) A_i", positives_only=True),
    },
)
"""What `train.policy_loss` of a recipe may be."""


LOW, HIGH = 0.0, 2.0
"""Bounds of what a correction compares, but for IcePop."""
ICEPOP_LOW, ICEPOP_HIGH = 0.5, 5.0
"""α and β of IcePop, which masks tokens on both sides; those of its authors."""


@dataclass(frozen=True)
class Correction:
    """A correction for engines that disagree with the learner, as `train.correction` of a recipe names it.

    Both hold the same weights and still give other probabilities (other kernels, other precision). With
    ρ_k = π_learner / π_engine of each sampled token, it is a factor for the token's loss, without gradient: clipped, or
    0 for what is out of bounds.
    """

    function: Callable[[Tensor, Tensor], Tensor]
    """Takes log ρ [T] and the turn of each token [T]; gives a factor for each token [T]."""
    formula: str
    """The factor as `webdojo explain` prints it; q is the ratio of a token."""


def _within(ratio: Tensor) -> Tensor:
    return (ratio >= LOW) & (ratio <= HIGH)


def _masked(ratio: Tensor, low: float, high: float) -> Tensor:
    # Not a product: over a turn the ratio may be infinite.
    return ratio.masked_fill((ratio < low) | (ratio > high), 0)


_TOKEN, _TURN = (f"1[{LOW:g} <= {ratio} <= {HIGH:g}]" for ratio in "qQ")

CORRECTIONS: Registry[Correction] = Registry(
    "webdojo.corrections",
    "correction",
    *instance_of(Correction),
    {
        "none": Correction(lambda log_q, turns: log_q.new_ones(len(log_q)), "1"),
        # Truncated importance sampling.
        "tis": Correction(lambda log_q, turns: log_q.exp().clamp(LOW, HIGH), f"clamp(q, {LOW:g}, {HIGH:g})"),
        # IcePop (Ring-1T, arXiv 2510.18855): M(q) = q within [α, β], else 0.
        "icepop": Correction(
            lambda log_q, turns: _masked(log_q.exp(), ICEPOP_LOW, ICEPOP_HIGH),
            f"q · 1[{ICEPOP_LOW:g} <= q <= {ICEPOP_HIGH:g}]",
        ),
        # Masked importance sampling, of tokens, and of turns, which are kept or dropped as a whole.
        "mis_token": Correction(lambda log_q, turns: _masked(log_q.exp(), LOW, HIGH), f"q · {_TOKEN}"),
        "mis_sequence": Correction(
            lambda log_q, turns: _masked(turn_sums(log_q, turns).exp(), LOW, HIGH),
            f"Q · {_TURN}, Q = product of q over the turn",
        ),
        "mis_geometric": Correction(
            lambda log_q, turns: _within(turn_means(log_q, turns).exp()).to(log_q.dtype),
            f"{_TURN}, Q = geometric mean of q over the turn",
        ),
    },
)
"""What `train.correction` of a recipe may be."""


@dataclass(frozen=True)
class KLEstimator:
    """An estimator of KL(π || π_ref), token by token, as `train.kl_estimator` of a recipe names it."""

    function: Callable[[Tensor, Tensor], Tensor]
    """Takes log-probabilities [T] under the policy, with gradient, and under the reference model; gives [T]."""
    formula: str
    """The term of token k as `webdojo explain` prints it."""


KL_ESTIMATORS: Registry[KLEstimator] = Registry(
    "webdojo.kl_estimators",
    "KL estimator",
    *instance_of(KLEstimator),
    {
        # Unbiased, of either sign; as a loss its gradient does not hold the policy back.
        "k1": KLEstimator(lambda log_p, log_ref: log_p - log_ref, "log π - log π_ref"),
        # Its gradient is that of KL(π || π_ref) on samples of π.
        "k2": KLEstimator(lambda log_p, log_ref: (log_p - log_ref).square() / 2, "(log π - log π_ref)² / 2"),
        # Unbiased, never negative (GRPO; WebAgent-R1 §2.3).
        "k3": KLEstimator(
            lambda log_p, log_ref: (log_ref - log_p).exp() - 1 - (log_ref - log_p), "π_ref/π - 1 - log(π_ref/π)"
        ),
    },
)
"""What `train.kl_estimator` of a recipe may be."""
