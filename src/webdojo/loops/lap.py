"""Where the time of an iteration went, and how much was stored meanwhile.

Laps follow one another without a gap, so their totals sum to the time of the run. All by the event
loop's clock.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from webdojo.rollout.pool import RolloutPool
from webdojo.store.run import RunStore
from webdojo.store.spans import Span, SpanLog, iteration_key


class Laps:
    """Clocks what the loop does between one call of `lap` and the next, how busy the slots of a pool are, and what
    comes into the store.

    Args:
        slots: of the pool.
        run_phase: what the loop did when is stored under it (`store.spans`).
    """

    def __init__(self, pool: RolloutPool, slots: int, store: RunStore, run_phase: str) -> None:
        self._pool = pool
        self._slots = slots
        self._store = store
        self._run_phase = run_phase
        self._now = asyncio.get_running_loop().time
        self._unix = time.time() - self._now()
        """What makes this clock's time Unix time."""
        self._begin = self._now()
        self._slot_seconds = pool.slot_seconds()
        self._moved = store.moved
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def begin(self, iteration: int) -> None:
        """What the loop does from now on is for this iteration, as far as the trace goes."""
        self._spans = SpanLog(self._store, iteration_key(self._run_phase, iteration))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the seconds of the block to those of a phase, and keep when it was for the trace."""
        begin = self._now()
        yield
        seconds = self._now() - begin
        self._seconds[name] += seconds
        self._spans.add(Span(name, self._unix + begin, seconds))

    def lap(self) -> dict[str, float]:
        """The figures of a lap that ends now.

        Returns:
            `seconds_` of each phase and `seconds_total`; `slots_busy`, the share of the lap in which an episode slot
            had an episode; `learner_busy`, that in which the loop did not wait for groups, but updated, saved or
            refreshed the policy; `bubble_fraction`, the white gaps of AsyncWebRL's schedule: the share in which the
            busier one of the two idled. And for each trajectory that was stored in the lap, if any: `bytes_record`,
            compressed; `bytes_screenshots`, encoded, of those that were new; `bytes_screenshots_again`, of those
            that the store had, to which the record only refers.
        """
        now, slot_seconds, moved = self._now(), self._pool.slot_seconds(), self._store.moved
        total = now - self._begin
        figures = {f"seconds_{name}": seconds for name, seconds in self._seconds.items()} | {"seconds_total": total}
        slots_busy = (slot_seconds - self._slot_seconds) / (self._slots * total)
        learner_busy = 1 - self._seconds["wait"] / total
        figures |= {
            "slots_busy": slots_busy,
            "learner_busy": learner_busy,
            "bubble_fraction": 1 - max(slots_busy, learner_busy),
        }
        if trajectories := moved.trajectories - self._moved.trajectories:
            figures |= {
                "bytes_record": (moved.records - self._moved.records) / trajectories,
                "bytes_screenshots": (moved.screenshots - self._moved.screenshots) / trajectories,
                "bytes_screenshots_again": (moved.screenshots_again - self._moved.screenshots_again) / trajectories,
            }
        self._begin, self._slot_seconds, self._moved = now, slot_seconds, moved
        self._seconds.clear()
        return figures
