"""Where the time of an iteration went, and how much was stored meanwhile.

Iterations follow one another without a gap, so their totals sum to the time of the run. All times are by the event
loop's clock.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from webdojo.loops.run_folder import RL
from webdojo.rollout.scheduler import IDLE, Scheduler
from webdojo.store.run import RunStore, StorageCounts
from webdojo.store.spans import Span, SpanLog, iteration_key


class StepTimer:
    """Times what the loop does in an iteration, and reads what the scheduler and the store have counted meanwhile."""

    def __init__(self, scheduler: Scheduler, store: RunStore) -> None:
        self._scheduler = scheduler
        self._store = store
        self._now = asyncio.get_running_loop().time
        self._unix = time.time() - self._now()
        """What is added to this clock's time to get Unix time."""
        self._began = self._now()
        self._usage, self._storage_counts = scheduler.usage(), store.storage_counts
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

        Returns:
            `seconds_` of each part and `seconds_total`; `slots_busy`, the share of the slots' time in which an episode
            could go on, and the shares in which none could, by reason: `idle_staleness`, `idle_sleep`, `idle_engine`,
            `idle_browsers`, `idle_memory` (`rollout.scheduler.Limit`), which sum to 1 with it; `slots`, how many there
            are now, and `slots_mean`; `learner_busy`, the share in which the loop did not wait for groups, but
            updated, saved or published; `bubble_fraction`, the white gaps of AsyncWebRL's schedule: the share in which
            the busier one of the two idled; `slowest_engine`, `slowest_browsers` and `slowest_learner`: 1 for what
            took longest, 0 for the others. And the bytes that were stored (`_bytes`).
        """
        now, usage, storage_counts = self._now(), self._scheduler.usage(), self._store.storage_counts
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
            **_bytes(storage_counts, self._storage_counts),
        }
        self._began, self._usage, self._storage_counts = now, usage, storage_counts
        self._seconds.clear()
        return metrics


def _bytes(now: StorageCounts, before: StorageCounts) -> dict[str, float]:
    """Bytes per trajectory that was stored in between, if any was.

    Returns:
        `bytes_record`, compressed; `bytes_screenshots`, encoded, of those that were new; `bytes_screenshots_again`, of
        those that the store had, to which the record only refers.
    """
    if not (trajectories := now.trajectories - before.trajectories):
        return {}
    return {
        "bytes_record": (now.records - before.records) / trajectories,
        "bytes_screenshots": (now.screenshots - before.screenshots) / trajectories,
        "bytes_screenshots_again": (now.screenshots_again - before.screenshots_again) / trajectories,
    }
