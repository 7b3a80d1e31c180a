"""Which groups train, and why the others do not."""

from __future__ import annotations

import pytest

from tests.rollout.records import reward_of, task, trajectory
from webdojo.rollout.groups import Group, dynamic_sampling, every_group
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


@pytest.mark.parametrize(
    ("members", "keep", "reason"),
    [
        (group(-1, 0, 0), False, "no positive reward"),
        (group(-1, 0, 1), True, "effective"),
        (group(0, 0.5), True, "effective"),
        (group(0, 0), False, "all rewards 0"),
    ],
)
def test_who_learns_from_positives_only_needs_one(members: Group, keep: bool, reason: str) -> None:
    found = dynamic_sampling(members, positives_only=True)
    assert (found.keep, found.reason) == (keep, reason)
    assert bool(found.advice) is not keep


@pytest.mark.parametrize("members", [group(0), group(1), group(0, 0, 0), group(1, 1), group(-1, Termination.TIMEOUT)])
def test_a_fixed_batch_keeps_groups_whatever_their_rewards(members: Group) -> None:
    assert every_group(members) == (True, "valid", "")


def test_a_fixed_batch_leaves_out_groups_that_nobody_finished() -> None:
    found = every_group(group(Termination.TIMEOUT, Termination.ENV_ERROR))
    assert (found.keep, found.reason) == (False, "fewer than 1 valid member (env_error, timeout)")
    silent = group(0)
    silent.trajectories[0].turns = []
    assert every_group(silent).reason == "fewer than 1 valid member (completed)"


def test_where_no_prompt_fits_the_key_is_named() -> None:
    full = group(0, 0)
    for member in full.trajectories:
        member.termination = Termination.CONTEXT_LENGTH
    found = dynamic_sampling(full)
    assert (found.keep, found.reason) == (False, "all members ended by context_length")
    assert "rollout.max_context_tokens" in found.advice
    for member in full.trajectories:
        member.turns = []
    assert every_group(full) == found
    full.trajectories[0].reward = reward_of(0.5)
    assert dynamic_sampling(full).keep, "of some verdicts unfinished episodes earn something"


def test_invalid_members_do_not_count() -> None:
    assert group(0, 1, Termination.TIMEOUT).rewards == [0, 1]
    assert reward_of(Termination.TIMEOUT).valid is False
