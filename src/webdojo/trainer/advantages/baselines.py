"""Advantages against the group (GRPO and its kin), the whole update (REINFORCE++) or nothing (REINFORCE)."""

from __future__ import annotations

from webdojo.trainer.advantages.advantage import Advantage, Groups, by_group, centred, scaled, valid_rewards


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
        a for row, group in zip(differences, groups, strict=True) for a, o in zip(row, group, strict=True) if o.valid
    ]
    return [scaled(row, kept) for row in differences]


GRPO = Advantage(grpo, "(R_i - mean_group) / (std_group + 1e-6)")
DR_GRPO = Advantage(dr_grpo, "R_i - mean_group")
RLOO = Advantage(rloo, "n/(n-1) · (R_i - mean_group), n valid members")
REINFORCE = Advantage(reinforce, "R_i")
REINFORCE_BASELINE = Advantage(reinforce_baseline, "R_i - mean_update")
REINFORCE_PLUS_PLUS = Advantage(reinforce_plus_plus, "(R_i - mean_update) / (std_update + 1e-6)")
REINFORCE_PLUS_PLUS_BASELINE = Advantage(
    reinforce_plus_plus_baseline, "(R_i - mean_group) / (std_update of these + 1e-6)"
)
