"""Advantages against the rest of the group: GRPO and its kin."""

from __future__ import annotations

from webdojo.train.advantages.advantage import Advantage, Groups, by_group, centred, scaled


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


GRPO = Advantage(grpo, "(R_i - mean_group) / (std_group + 1e-6)")
DR_GRPO = Advantage(dr_grpo, "R_i - mean_group")
RLOO = Advantage(rloo, "n/(n-1) · (R_i - mean_group), n valid members")
