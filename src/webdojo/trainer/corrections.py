"""Corrections where the engine that sampled and the learner that scores disagree.

Both hold the same weights and still give other probabilities (other kernels, other precision). With
ρ_k = π_learner / π_engine of each sampled token, a correction is a factor for the token's loss, without
gradient: clipped, or 0 for what is out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webdojo.plugins import Registry, instance_of
from webdojo.trainer.losses.loss import turn_means, turn_sums

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Correction:
    """A correction, as `train.correction` of a recipe names it."""

    function: Callable[[Tensor, Tensor, float, float], Tensor]
    """Takes log ρ [T], the turn of each token [T], and bounds low and high; gives a factor for each token [T]."""
    formula: str
    """The factor as `webdojo explain` prints it, with `{low}` and `{high}` for the bounds; q is the ratio of a
    token."""


def none(log_ratio_T: Tensor, turns_T: Tensor, low: float, high: float) -> Tensor:
    """1: the engine is trusted."""
    return log_ratio_T.new_ones(len(log_ratio_T))


def tis(log_ratio_T: Tensor, turns_T: Tensor, low: float, high: float) -> Tensor:
    """clamp(ρ, low, high) of each token (truncated importance sampling)."""
    return log_ratio_T.exp().clamp(low, high)


def icepop(log_ratio_T: Tensor, turns_T: Tensor, low: float, high: float) -> Tensor:
    """1[low <= ρ <= high] of each token (IcePop)."""
    return _within(log_ratio_T.exp(), low, high).to(log_ratio_T.dtype)


def mis_token(log_ratio_T: Tensor, turns_T: Tensor, low: float, high: float) -> Tensor:
    """ρ of each token where it is within bounds, else 0 (masked importance sampling)."""
    return _masked(log_ratio_T.exp(), low, high)


def mis_sequence(log_ratio_T: Tensor, turns_T: Tensor, low: float, high: float) -> Tensor:
    """Π ρ over the turn where it is within bounds, else 0: a turn is kept or dropped as a whole."""
    return _masked(turn_sums(log_ratio_T, turns_T).exp(), low, high)


def mis_geometric(log_ratio_T: Tensor, turns_T: Tensor, low: float, high: float) -> Tensor:
    """1 where the geometric mean of ρ over the turn is within bounds, else 0."""
    return _within(turn_means(log_ratio_T, turns_T).exp(), low, high).to(log_ratio_T.dtype)


CORRECTIONS: Registry[Correction] = Registry(
    "webdojo.corrections",
    "correction",
    *instance_of(Correction),
    {
        "none": Correction(none, "1"),
        "tis": Correction(tis, "clamp(q, {low:g}, {high:g})"),
        "icepop": Correction(icepop, "1[{low:g} <= q <= {high:g}]"),
        "mis_token": Correction(mis_token, "q · 1[{low:g} <= q <= {high:g}]"),
        "mis_sequence": Correction(mis_sequence, "Q · 1[{low:g} <= Q <= {high:g}], Q = product of q over the turn"),
        "mis_geometric": Correction(
            mis_geometric, "1[{low:g} <= Q <= {high:g}], Q = geometric mean of q over the turn"
        ),
    },
)
"""What `train.correction` of a recipe may be."""


def _within(ratio: Tensor, low: float, high: float) -> Tensor:
    return (ratio >= low) & (ratio <= high)


def _masked(ratio: Tensor, low: float, high: float) -> Tensor:
    # Not a product: over a turn the ratio may be infinite.
    return ratio.masked_fill(~_within(ratio, low, high), 0)
