"""Filters: which finished groups train, and why the others do not.

A filter is a function of a group. It returns its reason, and what a user can do about it, together with its verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from webdojo.rollout.groups import Group

SPREAD = 1e-6
"""Rewards closer than this count as equal (DAPO)."""


class FilterOutput(NamedTuple):
    """Whether a group trains."""

    keep: bool
    reason: str
    """A few words that can be counted."""
    advice: str = ""
    """What the user can do where this reason leaves too few groups."""


GroupFilter = Callable[[Group], FilterOutput]

STALE = FilterOutput(False, "too stale", "raise rollout.max_staleness")
"""The verdict on a group whose tokens have become too old, which the pool itself gives."""


_SETTLED_ADVICE = {
    "0": "the policy never succeeds: take easier tasks or more warm start (sft.demos) in a new --run",
    "1": "the policy always succeeds: take harder tasks in a new --run",
    "-1": "the policy does not hold the response format: take more warm start (sft.demos) in a new --run",
}


def dynamic_sampling(group: Group) -> FilterOutput:
    """Keep a group if at least two members are valid and their rewards differ (DAPO; OpenWebRL §4.4)."""
    rewards = group.rewards
    if len(rewards) < 2:
        causes = sorted({str(t.termination) for t in group.trajectories if t.termination.is_infra})
        reason = f"fewer than 2 valid members ({', '.join(causes)})"
        return FilterOutput(False, reason, "the web or the engine fails: read the errors of the stored trajectories")
    if not is_settled(rewards):
        return FilterOutput(True, "effective")
    reward = f"{rewards[0]:g}"
    return FilterOutput(False, f"all rewards {reward}", _SETTLED_ADVICE.get(reward, ""))


def is_settled(rewards: Sequence[float]) -> bool:
    """True where all members that count have the same reward, always solved or never, so that none is better."""
    return len(rewards) >= 2 and max(rewards) - min(rewards) <= SPREAD
