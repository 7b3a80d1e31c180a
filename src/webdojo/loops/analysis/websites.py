"""How many tasks each web site has, and how often they succeed."""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.evaluation.metrics import wilson95
from webdojo.loops.analysis.table import (
    EPISODES,
    HIGH,
    LOW,
    PHASE,
    Answer,
    Measured,
    Plot,
    Question,
    counts,
    grouped,
    mean,
    nothing,
    numbers,
    shares,
    texts,
)


def summarize(measured: Sequence[Measured[None]]) -> Answer:
    """Rates over all scored episodes, where an invalid one counts as a failure, as in `webdojo.evaluation.metrics`."""
    rows = []
    scored = [each for each in measured if each.row.success is not None]
    for phase, episodes in grouped(scored, lambda row: row.phase).items():
        groups = grouped(episodes, lambda row: (row.website, row.kind))
        for (website, kind), group in sorted(groups.items(), key=lambda each: (-len(each[1]), each[0])):
            tasks, n = len({each.row.task_id for each in group}), len(group)
            won = sum(each.row.success is True for each in group)
            invalid = sum(each.row.valid is False for each in group)
            steps = mean([each.row.steps for each in group])
            rows.append((phase, website, kind, tasks, n, invalid, won / n, *wilson95(won, n), steps))
    return Answer(rows) if rows else Answer(missing="no episode was scored")


QUESTION = Question(
    name="websites",
    title="Success by web site",
    paper="WebGym Figure 3",
    columns=(
        *(PHASE, *texts("website"), *texts("kind", brief=False), *counts("tasks"), EPISODES, *counts("invalid")),
        *(*shares("success", LOW, HIGH), *numbers("steps")),
    ),
    plots=(
        Plot(
            *("success", "Success", "website", ("success",), ("kind",), "phase"),
            interval=(LOW, HIGH),
            bars=True,
        ),
    ),
    measure=nothing,
    summarize=summarize,
)
