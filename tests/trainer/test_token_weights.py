import pytest

from webdojo.trainer.token_weights import NORMALIZERS, TurnShape, token_weights

SHAPE = TurnShape(groups=3, group_size=5, turns=4, tokens=7, all_tokens=600)


@pytest.mark.parametrize(
    ("normalizer", "expected"),
    [
        ("openwebrl", 1 / (3 * 5 * 7)),
        ("webagent_r1", 1 / (3 * 5 * 4 * 7)),
        ("asyncwebrl", 1 / (3 * 5 * 10)),
        ("dr_grpo", 1 / (3 * 5 * 10)),
        ("dapo", 1 / 600),
    ],
)
def test_weight_of_each_token(normalizer: str, expected: float) -> None:
    assert token_weights(normalizer, SHAPE, k=10) == pytest.approx([expected] * 7)


@pytest.mark.parametrize("normalizer", ["openwebrl", "asyncwebrl", "dapo"])
def test_long_trajectories_are_not_weighed_down(normalizer: str) -> None:
    short, long = (TurnShape(groups=1, group_size=2, turns=turns, tokens=3, all_tokens=60) for turns in (1, 30))
    assert token_weights(normalizer, short, k=10) == token_weights(normalizer, long, k=10)


@pytest.mark.parametrize("normalizer", NORMALIZERS.built_in)
def test_an_empty_response_has_no_weights(normalizer: str) -> None:
    assert token_weights(normalizer, TurnShape(1, 2, 1, tokens=0, all_tokens=0), k=10) == []
