"""The tests of rewards notice each wrong evaluator."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.reward.mutations import MUTATIONS, killed


def test_no_wrong_evaluator_goes_unnoticed() -> None:
    assert len({each[:3] for each in MUTATIONS}) == len(MUTATIONS) == 87
    with ThreadPoolExecutor(2) as two:  # each is a process of its own
        noticed = list(two.map(killed, MUTATIONS))
    assert [mutation for mutation, seen in zip(MUTATIONS, noticed, strict=True) if not seen] == []
