"""Group-relative advantages: one number per trajectory, shared by all of its response tokens.

Invariant: invalid members (infrastructure failures) neither move the group's statistics nor get an
advantage of their own; theirs is exactly 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from webdojo.errors import TrainError

STD_EPS = 1e-6
"""Added to the standard deviation, so that a group of equal rewards has advantage 0."""


def grpo(rewards: Sequence[float], valid: Sequence[bool]) -> list[float]:
    """GRPO: A_i = (R_i - mean(R)) / (std(R) + 1e-6) over the valid members (OpenWebRL §4.4).

    `std` is the population standard deviation (divided by n, not n - 1), so that the advantages of a
    group have variance 1 whatever its size.

    Args:
        rewards: one reward per trajectory of the group.
        valid: whether each trajectory may train (`Reward.valid`).

    Returns:
        One advantage per trajectory; 0 where invalid, and 0 for all where fewer than two are valid.

    Raises:
        TrainError: a valid reward is not finite.
    """
    kept = [reward for reward, ok in zip(rewards, valid, strict=True) if ok]
    for reward in kept:
        if not math.isfinite(reward):
            raise TrainError(f"reward {reward} of a valid trajectory is not finite; mark it invalid instead")
    if len(kept) < 2:
        return [0.0] * len(rewards)
    mean = math.fsum(kept) / len(kept)
    std = math.sqrt(math.fsum((reward - mean) ** 2 for reward in kept) / len(kept))
    return [(reward - mean) / (std + STD_EPS) if ok else 0.0 for reward, ok in zip(rewards, valid, strict=True)]


ADVANTAGES: dict[str, Callable[[Sequence[float], Sequence[bool]], list[float]]] = {"grpo": grpo}
"""What `train.advantage` of a recipe may name."""
