"""The embedding that needs no model: words and their spelling, hashed.

A text is the sum of its words and pairs of neighbouring words, each as heavy as it is rare among the texts that are
embedded together. A word is a random direction of its own, and half of it is shared by words that are spelt alike. So
the cosine is near 1 where the same words stand in the same order, and falls with every rare one that differs; it knows
nothing of meaning. `docs/task-filtering.md` says how far that goes.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from pydantic import Field

from webdojo.tasks.embeddings.embedding import Embedding, Vectors

NUMBER = 2.0
"""What a word with a digit weighs: where one differs, it is another task."""
_WORD = re.compile(r"\w+")
_LETTERS = 3


class Ngrams(Embedding):
    """Hashed words, pairs of words and letters: quick, without a download, and blind to meaning."""

    name: str = "ngrams"
    dimensions: int = Field(default=1024, ge=16)
    """More tell different words better apart."""

    def embed(self, texts: Sequence[str], part: Path | None = None) -> Vectors:
        split = [_WORD.findall(unicodedata.normalize("NFKC", text).casefold()) for text in texts]
        seen = Counter(feature for words in split for feature in set(_features(words)))
        hashed: dict[str, tuple[list[int], list[float]]] = {}
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, words in enumerate(split):
            places: list[int] = []
            values: list[float] = []
            for feature in _features(words):
                if feature not in hashed:
                    hashed[feature] = self._hash(feature)
                rare = 1 + math.log((1 + len(texts)) / (1 + seen[feature]))
                places += hashed[feature][0]
                values += [rare * value for value in hashed[feature][1]]
            if places:
                vectors[row] = np.bincount(places, values, self.dimensions)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=vectors, where=lengths > 0)

    def _hash(self, feature: str) -> tuple[list[int], list[float]]:
        """Places and values of a feature: a word is also its letters, in runs of three, but 65 is not nearly 60."""
        if " " in feature:
            return self._places([feature], 0.5)
        if any(letter.isdigit() for letter in feature):
            return self._places([feature], NUMBER)
        framed = f"<{feature}>"
        runs = [framed[at : at + _LETTERS] for at in range(len(framed) - _LETTERS + 1)]
        whole, spelling = self._places([feature], math.sqrt(0.5)), self._places(runs, math.sqrt(0.5 / len(runs)))
        return whole[0] + spelling[0], whole[1] + spelling[1]

    def _places(self, keys: Iterable[str], value: float) -> tuple[list[int], list[float]]:
        hashes = [zlib.crc32(key.encode()) for key in keys]
        return [h % self.dimensions for h in hashes], [value if h >> 31 else -value for h in hashes]


def _features(words: Sequence[str]) -> list[str]:
    return [*words, *(f"{first} {second}" for first, second in pairwise(words))]
