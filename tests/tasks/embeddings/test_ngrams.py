"""The embedding without a model: the same words are near, other ones are not."""

from __future__ import annotations

import numpy as np
import pytest

from webdojo.tasks.dedup import near_duplicates
from webdojo.tasks.embeddings.ngrams import Ngrams

TEXTS = [
    "Find a recipe for vegetarian lasagna with more than 100 reviews.",
    "find a recipe for  vegetarian lasagna with more than 100 reviews",
    "Find a recipe for vegetarian lasagne with more than 100 reviews.",
    "Find a recipe for vegetarian lasagna with more than 250 reviews.",
    "Show me the cheapest flight from Rome to Oslo on a Sunday.",
    "",
    "?!",
]


def test_spelling_counts_a_little_and_values_count_more() -> None:
    vectors = Ngrams().embed(TEXTS)
    assert vectors.shape == (7, 1024) and vectors.dtype == np.float32
    same, spelt, value, other = (float(vectors[0] @ vectors[row]) for row in (1, 2, 3, 4))
    assert same == pytest.approx(1, abs=1e-6), "case, spaces and punctuation say nothing"
    assert 1 > spelt > value > 0.5 > 0.2 > other


def test_the_same_texts_have_the_same_vectors() -> None:
    assert np.array_equal(Ngrams().embed(TEXTS), Ngrams().embed(TEXTS))


def test_a_text_without_words_is_no_duplicate_of_another() -> None:
    found = near_duplicates(Ngrams(dimensions=256).embed(TEXTS), (0.99,))[0.99]
    assert [(each.row, each.kept) for each in found] == [(1, 0)]
