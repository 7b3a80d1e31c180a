"""What the episodes of an iteration did and where their time went, how old its batch is, and how a policy was measured:
figures by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from webdojo.agent.prefix import shared_fraction
from webdojo.rollout.groups import TOO_STALE, Group
from webdojo.rollout.pool import Taken
from webdojo.rollout.slot_time import PHASES, slot_seconds
from webdojo.train.batch import Sample


def of_episodes(taken: Taken) -> dict[str, float]:
    """Over all groups that ended since the update before; means over none are left out."""
    episodes = [t for group in taken.finished for t in group.trajectories]
    rewards = [t.reward for t in episodes if t.reward is not None and t.reward.valid]
    turns = [turn for t in episodes for turn in t.turns]
    figures: dict[str, float] = {}
    if rewards:
        figures["reward"] = fmean(r.value for r in rewards)
        figures["success"] = fmean(r.success for r in rewards)
    figures |= {
        "effective_groups": len(taken.groups),
        "groups": len(taken.finished),
        "groups_too_stale": taken.dropped[TOO_STALE],
        "episodes": len(episodes),
        "invalid": len(episodes) - len(rewards),
        "cut": sum(len(t.cut) for t in episodes),
    }
    if turns:
        figures["steps"] = len(turns) / len(episodes)
        figures["response_tokens"] = fmean(len(turn.response.ids) for turn in turns)
        figures["prefix_shared"] = fmean(shared_fraction(t.turns) for t in episodes)
    return figures


def of_evaluation(found: Mapping[str, Any]) -> dict[str, float]:
    """`SuccessRate`, as it stands in `result.json`, in the numbers of a curve: `success` is over all tasks."""
    low, high = found["ci95"]
    return {
        "success": found["rate"],
        "ci95_low": low,
        "ci95_high": high,
        "n": found["n"],
        "invalid": found["n"] - found["valid_n"],
        "steps": found["steps"],
        "response_tokens": found["response_tokens"],
    }


def of_slots(groups: Sequence[Group]) -> dict[str, float]:
    """What the slots of the episodes of some groups were taken for (`rollout.slot_time`).

    Returns:
        `slot_start`, `slot_queue`, …: shares of the slots' time, which sum to 1; nothing where no time was clocked.
    """
    spent = [slot_seconds(trajectory) for group in groups for trajectory in group.trajectories]
    total = sum(sum(seconds.values()) for seconds in spent)
    if not total:
        return {}
    return {f"slot_{phase}": sum(seconds[phase] for seconds in spent) / total for phase in PHASES}


def of_staleness(samples: Sequence[Sample], version: int) -> dict[str, float]:
    """By how many versions the tokens that train lag behind the weights that they train (AsyncWebRL's off-policy gap).

    Args:
        samples: of an update, replayed ones too.
        version: of the weights before it.

    Returns:
        `staleness_mean`, `staleness_max`, and the histogram: `staleness_0`, `staleness_1`, …, shares of the tokens.
    """
    lags = Counter(version - sampled_by for sample in samples for sampled_by in sample.versions)
    tokens = lags.total()
    return {
        "staleness_mean": sum(lag * count for lag, count in lags.items()) / tokens,
        "staleness_max": max(lags),
        **{f"staleness_{lag}": count / tokens for lag, count in sorted(lags.items())},
    }
