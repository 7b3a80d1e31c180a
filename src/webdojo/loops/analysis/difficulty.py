"""How many steps tasks of each difficulty take, by how the episode ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from webdojo.loops.analysis.table import (
    EPISODES,
    PHASE,
    Answer,
    Measured,
    Plot,
    Question,
    Setting,
    acting,
    counts,
    grouped,
    mean,
    numbers,
    p90,
    shares,
)
from webdojo.types import Trajectory


def measure(trajectory: Trajectory, setting: Setting) -> bool:
    """Whether it ended with an answer."""
    return trajectory.answer is not None


def summarize(measured: Sequence[Measured[bool]]) -> Answer:
    rows = []
    for phase, episodes in grouped(acting(measured), lambda row: row.phase).items():
        for difficulty, group in sorted(grouped(episodes, lambda row: row.difficulty).items()):
            steps = [each.row.steps for each in group]
            answered = [each.row.steps for each in group if each.fact]
            won, lost = ([each.row.steps for each in group if each.row.success is said] for said in (True, False))
            success = len(won) / (len(won) + len(lost)) if won or lost else None
            mode = Counter(answered).most_common(1)[0][0] if answered else None
            figures = (mean(steps), p90(steps), mean(answered), mode, mean(won), mean(lost))
            rows.append((phase, difficulty, len(group), success, *figures))
    return Answer(rows) if rows else Answer(missing="no episode has a step")


QUESTION = Question(
    name="difficulty",
    title="Steps by difficulty of the task",
    paper="WebGym Figure 4; OpenWebRL C.1; AsyncWebRL",
    columns=(
        *(PHASE, *counts("difficulty"), EPISODES, *shares("success"), *numbers("steps", "steps_p90")),
        *(*numbers("steps_answered", brief=False), *counts("mode_answered", brief=False)),
        *numbers("steps_won", "steps_lost"),
    ),
    plots=(
        Plot("steps", "Steps of an episode", "difficulty", ("steps", "steps_p90"), (), "phase"),
        Plot("outcome", "Steps by outcome", "difficulty", ("steps_won", "steps_lost"), (), "phase"),
    ),
    measure=measure,
    summarize=summarize,
)
