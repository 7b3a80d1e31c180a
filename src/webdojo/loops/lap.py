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

from webdojo.rollout.gates import GATES, Hold
from webdojo.rollout.requests import Requests
from webdojo.rollout.slots import Slots
from webdojo.store.run import Moved, RunStore
from webdojo.store.spans import Span, SpanLog, iteration_key


class Laps:
    """Clocks what the loop does between one call of `lap` and the next, how busy the slots of a pool are, for how long
    their episodes wait for the engine, and what comes into the store.

    Args:
        run_phase: what the loop did when is stored under it (`store.spans`).
    """

    def __init__(self, slots: Slots, requests: Requests, store: RunStore, run_phase: str) -> None:
        self._slots = slots
        self._requests = requests
        self._store = store
        self._run_phase = run_phase
        self._now = asyncio.get_running_loop().time
        self._unix = time.time() - self._now()
        """What makes this clock's time Unix time."""
        self._begin = self._now()
        self._spent, self._asked, self._moved = slots.seconds(), requests.seconds(), store.moved
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
            had an episode that could go on, and those in which it had not: `held_staleness`, `held_rest`,
            `held_engine`, `held_browsers`, `held_memory` (`rollout.gates.Hold`), which sum to 1 with it; `slots`, how
            many there are now, and `slots_mean`;
            `learner_busy`, the share in which the loop did not wait for groups, but updated, saved or refreshed the
            policy; `bubble_fraction`, the white gaps of AsyncWebRL's schedule: the share in which the busier one of
            the two idled; 1 for what took longest, 0 for the others: `slowest_engine`, `slowest_browsers`,
            `slowest_learner`. And the bytes that were stored (`_bytes`).
        """
        now, spent, asked, moved = self._now(), self._slots.seconds(), self._requests.seconds(), self._store.moved
        total, slots, engine = now - self._begin, spent.since(self._spent), asked - self._asked
        figures = {f"seconds_{name}": seconds for name, seconds in self._seconds.items()} | {"seconds_total": total}
        slots_busy = slots.busy / slots.there
        learner_busy = 1 - self._seconds["wait"] / total
        slowest = "engine" if engine > slots.busy / 2 else "browsers"
        if learner_busy > slots_busy:
            slowest = "learner"
        figures |= {
            "slots_busy": slots_busy,
            "learner_busy": learner_busy,
            "bubble_fraction": 1 - max(slots_busy, learner_busy),
            "slots": self._slots.limit,
            "slots_mean": slots.there / total,
            **{f"held_{reason}": slots.held[reason] / slots.there for reason in (Hold.STALENESS, Hold.REST, *GATES)},
            **{f"slowest_{name}": float(name == slowest) for name in ("engine", "browsers", "learner")},
            **_bytes(moved, self._moved),
        }
        self._begin, self._spent, self._asked, self._moved = now, spent, asked, moved
        self._seconds.clear()
        return figures


def _bytes(now: Moved, before: Moved) -> dict[str, float]:
    """For each trajectory that was stored in between, if any.

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
