"""Advantages: one number per trajectory, shared by all of its response tokens.

Each takes all groups of an update, since some normalise over all of them. Invariant: invalid members
(infrastructure failures) move no statistics and get no advantage of their own; theirs is exactly 0.
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


def grpo(groups: Groups) -> list[list[float]]:
    """A_i = (R_i - mean) / (std + 1e-6) over the valid members of the group (OpenWebRL §4.4; GRPO).

    `std` divides by n - 1, as in TRL, verl and slime.
    """
    return _by_group(groups, lambda R: [(r - _mean(R)) / (_std(R) + STD_EPS) for r in R], least=2)


def dr_grpo(groups: Groups) -> list[list[float]]:
    """A_i = R_i - mean over the valid members of the group (Dr. GRPO: no division by the deviation)."""
    return _by_group(groups, lambda R: [r - _mean(R) for r in R], least=2)


def rloo(groups: Groups) -> list[list[float]]:
    """A_i = n/(n-1) · (R_i - mean): the reward minus the mean of the other valid members (RLOO)."""
    return _by_group(groups, lambda R: [len(R) / (len(R) - 1) * (r - _mean(R)) for r in R], least=2)


def reinforce(groups: Groups) -> list[list[float]]:
    """A_i = R_i (REINFORCE, no baseline)."""
    return _by_group(groups, lambda R: R, least=1)


def reinforce_baseline(groups: Groups) -> list[list[float]]:
    """A_i = R_i - mean of all valid trajectories of the update (REINFORCE with a batch baseline)."""
    everyone = _valid(groups)
    return _by_group(groups, lambda R: [r - _mean(everyone) for r in R], least=1)


def reinforce_plus_plus(groups: Groups) -> list[list[float]]:
    """A_i = (R_i - mean) / (std + 1e-6) over all valid trajectories of the update (REINFORCE++: global whitening)."""
    everyone = _valid(groups)
    return _by_group(groups, lambda R: [(r - _mean(everyone)) / (_std(everyone) + STD_EPS) for r in R], least=1)


def reinforce_plus_plus_baseline(groups: Groups) -> list[list[float]]:
    """As `dr_grpo`, divided by the deviation of those over the whole update (REINFORCE++-baseline)."""
    centred = dr_grpo(groups)
    kept = [a for row, group in zip(centred, groups, strict=True) for a, o in zip(row, group, strict=True) if o.valid]
    scale = (_std(kept) if kept else 0.0) + STD_EPS
    return [[a / scale for a in row] for row in centred]


ADVANTAGES: dict[str, Callable[[Groups], list[list[float]]]] = {
    function.__name__: function
    for function in (
        *(grpo, dr_grpo, rloo, reinforce, reinforce_baseline),
        *(reinforce_plus_plus, reinforce_plus_plus_baseline),
    )
}
"""What `train.advantage` of a recipe may name."""


def _by_group(groups: Groups, of_valid: Callable[[list[float]], Sequence[float]], least: int) -> list[list[float]]:
    """Advantages of the valid members by `of_valid`; 0 for the others, and for groups with fewer than `least`."""
    out: list[list[float]] = []
    for group in groups:
        rewards = _valid([group])
        advantages = iter(of_valid(rewards) if len(rewards) >= least else [0.0] * len(rewards))
        out.append([next(advantages) if outcome.valid else 0.0 for outcome in group])
    return out


def _valid(groups: Groups) -> list[float]:
    """Rewards of all valid members.

    Raises:
        TrainError: one of them is not finite.
    """
    rewards = [outcome.reward for group in groups for outcome in group if outcome.valid]
    for reward in rewards:
        if not math.isfinite(reward):
            raise TrainError(f"reward {reward} of a valid trajectory is not finite; mark it invalid instead")
    return rewards


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _std(values: Sequence[float]) -> float:
    """The sample deviation, which divides by n - 1; 0 for a single value."""
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1))
