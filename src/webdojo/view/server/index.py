"""The columns of a run's trajectories in memory, so that 100,000 are filtered, counted and sorted within milliseconds.

A record stands beside the columns in the database, so reading the columns of all trajectories reads most of its file:
it is done once. Later only what is new is read, and what had no reward yet; where the run has discarded trajectories,
all are read again.
"""

from __future__ import annotations

import json
import re
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webdojo.store.run import COLUMNS, RunStore, TrajectoryRow
from webdojo.view.server.query import EXACT, FACETS, Query

BATCH = 5000
"""Rows that are read at a time, so that a page that asks for something else waits only for so many."""
CHECK_EVERY_S = 0.5
HEAD = 2048
"""Bytes of a packed record that hold the task's instruction, but for unusual ones."""
CACHED = 16
"""Answers that are kept, since a list is read in parts."""
MOST_VALUES = 300
"""Values of a column that are offered to filter by, the most frequent first."""
_INSTRUCTION = re.compile(rb'"instruction":("(?:[^"\\]|\\.)*")')

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Selection(NamedTuple):
    """What a query finds."""

    order: Positions
    """Positions in the index, in the order of the query."""
    facets: dict[str, dict[str, int]]
    """By column of `FACETS`, how many trajectories each value would leave, with all filters but that column's own."""
    rows: list[TrajectoryRow]
    """What the positions are of, also after the index has been read again."""
    numbers: Positions

    def part(self, offset: int, limit: int) -> list[tuple[int, TrajectoryRow]]:
        """Some of the rows in order, with their `seq`."""
        return [(int(self.numbers[k]), self.rows[k]) for k in self.order[offset : offset + limit]]


class Index:
    """The trajectories of one run. Calls are safe from any thread."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._instructions: dict[str, str] = {}
        self.generation = 0
        """Grows with every change."""
        self.reset = 0
        """Grows whenever all trajectories are read again."""
        self._clear()

    def _clear(self) -> None:
        self._checked, self._data_version = 0.0, -1
        self.rows: list[TrajectoryRow] = []
        self.numbers: Positions = np.empty(0, dtype=np.int64)
        """`seq` by position."""
        self._position: dict[str, int] = {}
        self._codes: dict[str, NDArray[np.int32]] = {name: np.empty(0, dtype=np.int32) for name in (*FACETS, *EXACT)}
        self._values: dict[str, dict[str, int]] = {name: {} for name in (*FACETS, *EXACT)}
        self._keys: dict[str, NDArray[np.float64]] = {}
        self._selections: dict[Any, Selection] = {}

    def refresh(self) -> None:
        """Read what has changed, at most every `CHECK_EVERY_S`."""
        with self._lock:
            if time.monotonic() - self._checked < CHECK_EVERY_S:
                return
            ((data_version,),) = self._store.query("PRAGMA data_version")
            if data_version != self._data_version:
                if self._discarded():
                    self._clear()
                    self.reset += 1
                self._read_new()
                self._data_version = data_version
            self._checked = time.monotonic()

    def _discarded(self) -> bool:
        """Whether trajectories that were read are no longer there: numbers are given again after that."""
        if not self.rows:
            return False
        number = int(self.numbers[-1])
        last = self._store.query("SELECT id, created FROM trajectories WHERE seq = ?", (number,))
        # In one statement, so that nothing is added between the two counts.
        ((total, after),) = self._store.query(
            "SELECT (SELECT count(*) FROM trajectories), (SELECT count(*) FROM trajectories WHERE seq > ?)", (number,)
        )
        return last != [(self.rows[-1].id, self.rows[-1].created)] or total - after != len(self.rows)

    def _read_new(self) -> None:
        unscored = [int(self.numbers[k]) for k, row in enumerate(self.rows) if row.reward is None][-BATCH:]
        for start in range(0, len(unscored), 500):
            some = unscored[start : start + 500]
            marks = ", ".join("?" * len(some))
            for number, *values in self._store.query(
                f"SELECT seq, {COLUMNS} FROM trajectories WHERE seq IN ({marks})", some
            ):
                self._replace(int(np.searchsorted(self.numbers, number)), TrajectoryRow.of(values))
        while True:
            last = int(self.numbers[-1]) if len(self.numbers) else 0
            found = self._store.query(
                f"SELECT seq, {COLUMNS} FROM trajectories WHERE seq > ? ORDER BY seq LIMIT {BATCH}", (last,)
            )
            if found:
                self._append([number for number, *_ in found], [TrajectoryRow.of(values) for _, *values in found])
            if len(found) < BATCH:
                break
        self._keys.clear()
        self._selections.clear()
        self.generation += 1

    def _append(self, numbers: list[int], rows: list[TrajectoryRow]) -> None:
        self._position.update({row.id: len(self.rows) + k for k, row in enumerate(rows)})
        self.rows += rows
        self.numbers = np.concatenate([self.numbers, np.array(numbers, dtype=np.int64)])
        for name, values in self._values.items():
            codes = np.array([values.setdefault(VALUE[name](row), len(values)) for row in rows], dtype=np.int32)
            self._codes[name] = np.concatenate([self._codes[name], codes])

    def _replace(self, position: int, row: TrajectoryRow) -> None:
        self.rows[position] = row
        for name, values in self._values.items():
            self._codes[name][position] = values.setdefault(VALUE[name](row), len(values))

    def __len__(self) -> int:
        return len(self.rows)

    def position(self, id: str) -> int | None:
        """Where a trajectory stands in the index; None: it is not there."""
        return self._position.get(id)

    def mask_of(self, ids: Iterable[str]) -> Mask:
        """True for these trajectories."""
        mask = np.zeros(len(self.rows), dtype=bool)
        mask[[self._position[id] for id in ids if id in self._position]] = True
        return mask

    def mask_of_numbers(self, numbers: Positions) -> Mask:
        """True for the trajectories with these values of `seq`."""
        return np.isin(self.numbers, numbers)

    def select(self, query: Query, key: Any, others: Callable[[], Sequence[Mask]]) -> Selection:
        """What a query finds.

        Args:
            key: changes whenever `others` does.
            others: the masks of those filters that need more than the columns.
        """
        with self._lock:
            if (query, key) not in self._selections:
                while len(self._selections) >= CACHED:
                    del self._selections[next(iter(self._selections))]
                self._selections[query, key] = self._select(query, others())
            return self._selections[query, key]

    def _select(self, query: Query, others: Sequence[Mask]) -> Selection:
        masks = {name: self._is_one_of(name, values) for name, values in query.wanted}
        common = np.ones(len(self.rows), dtype=bool)
        for mask in others:
            common &= mask
        facets = {}
        for name in FACETS:
            rest = _all_of(common, [mask for other, mask in masks.items() if other != name])
            values = self._values[name]
            counts = np.bincount(self._codes[name][rest], minlength=len(values))
            names = list(values)
            most = np.argsort(-counts, kind="stable")[:MOST_VALUES]
            facets[name] = {names[code]: int(counts[code]) for code in most if counts[code]}
        found = np.flatnonzero(_all_of(common, list(masks.values())))
        if query.sort.startswith("-"):
            found = found[::-1]
        name = query.sort.removeprefix("-")
        if name != "added":
            keys = self._key(name)[found]
            found = found[np.argsort(-keys if query.sort.startswith("-") else keys, kind="stable")]
        return Selection(found, facets, self.rows, self.numbers)

    def _is_one_of(self, name: str, wanted: frozenset[str]) -> Mask:
        values = self._values[name]
        codes = [values[value] for value in wanted if value in values]
        return np.isin(self._codes[name], codes)

    def _key(self, name: str) -> NDArray[np.float64]:
        """What to sort by; what is not known, such as the reward of an episode without one, comes last."""
        if name not in self._keys:
            if name in ("task", "website", "termination"):
                values = list(self._values[name])
                ranks = np.empty(len(values))
                ranks[sorted(range(len(values)), key=values.__getitem__)] = np.arange(len(values))
                self._keys[name] = ranks[self._codes[name]]
            else:
                field = {"tokens": "response_tokens"}.get(name, name)
                at = TrajectoryRow._fields.index(field)
                self._keys[name] = np.array([np.nan if row[at] is None else row[at] for row in self.rows], dtype=float)
        return self._keys[name]

    def newest(self, offset: int, limit: int) -> list[tuple[int, TrajectoryRow]]:
        """The newest rows with their `seq`, straight from the database, while the columns are still being read."""
        found = self._store.query(
            f"SELECT seq, {COLUMNS} FROM trajectories ORDER BY seq DESC LIMIT ? OFFSET ?", (limit, offset)
        )
        return [(number, TrajectoryRow.of(values)) for number, *values in found]

    def instructions(self, rows: Sequence[tuple[int, TrajectoryRow]]) -> list[str]:
        """What the tasks of trajectories say; read from one record of each task, and kept."""
        tasks = {row.task_id: number for number, row in rows}
        missing = {number: task for task, number in tasks.items() if task not in self._instructions}
        for record in (f"substr(record, 1, {HEAD})", "record"):
            marks = ", ".join("?" * len(missing))
            found = self._store.query(f"SELECT seq, {record} FROM trajectories WHERE seq IN ({marks})", list(missing))
            for number, packed in found:
                if match := _INSTRUCTION.search(zlib.decompressobj().decompress(packed)):
                    self._instructions[missing.pop(number)] = json.loads(match[1])
            if not missing:
                break
        return [self._instructions.get(row.task_id, "") for _, row in rows]


def outcome(row: TrajectoryRow) -> str:
    """`success`, `failure`, `invalid`, or `unscored` before there is a verdict."""
    if row.reward is None:
        return "unscored"
    return "invalid" if not row.valid else "success" if row.success else "failure"


VALUE: Mapping[str, Callable[[TrajectoryRow], str]] = {
    "phase": lambda row: row.phase,
    "iteration": lambda row: str(row.iteration),
    "kind": lambda row: row.kind,
    "website": lambda row: row.website,
    "difficulty": lambda row: str(row.difficulty),
    "outcome": outcome,
    "termination": lambda row: row.termination,
    "task": lambda row: row.task_id,
    "group": lambda row: row.group_id,
}
"""The values that filters compare."""


def _all_of(first: Mask, others: Sequence[Mask]) -> Mask:
    out = first
    for mask in others:
        out = out & mask
    return out
