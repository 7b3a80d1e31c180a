"""Near-duplicates among vectors, exactly: which rows go, and which earlier row each of them repeats.

The greedy pass of OpenWebRL §4.2: rows are taken in their order, and one is dropped at a threshold where its cosine
similarity with an earlier row that was kept there is at least the threshold. The paper runs the same pass twice over
the same tasks, at 0.99 for the pool of its warm start and at 0.95 for that of RL; so each threshold has a pass of its
own here, none goes on with what another one kept, and one join serves them all.

Invariant: what is dropped is what comparing every pair would drop. Similarities are computed in float64 from the
vectors as they are (`cosine`), in an order that depends on the two rows alone. A float32 bound decides which pairs are
worth it, and it is never too low: for x, y of length 1, their first coordinates a, b in any orthonormal basis and the
lengths r, s of what is left of them,

    x·y <= a·b + r s        (Cauchy-Schwarz on what is left)

and with `need`, the lowest threshold at which y was kept, [a, r, 1]·[b, s, -need] >= 0 wherever x·y >= need: one
matrix product of few columns. Its rounding error is at most γ_k |[a, r, 1]| |[b, s, -need]| with
γ_k = k 2^-24 / (1 - k 2^-24) for k columns in any order of summation, so pairs down to `_slack(k)` below 0 are looked
at. Rows of more energy in few coordinates are told apart by fewer: the basis is that of the largest variance in a
sample, and how many of its coordinates are compared is chosen by what that sample says it costs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webdojo.errors import TaskError
from webdojo.progress import progress

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

BLOCK_ROWS = 1024
"""Rows that are compared together, and kept in the part file together."""
PANEL_ROWS = 2048
"""Earlier rows that a block is compared with at once; with `BLOCK_ROWS` it keeps the products in the cache."""
PREFIXES = (30, 62, 126, 254)
"""How many coordinates may be compared first, besides all of them."""
SAMPLE_ROWS = 2048
PAIR_COST = 80_000.0
"""What `cosine` of a pair costs, in multiplications of the matrix product."""
ROUNDING_64 = 1e-9
"""More than float64 rounds off in lengths and products of vectors of length 1, up to 100,000 dimensions."""


class Duplicate(NamedTuple):
    """A row that was dropped."""

    row: int
    kept: int
    """The earliest kept row that it is within the threshold of."""
    similarity: float


def near_duplicates(
    vectors: NDArray[Any],
    thresholds: Sequence[float] = (0.99, 0.95),
    *,
    part: Path | None = None,
    block_rows: int = BLOCK_ROWS,
) -> dict[float, list[Duplicate]]:
    """Return what the greedy pass drops at each threshold, by row.

    Rows whose vector is zero have no direction: they are similar to nothing, and are kept.

    Args:
        vectors: N × d numbers, of any length; float32 and float16 are read as they are, also from a memory map, others
            become float32.
        thresholds: cosine similarities above 0, at most 1; their passes do not depend on each other.
        part: a file that keeps the blocks that are done, so that a call which was killed goes on there. It stays when
            all is done; remove it once the result is kept.
        block_rows: changes how long it takes, and never the result.

    Raises:
        TaskError: a number is not finite, a threshold is none, or `part` is of other vectors or thresholds.
    """
    vectors = vectors if vectors.dtype in (np.float16, np.float32) else vectors.astype(np.float32)
    if vectors.ndim != 2:
        raise TaskError(f"vectors have the shape {vectors.shape}: give a row of numbers for each task")
    thresholds = sorted(set(thresholds), reverse=True)
    if not thresholds or not all(0 < each <= 1 for each in thresholds):
        raise TaskError(f"thresholds are {thresholds}: give cosine similarities above 0 and at most 1, such as 0.95")
    join = _Join(vectors, thresholds)
    blocks = _Part(part, vectors, thresholds) if part is not None else None
    done = join.resume(blocks.read()) if blocks is not None else 0
    total = len(vectors) * (len(vectors) - 1) // 2
    with progress("pairs compared (millions)", (total - done * (done - 1) // 2) // 10**6 or None, stays=False) as bar:
        for start in range(done, len(vectors), block_rows):
            end = min(start + block_rows, len(vectors))
            found = join.block(start, end)
            if blocks is not None:
                blocks.add(end, found)
            dropped = {str(each): len(join.found[each]) for each in thresholds}
            bar.advance((end - start) * (start + end - 1) / 2e6, **dropped)
    return join.found


def cosine(vectors: NDArray[Any], squares: Doubles, left: Rows, right: Rows) -> Doubles:
    """The cosine similarity of each pair of rows, where `squares` are their `squared_lengths`.

    In float64, where the products of float32 are exact; it is exactly 1 for equal vectors, and the same in whichever
    company a pair is computed.
    """
    found = np.empty(len(left))
    at_once = max(1, 2**19 // vectors.shape[1])
    for start in range(0, len(left), at_once):
        rows, others = left[start : start + at_once], right[start : start + at_once]
        dots = (vectors[rows].astype(np.float64) * vectors[others]).sum(axis=1)
        found[start : start + at_once] = dots / np.sqrt(squares[rows] * squares[others])
    return np.clip(found, -1, 1, out=found)


def squared_lengths(vectors: NDArray[Any]) -> Doubles:
    """The squared length of each row; a TaskError where one is not finite."""
    squares = np.empty(len(vectors))
    for rows in _chunks(len(vectors)):
        numbers = vectors[rows].astype(np.float64)
        squares[rows] = (numbers * numbers).sum(axis=1)
    if not np.isfinite(squares).all():
        row = int(np.flatnonzero(~np.isfinite(squares))[0])
        raise TaskError(f"row {row} of the vectors holds a number that is not finite: embed that task again")
    return squares


class _Join:
    """The greedy passes at all thresholds over the rows so far."""

    def __init__(self, vectors: NDArray[Any], thresholds: Sequence[float]) -> None:
        self._vectors, self._thresholds = vectors, np.array(thresholds)
        self._squares = squared_lengths(vectors)
        self._left = _screens(vectors, self._squares, min(thresholds))
        self._slack = _slack(self._left.shape[1])
        self._kept = np.ones((len(thresholds), len(vectors)), dtype=bool)
        self._columns: Rows = np.empty(len(vectors), dtype=np.int64)
        """Rows that were kept at some threshold, in their order; the first `_count` are there."""
        self._right = np.empty_like(self._left)
        self._count = 0
        self.found: dict[float, list[Duplicate]] = {each: [] for each in thresholds}

    def resume(self, blocks: Sequence[dict[str, Any]]) -> int:
        """Take over blocks that were done before, and return how many rows they have."""
        for block in blocks:
            for number, (threshold, duplicates) in enumerate(zip(self.found, block["duplicates"], strict=True)):
                self.found[threshold] += [Duplicate(*each) for each in duplicates]
                self._kept[number, [each[0] for each in duplicates]] = False
        done = int(blocks[-1]["rows"]) if blocks else 0
        self._append(np.flatnonzero(self._squares[:done] > 0))
        return done

    def block(self, start: int, end: int) -> list[list[Duplicate]]:
        """Decide about some rows, all earlier ones being decided, and return what is dropped at each threshold."""
        found: list[list[Duplicate]] = [[] for _ in self._thresholds]
        rows = start + np.flatnonzero(self._squares[start:end] > 0)
        for panel in range(0, self._count, PANEL_ROWS):
            rows = self._kept_somewhere(rows)
            columns = slice(panel, min(panel + PANEL_ROWS, self._count))
            left, right = _at_least(self._left[rows] @ self._right[columns].T, self._slack)
            self._drop(rows[left], self._columns[columns][right], found)
        rows = self._kept_somewhere(rows)
        self._within(rows, found)
        for threshold, duplicates in zip(self.found, found, strict=True):
            duplicates.sort()
            self.found[threshold] += duplicates
        self._append(rows)
        return found

    def _within(self, rows: Rows, found: list[list[Duplicate]]) -> None:
        """Compare rows with one another, column by column: once it is a column's turn, whether it is kept is known,
        and rows that an earlier column dropped need no look any more."""
        right = self._left[rows]
        right[:, -1] = -self._thresholds.min()
        products = self._left[rows] @ right.T
        products[np.triu_indices(len(rows))] = -np.inf
        later, earlier = _at_least(products, self._slack)
        order = np.argsort(earlier, kind="stable")
        columns, starts = np.unique(earlier[order], return_index=True)
        for column, those in zip(rows[columns], np.split(rows[later[order]], starts)[1:], strict=True):
            if self._kept[:, column].any():
                those = self._kept_somewhere(those)
                self._drop(those, np.full(len(those), column), found)

    def _drop(self, rows: Rows, columns: Rows, found: list[list[Duplicate]]) -> None:
        """Drop what is within a threshold of a column that is kept there; the pairs are sorted by row, then column."""
        similarities = cosine(self._vectors, self._squares, rows, columns)
        for number, threshold in enumerate(self._thresholds):
            hit = np.flatnonzero((similarities >= threshold) & self._kept[number, rows] & self._kept[number, columns])
            dropped, first = np.unique(rows[hit], return_index=True)
            self._kept[number, dropped] = False
            pairs = zip(dropped, columns[hit][first], similarities[hit][first], strict=True)
            found[number] += [Duplicate(int(row), int(kept), float(value)) for row, kept, value in pairs]

    def _kept_somewhere(self, rows: Rows) -> Rows:
        return rows[self._kept[:, rows].any(axis=0)]

    def _append(self, rows: Rows) -> None:
        """Let later rows be compared with those of these that are kept at some threshold."""
        rows = self._kept_somewhere(rows)
        end = self._count + len(rows)
        self._columns[self._count : end] = rows
        right = self._right[self._count : end]
        right[:] = self._left[rows]
        lowest = np.where(self._kept[:, rows], self._thresholds[:, None], np.inf).min(axis=0)
        right[:, -1] = -lowest
        self._count = end


def _at_least(products: Floats, slack: float) -> tuple[Rows, Rows]:
    """Row and column of each number from `-slack` on, sorted. Most rows hold none, as their maximum quickly says."""
    rows = np.flatnonzero(products.max(axis=1, initial=-np.inf) >= -slack)
    found, columns = np.nonzero(products[rows] >= -slack)
    return rows[found], columns


def _slack(columns: int) -> float:
    """More than float32 may take from a product of so many columns: both lengths are below 1.5, so it rounds off less
    than 2.25 γ_k, and less than 5 roundings of 2^-24 came from storing the factors as float32."""
    return (2.25 * columns + 5) * 2**-24 * 1.01 + ROUNDING_64


def _screens(vectors: NDArray[Any], squares: Doubles, threshold: float) -> Floats:
    """[a, r, 1] of every row: its first coordinates, the length of the rest, and 1; N × k."""
    basis = _basis(vectors, squares, threshold)
    screens = np.zeros((len(vectors), basis.shape[1] + 2), dtype=np.float32)
    for rows in _chunks(len(vectors)):
        unit = _unit(vectors[rows], squares[rows])
        first = unit @ basis if basis.shape[1] < basis.shape[0] else unit
        screens[rows, :-2] = first
        screens[rows, -2] = np.sqrt(np.maximum(1 - (first * first).sum(axis=1), 0) + ROUNDING_64)
    screens[:, -1] = 1
    return screens


def _basis(vectors: NDArray[Any], squares: Doubles, threshold: float) -> Doubles:
    """Orthonormal columns, d × p, along which a sample varies most (three steps of subspace iteration); p is the
    number for which the sample foretells the least work."""
    dims = vectors.shape[1]
    chosen = np.unique(np.linspace(0, len(vectors) - 1, min(SAMPLE_ROWS, len(vectors))).astype(np.int64))
    sample = _unit(vectors[chosen], squares[chosen])
    sizes = [size for size in PREFIXES if size < dims]
    if not sizes or len(sample) < 2:
        return np.eye(dims)
    basis = np.random.default_rng(0).standard_normal((dims, sizes[-1]))
    for _ in range(3):
        basis = np.linalg.qr(sample.T @ (sample @ basis))[0]
    _, turn = np.linalg.eigh((sample @ basis).T @ (sample @ basis))
    basis = np.linalg.qr(basis @ turn[:, ::-1])[0]

    def work(size: int) -> float:
        first = sample @ basis[:, :size]
        rest = np.sqrt(np.maximum((sample * sample).sum(axis=1) - (first * first).sum(axis=1), 0))
        looked_at = (first @ first.T + np.outer(rest, rest) >= threshold).sum() - len(sample)
        return size + PAIR_COST * max(looked_at, 0) / (len(sample) * (len(sample) - 1))

    best = min(sizes, key=work)
    return basis[:, :best] if work(best) < dims else np.eye(dims)


def _unit(vectors: NDArray[Any], squares: Doubles) -> Doubles:
    """The rows at length 1; zero rows stay zero."""
    return vectors.astype(np.float64) / np.sqrt(np.where(squares > 0, squares, 1))[:, None]


def _chunks(rows: int) -> list[slice]:
    return [slice(start, start + 4096) for start in range(0, rows, 4096)]


class _Part:
    """The blocks that are done, one a line behind a first line that says of what they are."""

    def __init__(self, path: Path, vectors: NDArray[Any], thresholds: Sequence[float]) -> None:
        self._path = path
        digest = hashlib.sha256(f"{vectors.shape} {vectors.dtype}".encode())
        for rows in _chunks(len(vectors)):
            digest.update(vectors[rows].tobytes())
        head = {"near_duplicates": 1, "vectors": digest.hexdigest(), "thresholds": list(thresholds)}
        self._head = json.dumps(head).encode() + b"\n"

    def read(self) -> list[dict[str, Any]]:
        """The whole blocks; what a kill left of another one is cut off."""
        data = self._path.read_bytes() if self._path.exists() else b""
        if self._head.startswith(data):
            self._path.write_bytes(self._head)
            return []
        if not data.startswith(self._head):
            raise TaskError(
                f"part file {str(self._path)!r} is of other vectors or thresholds: remove it, or name another"
            )
        end = data.rfind(b"\n") + 1
        if end < len(data):
            with self._path.open("rb+") as file:
                file.truncate(end)
        return [json.loads(line) for line in data[len(self._head) : end].splitlines()]

    def add(self, rows: int, duplicates: list[list[Duplicate]]) -> None:
        with self._path.open("ab") as file:
            file.write(json.dumps({"rows": rows, "duplicates": duplicates}).encode() + b"\n")
