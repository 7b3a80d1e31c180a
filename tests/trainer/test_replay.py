"""What an update draws from the last iterations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.trainer.records import prompt
from webdojo.trainer.batch import Sample, draw
from webdojo.trainer.config import TrainConfig


def sample(iteration: int, index: int = 0, advantage: float = 1.0) -> Sample:
    """Of two tokens, and of the unit `index // 4`; its iteration is the version that sampled it."""
    return Sample(prompt([1]), [index, 7], [-1.0] * 2, advantage, [0.25] * 2, [iteration] * 2, unit=index // 4)


def buffer(sizes: list[int]) -> list[tuple[int, list[Sample]]]:
    """Iterations 10, 11, … of these sizes."""
    return [(age, [sample(9 + age, index) for index in range(size)]) for age, size in enumerate(sizes, 1)]


def config(**options: object) -> TrainConfig:
    return TrainConfig.model_validate({"replay_buffer_capacity": 4} | options)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_a_turn_is_drawn_by_the_power_of_its_iteration(power: float) -> None:
    tries = 1000
    sizes = [10, 20, 10]
    drawn = Counter(
        draw(buffer(sizes), 1, config(recency_bias_power=power), str(seed))[0].versions[0] for seed in range(tries)
    )
    mass = [size * age**power for age, size in enumerate(sizes, 1)]
    for age, share in enumerate(mass, 1):
        assert drawn[9 + age] / tries == pytest.approx(share / sum(mass), abs=0.05)


def test_none_is_drawn_twice_and_the_seed_decides() -> None:
    def drawn(seed: str) -> list[tuple[int, int]]:
        return [(s.versions[0], s.response_ids[0]) for s in draw(buffer([30, 30, 30]), 40, config(), seed)]

    first = drawn("a")
    assert len(set(first)) == 40
    assert first == sorted(first), "not oldest first"
    assert drawn("a") == first != drawn("b")


@pytest.mark.parametrize("count", [5, 40, 1000])
def test_the_weights_of_a_draw_sum_to_those_of_one_iteration(count: int) -> None:
    found = draw(buffer([30, 10, 20]), count, config(), "s")
    assert len(found) == min(count, 60)
    assert sum(w for s in found for w in s.token_weights) == pytest.approx(20 * 0.5)


def test_turns_of_a_group_stay_a_unit_and_those_of_other_iterations_are_others() -> None:
    found = draw(buffer([8, 8]), 1000, config(), "s")
    units = {(s.versions[0], s.response_ids[0] // 4): s.unit for s in found}
    assert sorted(units.values()) == [0, 1, 2, 3]
    assert all(units[s.versions[0], s.response_ids[0] // 4] == s.unit for s in found)


def test_of_nothing_nothing_is_drawn() -> None:
    assert draw([(1, []), (2, [])], 3, config(), "s") == []


def test_one_iteration_at_a_time_is_read() -> None:
    alive: list[int] = []

    def read() -> Iterator[tuple[int, list[Sample]]]:
        for age, samples in buffer([5, 5, 5]):
            alive.append(age)
            yield age, samples

    draw(read(), 4, config(), "s")
    assert alive == [1, 2, 3]


def test_a_size_of_the_draw_without_a_buffer_is_refused() -> None:
    with pytest.raises(ValueError, match="set replay_buffer_capacity above 1"):
        TrainConfig(samples_per_iteration=100)
