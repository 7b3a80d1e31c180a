"""How far judges agree on a run's episodes: its own rewards, and those that judged it afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from webdojo.loops.analysis.table import (
    EPISODES,
    HIGH,
    LOW,
    PHASE,
    Answer,
    Measured,
    Plot,
    Question,
    Setting,
    counts,
    grouped,
    numbers,
    shares,
    texts,
)
from webdojo.loops.judging.compare import STORED, agreed
from webdojo.types import Trajectory

Verdicts = dict[str, bool | None]
"""By judge, whether it accepts the episode; None is an invalid verdict. Judges that were not asked are not in it."""


def measure(trajectory: Trajectory, setting: Setting) -> Verdicts:
    return {judge: said[trajectory.id] for judge, said in setting.verdicts.items() if trajectory.id in said}


def summarize(measured: Sequence[Measured[Verdicts]]) -> Answer:
    judged = [each for each in measured if each.fact]
    rows = []
    for phase, group in grouped(judged, lambda row: row.phase).items():
        by_judge: dict[str, Verdicts] = {STORED: {}}
        for row, fact in group:
            for judge, verdict in {STORED: row.success if row.valid else None, **fact}.items():
                by_judge.setdefault(judge, {})[row.id] = verdict
        for first, second in combinations(by_judge, 2):
            both = by_judge[first].keys() & by_judge[second].keys()
            if both:
                rows.append(
                    (phase, first, second, *_figures({id: by_judge[first][id] for id in both}, by_judge[second]))
                )
    missing = "no judge has judged its episodes again (`webdojo judge RUN --judge NAME` does)"
    return Answer(rows) if rows else Answer(missing=missing)


def _figures(first: Verdicts, second: Verdicts) -> tuple[int | float | None, ...]:
    found = agreed(first, second)
    n, counted, kappa = found.n, found.counts, found.kappa
    return (
        *(n, counted.tp, counted.fn, counted.fp, counted.tn, counted.invalid),
        *((found.accuracy.rate, *found.accuracy.ci95) if n else (None, None, None)),
        None if kappa is None else kappa.value,
    )


QUESTION = Question(
    name="judges",
    title="Agreement of judges",
    paper="OpenWebRL §5.3, C.2",
    columns=(
        *(PHASE, *texts("first", "second")),
        *(EPISODES, *counts("both", brief=False), *counts("only_first", "only_second")),
        *(*counts("neither", brief=False), *counts("invalid")),
        *(*shares("agree", LOW, HIGH), *numbers("kappa")),
    ),
    plots=(
        Plot(
            *("agree", "Share of episodes on which both agree", "second", ("agree",), ("first",), "phase"),
            interval=(LOW, HIGH),
            bars=True,
        ),
    ),
    measure=measure,
    summarize=summarize,
)
