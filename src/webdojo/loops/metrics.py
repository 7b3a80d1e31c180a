"""The metrics of an iteration, by name: what its episodes did, where their time went, how old its tokens are.

`docs/metrics.md` and `docs/time.md` explain every name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from webdojo.agent.chatml import shared_fraction
from webdojo.rollout.groups import STALE, Group
from webdojo.rollout.pool import Batch
from webdojo.trainer.batch import Sample
from webdojo.types import Trajectory

SLOT_PHASES = ("start", "queue", "engine", "act", "ready", "observe", "close", "reward", "store", "other")
"""What an episode's slot was taken for: `start` opens the browser session; `queue` waits in the engine and `engine`
samples; `act` carries out calls and `ready` waits for the pages that they changed; `observe` takes screenshots;
`close` ends the session; `reward` scores and `store` keeps the trajectory. `other` lies between these: prompts,
parsing, and turns of the event loop that came late."""


def batch_metrics(batch: Batch) -> dict[str, float]:
    """Metrics of all groups that ended since the update before; means over nothing are left out."""
    episodes = [t for group in batch.finished for t in group.trajectories]
    rewards = [t.reward for t in episodes if t.reward is not None and t.reward.valid]
    turns = [turn for t in episodes for turn in t.turns]
    metrics: dict[str, float] = {}
    if rewards:
        metrics["reward"] = fmean(r.value for r in rewards)
        metrics["success"] = fmean(r.success for r in rewards)
    metrics |= {
        "effective_groups": len(batch.groups),
        "groups": len(batch.finished),
        "groups_too_stale": batch.dropped[STALE.reason],
        "episodes": len(episodes),
        "invalid": len(episodes) - len(rewards),
        "cut": sum(len(t.cut) for t in episodes),
    }
    if turns:
        metrics["steps"] = len(turns) / len(episodes)
        metrics["response_tokens"] = fmean(len(turn.response.ids) for turn in turns)
        metrics["prefix_shared"] = fmean(shared_fraction(t.turns) for t in episodes)
    return metrics | _slot_metrics(batch.finished)


def staleness_metrics(samples: Sequence[Sample], version: int) -> dict[str, float]:
    """By how many versions the tokens that train lag behind the weights that they train (AsyncWebRL's off-policy gap).

    Args:
        samples: all samples of an update, replayed ones too.
        version: the version of the weights before it.

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


def evaluation_metrics(found: Mapping[str, Any]) -> dict[str, float]:
    """A `SuccessRate`, as it stands in `result.json`, as points of curves; `success` is over all tasks."""
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


def slot_seconds(trajectory: Trajectory) -> dict[str, float]:
    """What the slot of an episode was taken for, in seconds by phase (`SLOT_PHASES`).

    Together they are all the time of the slot, except for attempts that were cut (`Trajectory.cut`), whose time is not
    known any more. There is no `store` where the trajectory was read from the store.
    """
    seconds = trajectory.seconds
    queue = sum(turn.response.seconds.get("queue", 0.0) for turn in trajectory.turns)
    ready = sum(turn.seconds.get("ready", 0.0) for turn in trajectory.turns)
    parts = {phase: seconds.get(phase, 0.0) for phase in SLOT_PHASES[:-1]}
    parts |= {"queue": queue, "engine": seconds.get("generate", 0.0) - queue}
    parts |= {"act": parts["act"] - ready, "ready": ready}
    total = seconds.get("total", 0.0) + parts["reward"] + parts["store"]
    return parts | {"other": total - sum(parts.values())}


def _slot_metrics(groups: Sequence[Group]) -> dict[str, float]:
    """`slot_start`, `slot_queue`, …: shares of the slots' time, which sum to 1; nothing where no time was clocked."""
    spent = [slot_seconds(trajectory) for group in groups for trajectory in group.trajectories]
    total = sum(sum(seconds.values()) for seconds in spent)
    if not total:
        return {}
    return {f"slot_{phase}": sum(seconds[phase] for seconds in spent) / total for phase in SLOT_PHASES}
