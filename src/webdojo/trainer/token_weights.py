"""One weight per response token.

A weight carries the normaliser of the algorithm and the mean over groups; what may not train becomes no
sample at all. Invariant: summed over every sample of an update, weight times token loss is the
algorithm's whole objective; nothing is divided again later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from webdojo.plugins import Registry, instance_of


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
    """Response tokens of the turn (|y_it|), at least 1."""
    all_tokens: int
    """Response tokens of all valid trajectories of the update."""


@dataclass(frozen=True)
class Normalizer:
    """A normaliser, as `train.normalizer` of a recipe names it."""

    function: Callable[[TurnShape, float], float]
    """Takes a turn and `train.normalizer_k`, and gives the weight of each of the turn's tokens."""
    formula: str
    """The weight as `webdojo explain` prints it, with `{episodes}` for the trajectories of an update and `{k}`."""


def openwebrl(shape: TurnShape, k: float) -> float:
    """Mean over the tokens of a turn, sum over turns, mean over G and over groups; no 1/T.

    w = 1 / (groups · G · |y_it|) (OpenWebRL §4.4). `k` is not used.
    """
    return 1 / (shape.groups * shape.group_size * shape.tokens)


def webagent_r1(shape: TurnShape, k: float) -> float:
    """Mean over the tokens of a turn and over the turns of a trajectory (M-GRPO).

    w = 1 / (groups · G · T_i · |y_it|) (WebAgent-R1 §2.3). `k` is not used.
    """
    return openwebrl(shape, k) / shape.turns


def asyncwebrl(shape: TurnShape, k: float) -> float:
    """Sum over turns and tokens, divided by a constant: w = 1 / (groups · G · k) (AsyncWebRL, Eq. 1)."""
    return 1 / (shape.groups * shape.group_size * k)


def dapo(shape: TurnShape, k: float) -> float:
    """Mean over all response tokens of the update: w = 1 / Σ |y| (DAPO, token-level loss). `k` is not used."""
    return 1 / shape.all_tokens


_CONSTANT = Normalizer(asyncwebrl, "1 / ({episodes} · {k:g})")

NORMALIZERS: Registry[Normalizer] = Registry(
    "webdojo.normalizers",
    "normalizer",
    *instance_of(Normalizer),
    {
        "openwebrl": Normalizer(openwebrl, "1 / ({episodes} · |y_it|)"),
        "webagent_r1": Normalizer(webagent_r1, "1 / ({episodes} · T_i · |y_it|)"),
        "asyncwebrl": _CONSTANT,
        "dr_grpo": _CONSTANT,  # its constant is the longest response that may be sampled
        "dapo": Normalizer(dapo, "1 / Σ |y|"),
    },
)
"""What `train.normalizer` of a recipe may be."""
