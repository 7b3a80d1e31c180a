"""Advantages against the group (GRPO and its kin), the whole update (REINFORCE++) or nothing (REINFORCE).

An advantage is one number per trajectory, shared by all of its response tokens. Invariant: invalid members
(infrastructure failures) move no statistics and get no advantage of their own; theirs is exactly 0.

A new one is a line in `ADVANTAGES`, or a file of your own that the recipe names. Nothing here imports torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from webdojo.errors import TrainError
from webdojo.plugins import Registry, instance_of
from webdojo.types import Reward

STD_EPS = 1e-6
"""Added to standard deviations, so that equal rewards have advantage 0."""

Groups = Sequence[Sequence[Reward]]


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
        values = valid_rewards([group])
        advantages = iter(of_valid(values) if len(values) >= least else [0.0] * len(values))
        out.append([next(advantages) if reward.valid else 0.0 for reward in group])
    return out


def valid_rewards(groups: Groups) -> list[float]:
    """Rewards of all valid members.

    Raises:
        TrainError: one of them is not finite.
    """
    values = [reward.value for group in groups for reward in group if reward.valid]
    for value in values:
        if not math.isfinite(value):
            raise TrainError(f"reward {value} of a valid trajectory is not finite; mark it invalid instead")
    return values


def centred(values: Sequence[float], by: Sequence[float]) -> list[float]:
    """Values minus the mean of `by`."""
    centre = fmean(by)
    return [value - centre for value in values]


def scaled(values: Sequence[float], by: Sequence[float]) -> list[float]:
    """Values divided by the sample deviation of `by`, which divides by n - 1, and is 0 for fewer than two values."""
    squares = math.fsum(difference**2 for difference in centred(by, by)) if len(by) > 1 else 0.0
    scale = math.sqrt(squares / max(len(by) - 1, 1)) + STD_EPS
    return [value / scale for value in values]


def grpo(groups: Groups) -> list[list[float]]:
    """A_i = (R_i - mean) / (std + 1e-6) over the valid members of the group (OpenWebRL §4.4; GRPO).

    `std` divides by n - 1, as in TRL, verl and slime.
    """
    return by_group(groups, lambda R: scaled(centred(R, R), R), least=2)


def dr_grpo(groups: Groups) -> list[list[float]]:
    """A_i = R_i - mean over the valid members of the group (Dr. GRPO: no division by the deviation)."""
    return by_group(groups, lambda R: centred(R, R), least=2)


def rloo(groups: Groups) -> list[list[float]]:
    """A_i = n/(n-1) · (R_i - mean): the reward minus the mean of the other valid members (RLOO)."""
    return by_group(groups, lambda R: [len(R) / (len(R) - 1) * a for a in centred(R, R)], least=2)


def reinforce(groups: Groups) -> list[list[float]]:
    """A_i = R_i (REINFORCE, no baseline)."""
    return by_group(groups, lambda R: R, least=1)


def reinforce_baseline(groups: Groups) -> list[list[float]]:
    """A_i = R_i - mean of all valid trajectories of the update (REINFORCE with a batch baseline)."""
    everyone = valid_rewards(groups)
    return by_group(groups, lambda R: centred(R, everyone), least=1)


def reinforce_plus_plus(groups: Groups) -> list[list[float]]:
    """A_i = (R_i - mean) / (std + 1e-6) over all valid trajectories of the update (REINFORCE++: global whitening)."""
    everyone = valid_rewards(groups)
    return by_group(groups, lambda R: scaled(centred(R, everyone), everyone), least=1)


def reinforce_plus_plus_baseline(groups: Groups) -> list[list[float]]:
    """As `dr_grpo`, divided by the deviation of those over the whole update (REINFORCE++-baseline)."""
    differences = dr_grpo(groups)
    kept = [
        a for row, group in zip(differences, groups, strict=True) for a, r in zip(row, group, strict=True) if r.valid
    ]
    return [scaled(row, kept) for row in differences]


ADVANTAGES: Registry[Advantage] = Registry(
    "webdojo.advantages",
    "advantage",
    *instance_of(Advantage),
    {
        "grpo": Advantage(grpo, "(R_i - mean_group) / (std_group + 1e-6)"),
        "dr_grpo": Advantage(dr_grpo, "R_i - mean_group"),
        "rloo": Advantage(rloo, "n/(n-1) · (R_i - mean_group), n valid members"),
        "reinforce": Advantage(reinforce, "R_i"),
        "reinforce_baseline": Advantage(reinforce_baseline, "R_i - mean_update"),
        "reinforce_plus_plus": Advantage(reinforce_plus_plus, "(R_i - mean_update) / (std_update + 1e-6)"),
        "reinforce_plus_plus_baseline": Advantage(
            reinforce_plus_plus_baseline, "(R_i - mean_group) / (std_update of these + 1e-6)"
        ),
    },
)
"""What `train.advantage` of a recipe may be."""
