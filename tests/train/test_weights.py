import pytest

from webdojo.train.weights import TurnShape, token_weights


@pytest.mark.parametrize(("normalizer", "expected"), [("openwebrl", 1 / (3 * 5 * 7)), ("asyncwebrl", 1 / (3 * 5 * 10))])
def test_weight_of_each_token(normalizer: str, expected: float) -> None:
    shape = TurnShape(groups=3, group_size=5, turns=4, tokens=7)
    assert token_weights(normalizer, shape, valid=True, k=10) == pytest.approx([expected] * 7)


@pytest.mark.parametrize("normalizer", ["openwebrl", "asyncwebrl"])
def test_long_trajectories_are_not_weighed_down(normalizer: str) -> None:
    short, long = (TurnShape(groups=1, group_size=2, turns=turns, tokens=3) for turns in (1, 30))
    assert token_weights(normalizer, short, valid=True, k=10) == token_weights(normalizer, long, valid=True, k=10)


def test_invalid_trajectories_and_empty_responses_weigh_nothing() -> None:
    shape = TurnShape(groups=1, group_size=2, turns=1, tokens=3)
    assert token_weights("openwebrl", shape, valid=False, k=10) == [0.0] * 3
    empty = TurnShape(groups=1, group_size=2, turns=1, tokens=0)
    assert token_weights("openwebrl", empty, valid=True, k=10) == []
