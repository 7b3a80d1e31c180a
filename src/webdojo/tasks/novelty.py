"""New among what is known: the similarity filter of self-instruct (Wang et al. 2022; OpenWebVoyager §3.3, D).

Self-instruct keeps an instruction whose ROUGE-L with every one before is below 0.7; OpenWebVoyager compares embeddings
of sentences, which any `Similarity` may do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""How similar a text is to each of others, at most 1."""
THRESHOLD = 0.7
"""The similarity from which on self-instruct takes two instructions for the same."""

_WORD = re.compile(r"\w+")


def rouge_l(text: str, others: Sequence[str]) -> list[float]:
    """ROUGE-L of a text with each of others: F1 of the longest common subsequence of their words, 0 to 1."""
    words = _words(text)
    return [_f1(words, _words(other)) for other in others]


def nearest(text: str, others: Sequence[str], similarity: Similarity = rouge_l) -> tuple[float, str]:
    """How similar a text is to the most similar of others, and that one; 0 and nothing where there are none."""
    return max(zip(similarity(text, others), others, strict=True), default=(0.0, ""))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _f1(one: Sequence[str], other: Sequence[str]) -> float:
    return 2 * _common(one, other) / (len(one) + len(other)) if one and other else 0.0


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for word in one:
        before = row
        row = [0]
        for index, each in enumerate(other):
            row.append(before[index] + 1 if word == each else max(row[-1], before[index + 1]))
    return row[-1]
