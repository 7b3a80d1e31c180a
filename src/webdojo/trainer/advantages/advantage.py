"""The record of an advantage: one number per trajectory, shared by all of its response tokens.

Invariant: invalid members (infrastructure failures) move no statistics and get no advantage of their own; theirs is
exactly 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from webdojo.errors import TrainError

STD_EPS = 1e-6
"""Added to standard deviations, so that equal rewards have advantage 0."""


@dataclass(frozen=True)
class Outcome:
    """How one trajectory ended."""

    reward: float
    valid: bool = True
    """False: it may not train (`Reward.valid`)."""


Groups = Sequence[Sequence[Outcome]]


@dataclass(frozen=True)
class Advantage:
    """An advantage, as `train.advantage` of a recipe names it."""

    function: Callable[[Groups], list[list[float]]]
    """Takes all groups of an update, since some normalise over all of them, and gives one number per member."""
    formula: str
    """A_i as `webdojo explain` prints it."""


def by_group(groups: Groups, of_valid: Callable[[list[float]], Sequence[float]], least: int) -> list[list[float]]:
    """Advantages of the valid members by `of_valid`; 0 for the others, and for groups with fewer than `least`."""
    out: list[list[float]] = []
    for group in groups:
        rewards = valid_rewards([group])
        advantages = iter(of_valid(rewards) if len(rewards) >= least else [0.0] * len(rewards))
        out.append([next(advantages) if outcome.valid else 0.0 for outcome in group])
    return out


def valid_rewards(groups: Groups) -> list[float]:
    """Rewards of all valid members.

    Raises:
        TrainError: one of them is not finite.
    """
    rewards = [outcome.reward for group in groups for outcome in group if outcome.valid]
    for reward in rewards:
        if not math.isfinite(reward):
            raise TrainError(f"reward {reward} of a valid trajectory is not finite; mark it invalid instead")
    return rewards


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def std(values: Sequence[float]) -> float:
    """The sample deviation, which divides by n - 1; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def centred(values: Sequence[float], by: Sequence[float]) -> list[float]:
    """Values minus the mean of `by`."""
    centre = mean(by)
    return [value - centre for value in values]


def scaled(values: Sequence[float], by: Sequence[float]) -> list[float]:
    """Values divided by the deviation of `by`."""
    scale = std(by) + STD_EPS
    return [value / scale for value in values]
