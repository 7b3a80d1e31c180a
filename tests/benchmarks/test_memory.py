"""The memory benchmark: what counts as growth."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Script


@pytest.fixture
def memory(script: Script) -> ModuleType:
    return script("memory")


def test_growth_is_that_of_the_second_half(memory: ModuleType) -> None:
    """A driver that fills its caches, then leaks 10 kB a trajectory; browsers that only jump about."""
    readings = [
        memory.Reading(0, n, n / 2, 500 + min(n, 700) + n / 100, 100.0, 300.0 + 50 * (n % 2), 200.0)
        for n in range(2000)
    ]
    grown = memory.growth_mb(readings, 2000)
    assert grown["driver"] == pytest.approx(9.0)  # from the middle of the first hundred to that of the last
    assert grown["playwright"] == grown["browsers"] == grown["browsers_pss"] == 0
    assert [bucket.trajectories for bucket in memory.buckets(readings)] == list(range(0, 2000, 100))


def test_a_process_that_goes_on_is_measured_once_it_is_warm(memory: ModuleType) -> None:
    def of(attempt: int, first: int, last: int, leak: float) -> list[object]:
        return [
            memory.Reading(attempt, n, 1.0, 500 + min(n - first, 150) + leak * n, 100.0, 300.0, 200.0)
            for n in range(first, last)
        ]

    readings = of(0, 0, 1400, 0.01) + of(1, 1400, 2000, 0.02)
    grown = memory.growth_mb(readings, 2000)
    # 1000 to 1400 in the first process, 1600 to 2000 in the second
    assert grown["driver"] == pytest.approx(0.01 * 300 + 0.02 * 300)
    assert memory.growth_mb(of(0, 0, 1050, 1.0), 2000) == {}, "a figure was made of too little"


def test_a_run_that_is_not_there_has_stored_nothing(memory: ModuleType, tmp_path: Path) -> None:
    assert memory.stored(tmp_path / "none") == 0
