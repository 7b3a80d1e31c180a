"""The metrics of an iteration, by name: what its episodes did, where the time went, how old its tokens are.

`docs/metrics.md` and `docs/time.md` explain every name. Iterations follow one another without a gap, so their totals
sum to the time of the run; all times are by the event loop's clock.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean
from typing import Any

from webdojo.agent.chatml import shared_fraction
from webdojo.loops.run_folder import RL
from webdojo.rollout.groups import STALE
from webdojo.rollout.pool import Batch
from webdojo.rollout.scheduler import IDLE, Scheduler
from webdojo.store.run import RunStore
from webdojo.store.spans import Span, SpanLog, iteration_key
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
    causes = Counter(t.reward.cause for t in episodes if t.reward is not None and not t.reward.valid)
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
    } | {f"invalid_{cause or 'other'}": count for cause, count in sorted(causes.items())}
    if turns:
        metrics["steps"] = len(turns) / len(episodes)
        metrics["response_tokens"] = fmean(len(turn.response.ids) for turn in turns)
        metrics["prefix_shared"] = fmean(shared_fraction(t.turns) for t in episodes)
    spent = [_slot_seconds(trajectory) for trajectory in episodes]
    if total := sum(sum(seconds.values()) for seconds in spent):  # 0 where no time was clocked
        metrics |= {f"slot_{phase}": sum(seconds[phase] for seconds in spent) / total for phase in SLOT_PHASES}
    return metrics


def staleness_metrics(samples: Sequence[Sample], version: int) -> dict[str, float]:
    """By how many versions the tokens that train lag behind `version`, the weights that they train (AsyncWebRL's
    off-policy gap): mean, maximum, and the histogram as shares of the tokens; nothing where no token trains."""
    lags = Counter(version - sampled_by for sample in samples for sampled_by in sample.versions)
    if not (tokens := lags.total()):
        return {}
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


def _slot_seconds(trajectory: Trajectory) -> dict[str, float]:
    """Seconds by phase (`SLOT_PHASES`): all the time of the slot, but for attempts that were cut (`Trajectory.cut`)."""
    seconds = trajectory.seconds
    queue = sum(turn.response.seconds.get("queue", 0.0) for turn in trajectory.turns)
    ready = sum(turn.seconds.get("ready", 0.0) for turn in trajectory.turns)
    parts = {phase: seconds.get(phase, 0.0) for phase in SLOT_PHASES[:-1]}
    parts |= {"queue": queue, "engine": seconds.get("generate", 0.0) - queue}
    parts |= {"act": parts["act"] - ready, "ready": ready}
    total = seconds.get("total", 0.0) + parts["reward"] + parts["store"]
    return parts | {"other": total - sum(parts.values())}


class StepTimer:
    """Times what the loop does in an iteration, and reads what the scheduler and the store have counted meanwhile."""

    def __init__(self, scheduler: Scheduler, store: RunStore) -> None:
        self._scheduler = scheduler
        self._store = store
        self._now = asyncio.get_running_loop().time
        self._unix = time.time() - self._now()  # is added to this clock's time
        self._began = self._now()
        self._usage, self._stored = scheduler.usage(), store.storage_counts
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def begin(self, iteration: int) -> None:
        """Store what the loop does from now on as a part of this iteration (`store.spans`)."""
        self._spans = SpanLog(self._store, iteration_key(RL, iteration))

    @contextmanager
    def measure(self, part: str) -> Iterator[None]:
        """Add the seconds of the block to those of a part of the iteration, and keep when it was for the trace."""
        began = self._now()
        yield
        seconds = self._now() - began
        self._seconds[part] += seconds
        self._spans.add(Span(part, self._unix + began, seconds))

    def metrics(self) -> dict[str, float]:
        """The metrics of the time since the last call.

        `bubble_fraction` are the white gaps of AsyncWebRL's schedule: the share in which the busier one of rollouts and
        learner idled. `slots_busy` and the shares by reason (`rollout.scheduler.Limit`) sum to 1.
        """
        now, usage, stored = self._now(), self._scheduler.usage(), self._store.storage_counts
        total, spent = now - self._began, usage.since(self._usage)
        slots_busy = spent.busy / spent.slot_seconds
        learner_busy = 1 - self._seconds["wait"] / total
        slowest = "engine" if spent.engine > spent.busy / 2 else "browsers"
        if learner_busy > slots_busy:
            slowest = "learner"
        metrics = {
            **{f"seconds_{part}": seconds for part, seconds in self._seconds.items()},
            "seconds_total": total,
            "slots_busy": slots_busy,
            "learner_busy": learner_busy,
            "bubble_fraction": 1 - max(slots_busy, learner_busy),
            "slots": self._scheduler.slots,
            "slots_mean": spent.slot_seconds / total,
            **{f"idle_{reason}": spent.idle[reason] / spent.slot_seconds for reason in IDLE},
            **{f"slowest_{name}": float(name == slowest) for name in ("engine", "browsers", "learner")},
        }
        trajectories, *sizes = (now - before for now, before in zip(stored, self._stored, strict=True))
        if trajectories:
            names = ("bytes_record", "bytes_screenshots", "bytes_screenshots_again")
            metrics |= {name: size / trajectories for name, size in zip(names, sizes, strict=True)}
        self._began, self._usage, self._stored = now, usage, stored
        self._seconds.clear()
        return metrics
