"""How often an agent begins again at the first page, and how often that helps."""

from __future__ import annotations

from collections.abc import Sequence

from webdojo.loops.analysis.table import (
    EPISODES,
    ITERATION,
    PHASE,
    Answer,
    Measured,
    Plot,
    Question,
    Setting,
    acting,
    by_iteration,
    counts,
    shares,
)
from webdojo.loops.results.cycles import restarts
from webdojo.types import Trajectory


def measure(trajectory: Trajectory, setting: Setting) -> bool:
    return restarts(trajectory, setting.restart_url)


def summarize(measured: Sequence[Measured[bool]]) -> Answer:
    rows = []
    for (phase, iteration), group in by_iteration(acting(measured)).items():
        again = sum(each.fact for each in group)
        won = sum(each.row.success is True for each in group)
        both = sum(each.fact and each.row.success is True for each in group)
        figures = (again / len(group), both / again if again else None, both / won if won else None)
        rows.append((phase, iteration, len(group), again, both, won, *figures))
    return Answer(rows) if rows else Answer(missing="no episode has a step")


QUESTION = Question(
    name="restarts",
    title="Episodes in which the agent begins again at the first page",
    paper="OpenWebVoyager Table 5",
    columns=(
        *(PHASE, ITERATION, EPISODES, *counts("restarts", "restarts_won", "won")),
        *shares("share", "won_of_restarts", "restarts_of_won"),
    ),
    plots=(Plot("share", "Share of episodes with a restart", "iteration", ("share",), ("phase",)),),
    measure=measure,
    summarize=summarize,
)
