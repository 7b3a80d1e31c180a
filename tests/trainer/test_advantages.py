import random
import statistics

import pytest

from webdojo.errors import TrainError
from webdojo.trainer.advantages import ADVANTAGES
from webdojo.types import Reward

Rewards = list[list[float | None]]
"""None is an invalid member."""


def groups_of(rewards: Rewards) -> list[list[Reward]]:
    return [[Reward(value=9.0 if r is None else r, success=False, valid=r is not None) for r in row] for row in rewards]


def formula(name: str, rewards: Rewards) -> list[list[float]]:
    """Written again from the definitions, member by member."""
    everyone = [r for group in rewards for r in group if r is not None]
    mean, std = statistics.mean(everyone), statistics.stdev(everyone)
    centred = [r - statistics.mean(x for x in g if x is not None) for g in rewards for r in g if r is not None]
    out: list[list[float]] = []
    for group in rewards:
        valid = [r for r in group if r is not None]
        row = []
        for r in group:
            if r is None:
                row.append(0.0)
                continue
            others = (sum(valid) - r) / (len(valid) - 1)
            row.append(
                {
                    "grpo": (r - statistics.mean(valid)) / (statistics.stdev(valid) + 1e-6),
                    "dr_grpo": r - statistics.mean(valid),
                    "rloo": r - others,
                    "reinforce": r,
                    "reinforce_baseline": r - mean,
                    "reinforce_plus_plus": (r - mean) / (std + 1e-6),
                    "reinforce_plus_plus_baseline": (r - statistics.mean(valid)) / (statistics.stdev(centred) + 1e-6),
                }[name]
            )
        out.append(row)
    return out


@pytest.mark.parametrize("name", ADVANTAGES.built_in)
@pytest.mark.parametrize("seed", range(3))
def test_each_advantage_equals_its_formula_over_valid_members(name: str, seed: int) -> None:
    rng = random.Random(seed)
    rewards: Rewards = [
        [rng.choice([-1.0, 0.0, 1.0]) + rng.random() if i < 2 or rng.random() < 0.7 else None for i in range(6)]
        for _ in range(4)
    ]
    found = ADVANTAGES.get(name).function(groups_of(rewards))
    for row, expected in zip(found, formula(name, rewards), strict=True):
        assert row == pytest.approx(expected, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([1, 0, 0, 1], [0.866025, -0.866025, -0.866025, 0.866025]),
        ([1, 0, None], [0.707107, -0.707107, 0]),
        ([1, 1, 1], [0, 0, 0]),
        ([0.1, 0.1, 0.1], [0, 0, 0]),
        ([1, None], [0, 0]),
        ([None, None], [0, 0]),
        ([], []),
    ],
)
def test_grpo_table(rewards: list[float | None], expected: list[float]) -> None:
    (found,) = ADVANTAGES.get("grpo").function(groups_of([rewards]))
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ADVANTAGES.built_in)
def test_an_update_without_valid_members_has_no_advantages(name: str) -> None:
    assert ADVANTAGES.get(name).function(groups_of([[None, None], [None]])) == [[0.0, 0.0], [0.0]]


@pytest.mark.parametrize("name", ADVANTAGES.built_in)
def test_a_valid_reward_that_is_not_finite_is_an_error(name: str) -> None:
    with pytest.raises(TrainError, match="nan"):
        ADVANTAGES.get(name).function(groups_of([[1.0, float("nan")]]))
