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


_CONSTANT = Normalizer(lambda turn, k: 1 / (turn.groups * turn.group_size * k), "1 / ({episodes} · {k:g})")

NORMALIZERS: Registry[Normalizer] = Registry(
    "webdojo.normalizers",
    "normalizer",
    *instance_of(Normalizer),
    {
        # Mean over the tokens of a turn, sum over turns, mean over G and over groups; no 1/T (OpenWebRL §4.4).
        "openwebrl": Normalizer(
            lambda turn, k: 1 / (turn.groups * turn.group_size * turn.tokens), "1 / ({episodes} · |y_it|)"
        ),
        # Mean over the tokens of a turn and over the turns of a trajectory (M-GRPO; WebAgent-R1 §2.3).
        "webagent_r1": Normalizer(
            lambda turn, k: 1 / (turn.groups * turn.group_size * turn.tokens) / turn.turns,
            "1 / ({episodes} · T_i · |y_it|)",
        ),
        # Sum over turns and tokens, divided by a constant (AsyncWebRL, equation 1).
        "asyncwebrl": _CONSTANT,
        # Its constant is the longest response that may be sampled (Dr. GRPO).
        "dr_grpo": _CONSTANT,
        # Mean over all response tokens of the update (DAPO, token-level loss).
        "dapo": Normalizer(lambda turn, k: 1 / turn.all_tokens, "1 / Σ |y|"),
    },
)
"""What `train.normalizer` of a recipe may be."""
