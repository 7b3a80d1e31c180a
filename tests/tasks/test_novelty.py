"""How similar two tasks are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from webdojo.tasks.novelty import nearest, rouge_l


@pytest.mark.parametrize(
    ("one", "other", "f1"),
    [
        ("Find the cheapest mug.", "find the cheapest MUG", 1.0),
        ("a b c d", "a c d", 2 * 3 / 7),
        ("a b c d", "d c b a", 2 * 1 / 8),
        ("a b", "c d", 0.0),
        ("a b", "", 0.0),
        ("...", "...", 0.0),
    ],
)
def test_rouge_l_is_f1_of_the_longest_common_subsequence_of_words(one: str, other: str, f1: float) -> None:
    assert rouge_l(one, [other]) == [pytest.approx(f1)]
    assert rouge_l(other, [one]) == [pytest.approx(f1)]


def test_the_nearest_is_the_most_similar_one() -> None:
    how, which = nearest("a b c", ["x", "a b c d", "a"])
    assert (how, which) == (6 / 7, "a b c d")
    assert nearest("a b c", []) == (0.0, "")


def test_any_similarity_may_compare() -> None:
    def by_length(text: str, others: Sequence[str]) -> list[float]:
        return [1 - abs(len(text) - len(other)) / 10 for other in others]

    assert nearest("abcd", ["a", "xyzw"], by_length) == (1.0, "xyzw")
