"""How long responses, trajectories and episodes are: mean and 90th percentile over training."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

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
    mean,
    numbers,
    p90,
)
from webdojo.types import Trajectory

Tokens = tuple[int, ...]
"""The sampled tokens of each step."""


def measure(trajectory: Trajectory, setting: Setting) -> Tokens:
    return tuple(len(turn.response.ids) for turn in trajectory.turns)


def summarize(measured: Sequence[Measured[Tokens]]) -> Answer:
    rows = []
    for (phase, iteration), group in by_iteration(acting(measured)).items():
        figures = (
            [each.row.steps for each in group],
            list(chain.from_iterable(each.fact for each in group)),
            [sum(each.fact) for each in group],
        )
        rows.append((phase, iteration, len(group), *chain.from_iterable((mean(each), p90(each)) for each in figures)))
    return Answer(rows) if rows else Answer(missing="no episode has a step")


QUESTION = Question(
    name="lengths",
    title="Length of responses, trajectories and episodes",
    paper="OpenWebRL §5.2, Figures 2 and 3",
    columns=(
        *(PHASE, ITERATION, EPISODES),
        *numbers("steps", "steps_p90", "response_tokens", "response_tokens_p90"),
        *numbers("tokens", "tokens_p90"),
    ),
    plots=tuple(
        Plot(name, title, "iteration", (name, f"{name}_p90"), (), "phase")
        for name, title in (
            ("steps", "Steps of an episode"),
            ("response_tokens", "Tokens of a response"),
            ("tokens", "Tokens of all responses of a trajectory"),
        )
    ),
    measure=measure,
    summarize=summarize,
)
