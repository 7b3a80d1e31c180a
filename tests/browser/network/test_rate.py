"""Connections to one host are spread out once there are too many."""

import time

import pytest

from webdojo.browser.network.proxy import RateLimit


def test_a_burst_goes_through_and_the_rest_at_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    limit = RateLimit(2)
    delays = [limit.delay("shop.example") for _ in range(14)]
    assert delays[:11] == [0] * 11, "five seconds' worth, and the one that is due"
    assert delays[11:] == pytest.approx([0.5, 1.0, 1.5])
    assert limit.delay("other.example") == 0
    clock[0] += 3
    assert limit.delay("shop.example") == 0
    clock[0] += 100
    assert [limit.delay("shop.example") for _ in range(11)] == [0] * 11, "an idle host saves no more than a burst"


def test_no_limit() -> None:
    limit = RateLimit(0)
    assert [limit.delay("shop.example") for _ in range(100)] == [0] * 100
