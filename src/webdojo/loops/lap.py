"""Where the time of an iteration went.

Laps follow one another without a gap, so their totals sum to the time of the run. All by the event
loop's clock.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from webdojo.rollout.pool import RolloutPool


class Laps:
    """Clocks what the loop does between one call of `lap` and the next, and how busy the slots of a pool are."""

    def __init__(self, pool: RolloutPool, slots: int) -> None:
        self._pool = pool
        self._slots = slots
        self._now = asyncio.get_running_loop().time
        self._begin = self._now()
        self._slot_seconds = pool.slot_seconds()
        self._phases: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the seconds of the block to those of a phase."""
        begin = self._now()
        try:
            yield
        finally:
            self._phases[name] += self._now() - begin

    def lap(self) -> dict[str, float]:
        """The figures of a lap that ends now.

        Returns:
            `seconds_` of each phase and `seconds_total`; `slots_busy`, the share of the lap in which an episode slot
            had an episode; `learner_busy`, that in which the loop did not wait for groups, but updated, saved or
            refreshed the policy; `bubble_fraction`, the white gaps of AsyncWebRL's schedule: the share in which the
            busier one of the two idled.
        """
        now, slot_seconds = self._now(), self._pool.slot_seconds()
        total = now - self._begin
        figures = {f"seconds_{name}": seconds for name, seconds in self._phases.items()} | {"seconds_total": total}
        slots_busy = (slot_seconds - self._slot_seconds) / (self._slots * total)
        learner_busy = 1 - self._phases["wait"] / total
        self._begin, self._slot_seconds = now, slot_seconds
        self._phases.clear()
        return figures | {
            "slots_busy": slots_busy,
            "learner_busy": learner_busy,
            "bubble_fraction": 1 - max(slots_busy, learner_busy),
        }
