"""Limits a minute, on a clock that the test owns."""

from webdojo.pace import Pace


def times(pace: Pace, count: int, tokens: int = 0, now: float = 1000.0) -> list[float]:
    """When each of so many requests may go, all asked for at once."""
    return [round(now - 1000.0 + pace.book(now, tokens), 6) for _ in range(count)]


def test_without_limits_everything_goes_at_once():
    assert times(Pace(0, 0), 3, tokens=10_000) == [0, 0, 0]


def test_requests_are_spread_over_the_minute():
    assert times(Pace(30, 0), 4) == [0, 2, 4, 6]


def test_a_request_waits_until_the_tokens_before_it_are_paid_for():
    assert times(Pace(0, 6000), 3, tokens=1000) == [0, 10, 20]


def test_the_stricter_limit_counts():
    assert times(Pace(60, 6000), 3, tokens=50) == [0, 1, 2]
    assert times(Pace(600, 6000), 3, tokens=50) == [0, 0.5, 1]


def test_time_that_nobody_used_gives_no_burst():
    pace = Pace(60, 0)
    times(pace, 1)
    assert times(pace, 3, now=1100.0) == [100, 101, 102]


def test_what_a_request_really_took_moves_the_next_one():
    pace = Pace(0, 60)
    times(pace, 1, tokens=10)
    pace.correct(5)
    assert times(pace, 1) == [15]
    pace.correct(-100)
    assert times(pace, 1) == [0]


def test_an_endpoint_that_asks_for_quiet_holds_everyone():
    pace = Pace(0, 0)
    pace.hold(1005.0)
    pace.hold(1003.0)
    assert pace.held(1001.0) == 4
    assert pace.held(1006.0) == 0
