import pytest

from webdojo.trainer.advantages import NORMALIZERS, TurnShape

SHAPE = TurnShape(groups=3, group_size=5, turns=4, tokens=7, all_tokens=600)


@pytest.mark.parametrize(
    ("normalizer", "expected"),
    [
        ("openwebrl", 1 / (3 * 5 * 7)),
        ("webagent_r1", 1 / (3 * 5 * 4 * 7)),
        ("asyncwebrl", 1 / (3 * 5 * 10)),
        ("dr_grpo", 1 / (3 * 5 * 10)),
        ("length_norm", 1 / (3 * 5 * 4)),
        ("webgym", 1 / (3 * 5)),
        ("dapo", 1 / 600),
    ],
)
def test_weight_of_each_token(normalizer: str, expected: float) -> None:
    assert NORMALIZERS.get(normalizer).function(SHAPE, 10) == pytest.approx(expected)


@pytest.mark.parametrize("normalizer", ["openwebrl", "asyncwebrl", "webgym", "dapo"])
def test_long_trajectories_are_not_weighed_down(normalizer: str) -> None:
    short, long = (TurnShape(groups=1, group_size=2, turns=turns, tokens=3, all_tokens=60) for turns in (1, 30))
    weight_of = NORMALIZERS.get(normalizer).function
    assert weight_of(short, 10) == weight_of(long, 10)
