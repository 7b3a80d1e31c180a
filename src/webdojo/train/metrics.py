"""Means by name for the log: of tokens over micro-batches, of steps over an update."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping


class Means:
    """Running weighted means. A name that was never added is not in the result."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._weights: defaultdict[str, float] = defaultdict(float)

    def add(self, values: Mapping[str, float], weight: float = 1.0) -> None:
        """Add one value a name, all of the same weight (above 0)."""
        for name, value in values.items():
            self._sums[name] += weight * value
            self._weights[name] += weight

    def merge(self, other: Means) -> None:
        """Add all that was added to another."""
        for name, total in other._sums.items():
            self._sums[name] += total
            self._weights[name] += other._weights[name]

    def result(self) -> dict[str, float]:
        return {name: total / self._weights[name] for name, total in self._sums.items()}
