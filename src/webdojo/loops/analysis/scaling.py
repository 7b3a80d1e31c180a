"""What more interactions buy: success if episodes had ended after at most so many steps.

An agent that does not know its limit does the same up to it, so an episode that succeeds after k steps counts at every
limit from k on, and fails at smaller ones. Above the limit that the run had, nothing is known. Of a phase that
evaluates several versions only the newest one counts.
"""

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
    nothing,
    shares,
)

_EVALUATIONS = "eval"
"""How the names of phases that evaluate begin (`loops/run_folder.py`)."""


def summarize(measured: Sequence[Measured[None]]) -> Answer:
    evaluated = [each for each in measured if each.row.phase.startswith(_EVALUATIONS) and each.row.success is not None]
    rows = []
    for phase, episodes in grouped(evaluated, lambda row: row.phase).items():
        newest = max(each.row.iteration for each in episodes)
        group = [each for each in episodes if each.row.iteration == newest]
        needed = [each.row.steps for each in group if each.row.success]
        for limit in range(1, max(each.row.steps for each in group) + 1):
            won = sum(steps <= limit for steps in needed)
            rows.append((phase, limit, len(group), won / len(group), *wilson95(won, len(group))))
    return Answer(rows) if rows else Answer(missing="there is no scored episode of an evaluation")


QUESTION = Question(
    name="test_time_scaling",
    title="Success by the maximum number of interactions",
    paper="WebAgent-R1 §3.5, Figure 5",
    columns=(PHASE, *counts("max_steps"), EPISODES, *shares("success", LOW, HIGH)),
    plots=(Plot("success", "Success", "max_steps", ("success",), ("phase",), interval=(LOW, HIGH)),),
    measure=nothing,
    summarize=summarize,
)
