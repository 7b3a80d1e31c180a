"""Adaptive concurrency: as many episode slots as pay, found by hill climbing.

More slots finish more turns a second until the slowest resource (engine, browsers, a shared CPU) is busy
all the time; from there on they only wait in its queue, or make it slower: every turn then takes longer and
every token is older when it trains. How many those are no figure of a resource tells alone, so it is measured:

    window       the turns that finished a second with n slots running, over some turns a slot
    elasticity   slope of log(turns a second) over log(n), of the last windows, those near n first: 1 where only
                 slots are missing, 0 where a resource is busy all the time, below 0 where it thrashes
    step         log n += GAIN · (elasticity - PAYS), at least ±LEAST_STEP, at most ±MOST_STEP

So n settles where 1 % more slots bring PAYS % more turns, and never rests quite, as what does not change cannot
be measured. Invariant: only time counts in which no slot lacked work, so the learner's pace does not mislead it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

PAYS = 0.1
GAIN = 0.5
LEAST_STEP, MOST_STEP = 0.1, 0.4
KEPT = 8
"""Windows."""
NEAR = 0.3
"""Width, in log n, of the bell by which windows count."""
LEAST_SPREAD = 0.02
"""Standard deviation of log n below which windows say nothing of it."""
SETTLE_TURNS, TURNS = 1, 5
"""A slot: those after a change of n that do not count, and those of a window."""
LEAST_TURNS = 250
"""Of a window."""


class Window(NamedTuple):
    """What was measured with about as many slots all the time."""

    running: float
    """Episodes, on average."""
    rate: float
    """Turns a second."""


def elasticity(windows: Sequence[Window]) -> float | None:
    """By how many per cent the turns a second rise with 1 % more slots, near the last window; None: not known yet."""
    here = math.log(windows[-1].running)
    points = [(math.log(window.running) - here, math.log(window.rate)) for window in windows]
    weights = [math.exp(-0.5 * (x / NEAR) ** 2) for x, _ in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    spread = sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    if spread < total * LEAST_SPREAD**2:
        return None
    return sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points, strict=True)) / spread


def next_slots(windows: Sequence[Window], most: int) -> int:
    """How many slots to try after these windows, at least 1 and at most `most`."""
    running, pays = windows[-1].running, elasticity(windows)
    # Where nothing is known: after one window more may be better; after several alike fewer cost less to try.
    unknown = MOST_STEP if len(windows) == 1 else -LEAST_STEP
    step = unknown if pays is None else GAIN * (pays - PAYS)
    step = math.copysign(min(max(abs(step), LEAST_STEP), MOST_STEP), step)
    wanted = running * math.exp(step)
    return max(1, min(most, math.ceil(wanted) if step > 0 else math.floor(wanted)))


class AdaptiveConcurrency:
    """The number of slots for now.

    Args:
        most: slots; a quarter of them is what it begins with.
        turns: finished so far.
    """

    def __init__(self, most: int, turns: Callable[[], int]) -> None:
        self.slots = math.ceil(most / 4)
        self._most = most
        self._turns = turns
        self._seen = turns()
        self._windows: deque[Window] = deque(maxlen=KEPT)
        self._begin()

    def note(self, running: int, seconds: float, full: bool) -> int:
        """Take note of the time since the last call.

        Args:
            running: episodes, all the time.
            full: no slot lacked work.

        Returns:
            How many may run from now on.
        """
        turns, self._seen = self._turns() - self._seen, self._turns()
        if not full:
            return self.slots
        if self._settling > 0:
            self._settling -= turns
            return self.slots
        self._counted += turns
        self._slot_seconds += running * seconds
        self._seconds += seconds
        if self._counted >= max(LEAST_TURNS, TURNS * self.slots):
            self._windows.append(Window(self._slot_seconds / self._seconds, self._counted / self._seconds))
            self.slots = next_slots(self._windows, self._most)
            self._begin()
        return self.slots

    def _begin(self) -> None:
        self._settling = SETTLE_TURNS * self.slots
        self._counted = 0
        self._seconds = self._slot_seconds = 0.0
