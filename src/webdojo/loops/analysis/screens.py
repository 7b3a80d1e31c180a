"""How often a step changes nothing: the next screenshot is the same one."""

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
    numbers,
    shares,
)
from webdojo.types import Trajectory


def measure(trajectory: Trajectory, setting: Setting) -> int:
    """The number of steps after which the screen is the same."""
    return sum(turn.same_screen for turn in trajectory.turns)


def summarize(measured: Sequence[Measured[int]]) -> Answer:
    rows = []
    for (phase, iteration), group in by_iteration(acting(measured)).items():
        steps, same = sum(each.row.steps for each in group), sum(each.fact for each in group)
        rows.append((phase, iteration, len(group), steps, same, same / steps, steps / len(group)))
    return Answer(rows) if rows else Answer(missing="no episode has a step")


QUESTION = Question(
    name="repeated_screens",
    title="Steps that leave the screen as it was",
    paper="WebGym §5.2, Figure 8",
    columns=(
        *(PHASE, ITERATION, EPISODES, *counts("steps", "repeated")),
        *(*shares("share"), *numbers("steps_mean")),
    ),
    plots=(
        Plot("share", "Share of steps that leave the screen as it was", "iteration", ("share",), ("phase",)),
        Plot("steps", "Steps of an episode", "iteration", ("steps_mean",), ("phase",)),
    ),
    measure=measure,
    summarize=summarize,
)
