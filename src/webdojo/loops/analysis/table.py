"""What a question is, and what its answer consists of: rows of plain values, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from webdojo.store.run import TrajectoryRow
from webdojo.types import Trajectory

Cell = str | int | float | None
"""None: nothing was there to measure."""
Row = tuple[Cell, ...]
Fact = TypeVar("Fact")


class Kind(StrEnum):
    """What the values of a column are."""

    TEXT = "text"
    """May come from a task or a page."""
    COUNT = "count"
    NUMBER = "number"
    SHARE = "share"
    """0..1."""


class Column(NamedTuple):
    name: str
    kind: Kind
    brief: bool = True
    """Whether it also stands in the table for a terminal, which has little room."""


class Plot(NamedTuple):
    """How columns are drawn. A cell without a value breaks a line, and bars leave it out."""

    name: str
    title: str
    x: str
    y: tuple[str, ...]
    by: tuple[str, ...] = ()
    """Columns whose values together name a line, or the colour of a bar."""
    panel: str = ""
    """The column whose values have a panel each; empty: one panel for all."""
    interval: tuple[str, str] | None = None
    """The columns of a 95 % interval around `y`, which is then one column."""
    bars: bool = False
    """Whether x are names and not numbers."""


class Setting(NamedTuple):
    """What a trajectory itself does not say."""

    restart_url: str = ""
    """Where the harness's `Restart` leads; empty: to the page on which an episode began."""
    memory_delta: bool = False
    """Whether the memory in a response is what is new, and not the whole memory."""
    verdicts: Mapping[str, Mapping[str, bool | None]] = {}
    """By judge, what it said afterwards of each episode by id; None is an invalid verdict."""
    categories: Mapping[str, Mapping[str, str | None]] = {}
    """By the model that was asked, why it says that an episode failed, by id; None is an answer that cannot be read."""


class Measured(NamedTuple, Generic[Fact]):
    """A stored trajectory as questions keep it."""

    row: TrajectoryRow
    fact: Fact
    """What the question has measured of it."""


@dataclass(frozen=True)
class Answer:
    """The rows of one run, or why there are none."""

    rows: Sequence[Row] = ()
    notes: Sequence[str] = ()
    """What the numbers say, a sentence each."""
    missing: str = ""
    """Why the run has no data for the question, as the rest of a line that begins with the run; empty where it has."""


@dataclass(frozen=True)
class Question(Generic[Fact]):
    """One question: its two pure functions, and the table that it is answered with."""

    name: str
    """Also the name of its files."""
    title: str
    paper: str
    """Where the question comes from."""
    columns: tuple[Column, ...]
    plots: tuple[Plot, ...]
    measure: Callable[[Trajectory, Setting], Fact]
    summarize: Callable[[Sequence[Measured[Fact]]], Answer]


@dataclass(frozen=True)
class Table:
    """The answers of one or several runs to one question."""

    name: str
    title: str
    paper: str
    columns: tuple[Column, ...]
    """With `run` before the others where several runs were asked."""
    plots: tuple[Plot, ...]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    missing: Sequence[str] = ()
    """A line for each run that has no data."""
    places: Mapping[str, int] = field(init=False)
    """The place of each column in a row."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {column.name: place for place, column in enumerate(self.columns)})

    def column(self, name: str) -> list[Cell]:
        return [row[self.places[name]] for row in self.rows]


RUN = Column("run", Kind.TEXT)
PHASE = Column("phase", Kind.TEXT)
ITERATION = Column("iteration", Kind.COUNT)
EPISODES = Column("episodes", Kind.COUNT)


LOW, HIGH = "ci95_low", "ci95_high"
"""Columns of a 95 % interval."""


def counts(*names: str, brief: bool = True) -> tuple[Column, ...]:
    return tuple(Column(name, Kind.COUNT, brief) for name in names)


def numbers(*names: str, brief: bool = True) -> tuple[Column, ...]:
    return tuple(Column(name, Kind.NUMBER, brief) for name in names)


def shares(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, Kind.SHARE) for name in names)


def texts(*names: str, brief: bool = True) -> tuple[Column, ...]:
    return tuple(Column(name, Kind.TEXT, brief) for name in names)


def nothing(trajectory: Trajectory, setting: Setting) -> None:
    """Measure nothing, for questions that the row of a trajectory answers."""


def acting(measured: Iterable[Measured[Fact]]) -> list[Measured[Fact]]:
    """The trajectories with at least one step that neither the web nor the system failed."""
    return [each for each in measured if each.row.steps and each.row.valid is not False]


Key = TypeVar("Key")


def grouped(measured: Iterable[Measured[Fact]], key: Callable[[TrajectoryRow], Key]) -> dict[Key, list[Measured[Fact]]]:
    """Trajectories by a property of their rows, in the order of its first appearance."""
    groups: dict[Key, list[Measured[Fact]]] = {}
    for each in measured:
        groups.setdefault(key(each.row), []).append(each)
    return groups


def by_iteration(measured: Iterable[Measured[Fact]]) -> dict[tuple[str, int], list[Measured[Fact]]]:
    """Trajectories by phase, in the order in which phases began, and iteration."""
    phases = grouped(measured, lambda row: row.phase)
    return {
        (phase, iteration): group
        for phase, each in phases.items()
        for iteration, group in sorted(grouped(each, lambda row: row.iteration).items())
    }


def mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def p90(values: Sequence[float]) -> float | None:
    """The 90th percentile, by linear interpolation."""
    return float(np.percentile(values, 90)) if values else None
