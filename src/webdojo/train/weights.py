"""One weight per response token.

A weight carries the mask, the normaliser of the algorithm, the validity of the trajectory and the mean
over groups. Invariant: summed over every sample of an update, weight times token loss is the
algorithm's whole objective; nothing is divided again later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class TurnShape:
    """The counts that a normaliser may divide by, for turn t of trajectory i."""

    groups: int
    """Groups in the update."""
    group_size: int
    """Trajectories of the group (G), invalid ones included: they lower the group's weight."""
    turns: int
    """Turns of the trajectory (T_i)."""
    tokens: int
    """Response tokens of the turn (|y_it|)."""


def openwebrl(shape: TurnShape, k: float) -> float:
    """Mean over the tokens of a turn, sum over turns, mean over G and over groups; no 1/T.

    w = 1 / (groups · G · |y_it|) (OpenWebRL §4.4). `k` is not used.
    """
    return 1 / (shape.groups * shape.group_size * max(shape.tokens, 1))


def asyncwebrl(shape: TurnShape, k: float) -> float:
    """Sum over turns and tokens, divided by a constant: w = 1 / (groups · G · k) (AsyncWebRL, Eq. 1)."""
    return 1 / (shape.groups * shape.group_size * k)


NORMALIZERS: dict[str, Callable[[TurnShape, float], float]] = {"openwebrl": openwebrl, "asyncwebrl": asyncwebrl}
"""What `train.normalizer` of a recipe may name; each gives the weight of every token of a turn."""


def token_weights(normalizer: str, shape: TurnShape, *, valid: bool, k: float) -> list[float]:
    """The weights of a turn's response tokens, length `shape.tokens`; all 0 for an invalid trajectory."""
    weight = NORMALIZERS[normalizer](shape, k) if valid else 0.0
    return [weight] * shape.tokens
