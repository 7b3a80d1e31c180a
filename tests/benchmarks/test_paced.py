"""The paced loop: on engines that more episodes only make slower, adaptive concurrency finds how many pay."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.benchmarks.conftest import Script


@pytest.fixture
def paced(script: Script) -> ModuleType:
    return script("paced")


def test_adaptive_concurrency_finds_what_an_engine_can_serve(paced: ModuleType) -> None:
    rows = paced.run(32, 2, 8, 0.84, adaptive=True, fits=96).rows
    steady = [row["slots_mean"] for row in rows[3:6]]  # past the climb; the last two iterations run empty
    assert 70 < sum(steady) / len(steady) < 140, "100 slots are best (`paced.py`), 256 allowed, 64 the first try"
    for row in rows:
        assert row["slots_busy"] + row["idle_staleness"] == pytest.approx(1)
