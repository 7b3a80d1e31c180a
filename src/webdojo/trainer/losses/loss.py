"""The record of a policy loss: a function over flat response tokens, and what the rest of the code has to know of it.

Every tensor has shape [T]: the response tokens of a micro-batch one after the other, without padding.
Invariant: a loss is computed token by token before weights, so that a token of weight 0 adds nothing to it, to its
gradient or to its statistics.

π is the policy that learns, π_prox the one that ratios are taken against, and π_behave the one that
sampled. ρ = π / π_prox, carrying the gradient; A is the advantage of the token's trajectory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Tokens:
    """T response tokens as they are known before the forward pass; float32 [T] but for `turns`."""

    prox_logprobs: Tensor
    behave_logprobs: Tensor
    """As the engine reported them."""
    advantages: Tensor
    token_weights: Tensor
    """See `token_weights.py`."""
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
    """Nothing is learned from an advantage of 0 or below."""
    dual_clip: bool = False
    """It honours `Clip.dual`; `train.dual_clip` is refused for others."""
    decoupled: bool = False
    """It weighs tokens by π_prox / π_behave, up to `Clip.behave`: it needs a π_prox, and takes no correction."""


def clipped(ratio_T: Tensor, advantages_T: Tensor, bounds: Clip) -> Tensor:
    """-min(ρA, clip(ρ) A); with dual clip at most -cA where A < 0."""
    gain = (ratio_T * advantages_T).minimum(bounds.clamp(ratio_T) * advantages_T)
    if bounds.dual:
        gain = gain.maximum(bounds.dual * advantages_T).where(advantages_T < 0, gain)
    return -gain


def clipped_formula(bounds: Clip) -> str:
    """The formula of `clipped`."""
    most = f", at most {-bounds.dual:g} A_i where A_i < 0" if bounds.dual else ""
    return f"-min(ρ A_i, {bounds} A_i){most}"


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
