import random
import statistics

import pytest

from webdojo.errors import TrainError
from webdojo.train.advantage import ADVANTAGES, grpo


@pytest.mark.parametrize("seed", range(5))
def test_grpo_equals_the_formula_over_valid_members(seed: int) -> None:
    rng = random.Random(seed)
    rewards = [rng.choice([-1.0, 0.0, 1.0]) + rng.random() for _ in range(6)]
    valid = [rng.random() < 0.7 for _ in rewards]
    valid[:2] = [True, True]
    kept = [r for r, ok in zip(rewards, valid, strict=True) if ok]
    expected = [
        (r - statistics.mean(kept)) / (statistics.pstdev(kept) + 1e-6) if ok else 0.0
        for r, ok in zip(rewards, valid, strict=True)
    ]
    assert grpo(rewards, valid) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rewards", "valid", "expected"),
    [
        ([1, 0, 0, 1], [True] * 4, [1, -1, -1, 1]),
        ([1, 0, 99], [True, True, False], [1, -1, 0]),
        ([1, 1, 1], [True] * 3, [0, 0, 0]),
        ([0.1, 0.1, 0.1], [True] * 3, [0, 0, 0]),
        ([1, 0], [True, False], [0, 0]),
        ([1, float("nan"), 0], [True, False, True], [1, 0, -1]),
        ([], [], []),
    ],
)
def test_grpo_table(rewards: list[float], valid: list[bool], expected: list[float]) -> None:
    assert ADVANTAGES["grpo"](rewards, valid) == pytest.approx(expected, abs=1e-5)


def test_a_valid_reward_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(TrainError, match="nan"):
        grpo([1.0, float("nan")], [True, True])
