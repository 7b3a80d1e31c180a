"""Which tasks of a set overlap with those of a benchmark, so that what is measured stays held out (OpenWebRL §4.2).

Two texts are compared by the word triples that they share, or by the cosine similarity of their vectors.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webdojo.types import Task

_WORD = re.compile(r"[^\W_]+")
_TRIPLE = 3
_BLOCK_ROWS = 4096


class Near(NamedTuple):
    """A task, and the one of a benchmark that it is nearest to."""

    task: Task
    benchmark: Task
    similarity: float
    """From 0 to 1."""


def triples(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words of a text, without case and punctuation; all its words in one where it has fewer."""
    words = _WORD.findall(text.lower())
    return frozenset(tuple(words[at : at + _TRIPLE]) for at in range(max(1, len(words) - _TRIPLE + 1)))


def near_by_text(tasks: Sequence[Task], benchmark: Sequence[Task], threshold: float) -> Iterator[Near]:
    """Each task whose word triples have a Jaccard similarity of at least `threshold` with those of a task of the
    benchmark, with the nearest of these."""
    theirs = [triples(task.instruction) for task in benchmark]
    having = defaultdict[tuple[str, ...], list[int]](list)
    for number, found in enumerate(theirs):
        for triple in found:
            having[triple].append(number)
    for task in tasks:
        ours = triples(task.instruction)
        common = Counter(number for triple in ours for number in having.get(triple, ()))
        near = {number: n / (len(ours) + len(theirs[number]) - n) for number, n in common.items()}
        best = max(near, key=lambda number: (near[number], -number), default=None)
        if best is not None and near[best] >= threshold:
            yield Near(task, benchmark[best], near[best])


def near_by_vector(
    tasks: Sequence[Task], benchmark: Sequence[Task], vectors: NDArray[np.float32], threshold: float
) -> Iterator[Near]:
    """Each task whose vector has a cosine similarity of at least `threshold` with that of a task of the benchmark, with
    the nearest of these.

    Args:
        vectors: N × d, first those of the tasks, then those of the benchmark; a zero vector is similar to nothing.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    ours, theirs = units[: len(tasks)], units[len(tasks) :]
    for start in range(0, len(ours) if len(theirs) else 0, _BLOCK_ROWS):
        cosines = ours[start : start + _BLOCK_ROWS] @ theirs.T
        best = cosines.argmax(axis=1)
        for row, column in enumerate(best):
            if cosines[row, column] >= threshold:
                yield Near(tasks[start + row], benchmark[column], float(cosines[row, column]))
