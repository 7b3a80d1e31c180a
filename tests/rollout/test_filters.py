"""Which groups train, and why the others do not."""

from __future__ import annotations

import pytest

from tests.rollout.records import reward_of, task, trajectory
from webdojo.rollout.groups import Group, dynamic_sampling
from webdojo.types import Termination


def group(*outcomes: float | Termination, version: int = 0) -> Group:
    members = [trajectory(task("t"), outcome, version, f"t-{n}") for n, outcome in enumerate(outcomes)]
    return Group(id="g", task=task("t"), trajectories=members)


@pytest.mark.parametrize(
    ("members", "keep", "reason"),
    [
        (group(0, 1, 1), True, "effective"),
        (group(-1, 0, 0), True, "effective"),
        (group(0, 0, 0), False, "all rewards 0"),
        (group(1, 1, 1), False, "all rewards 1"),
        (group(-1, -1), False, "all rewards -1"),
        (group(1, 1, Termination.TIMEOUT), False, "all rewards 1"),
        (group(0, 1, Termination.START_ERROR), True, "effective"),
        (
            group(1, Termination.TIMEOUT, Termination.ENV_ERROR),
            False,
            "fewer than 2 valid members (env_error, timeout)",
        ),
    ],
)
def test_what_trains_and_why_not(members: Group, keep: bool, reason: str) -> None:
    found = dynamic_sampling(members)
    assert (found.keep, found.reason) == (keep, reason)
    assert bool(found.advice) is not keep, "a group was dropped without a word of advice"


def test_invalid_members_do_not_count() -> None:
    assert group(0, 1, Termination.TIMEOUT).rewards == [0, 1]
    assert reward_of(Termination.TIMEOUT).valid is False
