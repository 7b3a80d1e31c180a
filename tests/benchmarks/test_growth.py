"""The exponents of `growth.py`."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.benchmarks.conftest import Script

SIZES = (10, 30, 100, 300)


@pytest.fixture(scope="module")
def growth(script: Script) -> ModuleType:
    return script("growth")


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_is_that_power_without_doubt(growth: ModuleType, power: float) -> None:
    slope, half = growth.exponent(SIZES, [7 * size**power for size in SIZES])
    assert slope == pytest.approx(power)
    assert half == pytest.approx(0, abs=1e-6)


def test_noise_widens_the_interval_around_the_exponent(growth: ModuleType) -> None:
    slope, half = growth.exponent(
        SIZES, [size * factor for size, factor in zip(SIZES, (1.1, 0.9, 1.1, 0.9), strict=True)]
    )
    assert 0.1 < half < 1
    assert abs(slope - 1) < half


def test_a_part_that_turns_square_at_the_end_shows_it_there(growth: ModuleType) -> None:
    times = [1.0, 3.0, 10.0, 90.0]
    rows = [{"size": size, "seconds": each, "bytes": 0} for size, each in zip(SIZES, times, strict=True)]
    found = growth.summary("turns", rows)
    assert found["last_exponent_seconds"] == pytest.approx(2.0, abs=0.001)
    assert 1 < found["seconds"] < 2
    assert found["bytes"] == 0, "what is below the least that can be told is taken to be constant"
