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
from webdojo.trainer.losses import turn_means, turn_sums

if TYPE_CHECKING:
    from torch import Tensor

LOW, HIGH = 0.0, 2.0
"""The bounds of ρ."""


@dataclass(frozen=True)
class Correction:
    """A correction, as `train.correction` of a recipe names it."""

    function: Callable[[Tensor, Tensor], Tensor]
    """Takes log ρ [T] and the turn of each token [T]; gives a factor for each token [T]."""
    formula: str
    """The factor as `webdojo explain` prints it; q is the ratio of a token."""


def none(log_ratio_T: Tensor, turns_T: Tensor) -> Tensor:
    """1: the engine is trusted."""
    return log_ratio_T.new_ones(len(log_ratio_T))


def tis(log_ratio_T: Tensor, turns_T: Tensor) -> Tensor:
    """clamp(ρ, low, high) of each token (truncated importance sampling)."""
    return log_ratio_T.exp().clamp(LOW, HIGH)


def icepop(log_ratio_T: Tensor, turns_T: Tensor) -> Tensor:
    """1[low <= ρ <= high] of each token (IcePop)."""
    return _within(log_ratio_T.exp()).to(log_ratio_T.dtype)


def mis_token(log_ratio_T: Tensor, turns_T: Tensor) -> Tensor:
    """ρ of each token where it is within bounds, else 0 (masked importance sampling)."""
    return _masked(log_ratio_T.exp())


def mis_sequence(log_ratio_T: Tensor, turns_T: Tensor) -> Tensor:
    """Π ρ over the turn where it is within bounds, else 0: a turn is kept or dropped as a whole."""
    return _masked(turn_sums(log_ratio_T, turns_T).exp())


def mis_geometric(log_ratio_T: Tensor, turns_T: Tensor) -> Tensor:
    """1 where the geometric mean of ρ over the turn is within bounds, else 0."""
    return _within(turn_means(log_ratio_T, turns_T).exp()).to(log_ratio_T.dtype)


def _within(ratio: Tensor) -> Tensor:
    return (ratio >= LOW) & (ratio <= HIGH)


def _masked(ratio: Tensor) -> Tensor:
    # Not a product: over a turn the ratio may be infinite.
    return ratio.masked_fill(~_within(ratio), 0)


_TOKEN, _TURN = (f"1[{LOW:g} <= {ratio} <= {HIGH:g}]" for ratio in "qQ")

CORRECTIONS: Registry[Correction] = Registry(
    "webdojo.corrections",
    "correction",
    *instance_of(Correction),
    {
        "none": Correction(none, "1"),
        "tis": Correction(tis, f"clamp(q, {LOW:g}, {HIGH:g})"),
        "icepop": Correction(icepop, _TOKEN),
        "mis_token": Correction(mis_token, f"q · {_TOKEN}"),
        "mis_sequence": Correction(mis_sequence, f"Q · {_TURN}, Q = product of q over the turn"),
        "mis_geometric": Correction(mis_geometric, f"{_TURN}, Q = geometric mean of q over the turn"),
    },
)
"""What `train.correction` of a recipe may be."""
