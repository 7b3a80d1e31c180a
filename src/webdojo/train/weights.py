"""One weight per response token.

A weight carries the normaliser of the algorithm and the mean over groups; what may not train becomes no
sample at all. Invariant: summed over every sample of an update, weight times token loss is the
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
    all_tokens: int
    """Response tokens of all valid trajectories of the update."""


def openwebrl(shape: TurnShape, k: float) -> float:
    """Mean over the tokens of a turn, sum over turns, mean over G and over groups; no 1/T.

    w = 1 / (groups · G · |y_it|) (OpenWebRL §4.4). `k` is not used.
    """
    return 1 / (shape.groups * shape.group_size * max(shape.tokens, 1))


def webagent_r1(shape: TurnShape, k: float) -> float:
    """Mean over the tokens of a turn and over the turns of a trajectory (M-GRPO).

    w = 1 / (groups · G · T_i · |y_it|) (WebAgent-R1 §2.3). `k` is not used.
    """
    return openwebrl(shape, k) / max(shape.turns, 1)


def asyncwebrl(shape: TurnShape, k: float) -> float:
    """Sum over turns and tokens, divided by a constant: w = 1 / (groups · G · k) (AsyncWebRL, Eq. 1)."""
    return 1 / (shape.groups * shape.group_size * k)


def dapo(shape: TurnShape, k: float) -> float:
    """Mean over all response tokens of the update: w = 1 / Σ |y| (DAPO, token-level loss). `k` is not used."""
    return 1 / max(shape.all_tokens, 1)


NORMALIZERS: dict[str, Callable[[TurnShape, float], float]] = {
    "openwebrl": openwebrl,
    "webagent_r1": webagent_r1,
    "asyncwebrl": asyncwebrl,
    "dr_grpo": asyncwebrl,  # the same formula; its constant is the longest response that may be sampled
    "dapo": dapo,
}
"""What `train.normalizer` of a recipe may name; each gives the weight of every token of a turn."""


def token_weights(normalizer: str, shape: TurnShape, *, k: float) -> list[float]:
    """The weights of the response tokens of a turn of a valid trajectory, length `shape.tokens`."""
    return [NORMALIZERS[normalizer](shape, k)] * shape.tokens
