import itertools

import pytest

from webdojo.train.schedule import constant, cosine


def test_constant_warms_up_linearly_then_stays() -> None:
    rates = [constant(step, peak=2.0, warmup_steps=4) for step in range(6)]
    assert rates == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0, 2.0])
    assert constant(0, peak=2.0, warmup_steps=0) == 2.0


def test_cosine_peaks_after_warm_up_and_falls_to_near_zero() -> None:
    rates = [cosine(step, peak=1.0, warmup_steps=10, total_steps=100) for step in range(100)]
    assert rates[:10] == pytest.approx([(s + 1) / 10 for s in range(10)])
    assert rates[10] == 1.0
    assert rates[55] == pytest.approx(0.5)
    assert 0 < rates[99] < 1e-3
    assert all(a >= b for a, b in itertools.pairwise(rates[10:]))
