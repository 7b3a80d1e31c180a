"""Advantages without a group, or against the whole update: REINFORCE and REINFORCE++."""

from __future__ import annotations

from webdojo.train.advantages.advantage import Advantage, Groups, by_group, centred, scaled, valid_rewards
from webdojo.train.advantages.group import dr_grpo


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
        a for row, group in zip(differences, groups, strict=True) for a, o in zip(row, group, strict=True) if o.valid
    ]
    return [scaled(row, kept) for row in differences]


REINFORCE = Advantage(reinforce, "R_i")
REINFORCE_BASELINE = Advantage(reinforce_baseline, "R_i - mean_update")
REINFORCE_PLUS_PLUS = Advantage(reinforce_plus_plus, "(R_i - mean_update) / (std_update + 1e-6)")
REINFORCE_PLUS_PLUS_BASELINE = Advantage(
    reinforce_plus_plus_baseline, "(R_i - mean_group) / (std_update of these + 1e-6)"
)
