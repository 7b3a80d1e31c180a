"""Adaptive concurrency: hill climbing finds how many episode slots pay.

More slots finish more turns a second until the slowest resource (engine, browsers, a shared CPU) is always busy. Beyond
that point episodes only queue for it or slow it down, so every turn takes longer and every token is older when it
trains. No property of a resource alone says where that point is, so it is measured:

    window       the turns that finished per second with n slots running, over some turns per slot
    elasticity   the slope of log(turns per second) over log(n) in the last windows, where those near n weigh most:
                 1 where only slots are missing, 0 where a resource is always busy, below 0 where it thrashes
    step         log n += GAIN · (elasticity - PAYS), at least ±LEAST_STEP, at most ±MOST_STEP

So n settles where 1 % more slots bring PAYS % more turns. It never stands quite still, because only what changes can be
measured. Invariant: time in which a slot lacked work does not count, so the learner's pace does not mislead it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

PAYS = 0.1
GAIN = 0.5
LEAST_STEP, MOST_STEP = 0.1, 0.4
WINDOWS = 8
"""How many of the last windows count."""
NEAR = 0.3
"""Width, in log n, of the bell curve by which windows weigh."""
LEAST_SPREAD = 0.02
"""Where the standard deviation of log n is below this, the windows say nothing about the slope."""
SETTLE_TURNS, WINDOW_TURNS = 1, 5
"""Turns per slot: those after a change of n that do not count, and those that make a window."""
LEAST_TURNS = 250
"""A window has at least so many turns."""


class Window(NamedTuple):
    running: float
    """Episodes, on average."""
    rate: float
    """Turns per second."""


def elasticity(windows: Sequence[Window]) -> float | None:
    """By how many per cent the rate rises with 1 % more slots, near the last window; None where it is not known yet."""
    x, y = np.log(windows).T
    weights = np.exp(-0.5 * ((x - x[-1]) / NEAR) ** 2)
    (spread, joint), _ = np.cov(x, y, ddof=0, aweights=weights)
    return None if spread < LEAST_SPREAD**2 else float(joint / spread)


def next_slots(windows: Sequence[Window], most: int) -> int:
    """How many slots to try after these windows, at least 1 and at most `most`."""
    slope = elasticity(windows)
    # Where the slope is unknown: after a single window try more; after several alike, fewer cost less to try.
    unknown = MOST_STEP if len(windows) == 1 else -LEAST_STEP
    step = unknown if slope is None else GAIN * (slope - PAYS)
    step = math.copysign(min(max(abs(step), LEAST_STEP), MOST_STEP), step)
    wanted = windows[-1].running * math.exp(step)
    return max(1, min(most, math.ceil(wanted) if step > 0 else math.floor(wanted)))


class AdaptiveConcurrency:
    """Follows the number of slots that pays, of which there may be `most`; it begins with a quarter of them."""

    def __init__(self, most: int) -> None:
        self.slots = math.ceil(most / 4)
        self._most = most
        self._turns = 0
        self._windows: deque[Window] = deque(maxlen=WINDOWS)
        self._begin_window()

    def note(self, turns: int, running: int, seconds: float, full: bool) -> int:
        """How many episodes may run, after a time with `running` ones and `turns` done; `full`: no slot lacked work."""
        finished, self._turns = turns - self._turns, turns
        if not full:
            return self.slots
        if self._settling > 0:
            self._settling -= finished
            return self.slots
        self._counted += finished
        self._slot_seconds += running * seconds
        self._seconds += seconds
        if self._counted >= max(LEAST_TURNS, WINDOW_TURNS * self.slots):
            self._windows.append(Window(self._slot_seconds / self._seconds, self._counted / self._seconds))
            self.slots = next_slots(self._windows, self._most)
            self._begin_window()
        return self.slots

    def _begin_window(self) -> None:
        self._settling = SETTLE_TURNS * self.slots
        self._counted = 0
        self._seconds = self._slot_seconds = 0.0
