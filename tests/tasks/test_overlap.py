"""Overlap of tasks with those of a benchmark, by text."""

from __future__ import annotations

import numpy as np
import pytest

from webdojo.tasks.overlap import near_by_text, near_by_vector, triples
from webdojo.types import Task


def task(id: str, instruction: str) -> Task:
    return Task(id=id, instruction=instruction, start_url="https://a.example", website="a.example")


def test_triples_are_without_case_and_punctuation() -> None:
    assert triples("Find a Red, red mug!") == {("find", "a", "red"), ("a", "red", "red"), ("red", "red", "mug")}
    assert triples("Find mugs") == {("find", "mugs")}
    assert triples("") == {()}


@pytest.mark.parametrize(
    ("text", "similarity"),
    [
        ("Find the cheapest flight from Oslo to Rome in May.", 1.0),
        ("find the cheapest flight from oslo to rome in may", 1.0),
        ("Find the cheapest flight from Oslo to Rome in June.", 7 / 9),
        ("Please find the cheapest flight from Oslo to Rome in May.", 8 / 9),
    ],
)
def test_the_nearest_task_is_found(text: str, similarity: float) -> None:
    benchmark = [
        task("b0", "Find a hotel in Rome in May."),
        task("b1", "Find the cheapest flight from Oslo to Rome in May."),
    ]
    (near,) = near_by_text([task("a", text), task("other", "Read the news of today")], benchmark, 0.5)
    assert (near.task.id, near.benchmark.id) == ("a", "b1")
    assert near.similarity == pytest.approx(similarity)
    assert not list(near_by_text([task("a", text)], benchmark, similarity + 0.01))


def test_the_nearest_vector_is_found() -> None:
    ours, theirs = [task("a", ""), task("b", ""), task("zero", "")], [task("x", ""), task("y", "")]
    vectors = np.array([[3, 0], [1, 1], [0, 0], [0, 2], [4, 3]], dtype=np.float32)
    found = [
        (near.task.id, near.benchmark.id, round(near.similarity, 3))
        for near in near_by_vector(ours, theirs, vectors, 0.8)
    ]
    assert found == [("a", "y", 0.8), ("b", "y", 0.99)]
    assert not list(near_by_vector(ours, [], vectors[:3], 0.1))
