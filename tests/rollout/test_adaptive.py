"""Adaptive concurrency: what a step follows from, and where the steps lead."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from webdojo.rollout.adaptive import WINDOWS, AdaptiveConcurrency, Window, elasticity, next_slots

MOST = 256
Rate = Callable[[float], float]
"""Turns a second with so many slots."""


def free(running: float) -> float:
    """Every slot brings as much as the first."""
    return running / 31


def busy(running: float) -> float:
    """100 slots keep the engine busy; further ones wait."""
    return min(running, 100) / 31


def thrashing(running: float) -> float:
    """The engine's memory holds 96 episodes (`benchmarks/paced.py`); best with 100."""
    return running / (9.1 + 0.087 * max(64.0, running) * max(1.0, running / 96))


def windows(rate: Rate, *running: float) -> list[Window]:
    return [Window(n, rate(n)) for n in running]


@pytest.mark.parametrize(
    ("rate", "running", "wanted"),
    [
        (free, (40, 48, 60), 1.0),
        (busy, (140, 120, 130), 0.0),
        (lambda n: 9 / n, (140, 120, 130), -1.0),
        (busy, (30, 40, 150, 160, 170), 0.0),  # what is far does not count
        (free, (100,), None),
        (free, (100, 100, 101, 100), None),
    ],
)
def test_elasticity_is_the_slope_near_the_last_window(
    rate: Rate, running: tuple[float, ...], wanted: float | None
) -> None:
    found = elasticity(windows(rate, *running))
    assert found is None if wanted is None else found == pytest.approx(wanted, abs=0.05)


@pytest.mark.parametrize(
    ("rate", "running", "wanted"),
    [
        (free, (64,), 96),  # nothing is known: more
        (free, (64, 96), 144),
        (free, (144, 216), MOST),
        (free, (MOST,) * 8, 231),  # what does not change cannot be measured
        (busy, (120, 140), 126),
        (lambda n: 9 / n, (120, 140), 93),
        (lambda n: 9 / n, (2, 1), 1),
        (free, (1,), 2),
    ],
)
def test_a_step_goes_where_turns_are(rate: Rate, running: tuple[float, ...], wanted: int) -> None:
    assert next_slots(windows(rate, *running), MOST) == wanted


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("rate", "best"), [(free, MOST), (busy, 100), (thrashing, 100)])
def test_noisy_windows_lead_near_the_best_number(rate: Rate, best: int, seed: int) -> None:
    draw = random.Random(seed)
    seen, tried = [Window(MOST / 4, rate(MOST / 4))], []
    for _ in range(60):
        tried.append(next_slots(seen[-WINDOWS:], MOST))
        seen.append(Window(tried[-1], rate(tried[-1]) * math.exp(draw.gauss(0, 0.04))))
    steady = tried[10:]
    assert sum(map(rate, steady)) / len(steady) > 0.92 * rate(best)
    assert 0.6 * best < sum(steady) / len(steady) < 1.6 * best


def test_only_time_in_which_no_slot_lacks_work_counts() -> None:
    turns = 0
    adaptive = AdaptiveConcurrency(400)
    assert adaptive.slots == 100

    def work(seconds: int, full: bool) -> int:
        nonlocal turns
        for _ in range(seconds):
            turns += 10
            adaptive.note(turns, 100, 1.0, full)
        return adaptive.slots

    assert work(1000, full=False) == 100, "the learner was slow, which says nothing of the slots"
    assert work(59, full=True) == 100
    assert work(1000, full=False) == 100
    assert work(1, full=True) == 150, "100 turns to settle, then 5 a slot"
