"""Whether training went through the three phases of WebAgent-R1: skills, exploration, consolidation.

The iterations are cut into three parts where three straight lines fit the reward best (least squares), with at least
`SHORTEST` iterations each. Three such parts always exist; whether reward, length and number of steps behave in them as
in the paper is for the reader to see.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webdojo.loops.analysis.table import (
    EPISODES,
    ITERATION,
    Answer,
    Measured,
    Plot,
    Question,
    acting,
    grouped,
    mean,
    nothing,
    numbers,
    texts,
)
from webdojo.loops.run_folder import RL

SHORTEST = 3
"""Iterations of a part."""
PARTS = ("first", "second", "third")
_MEASURES = {"reward": "reward", "tokens": "tokens of a trajectory", "steps": "steps of an episode"}


def cuts(values: Sequence[float]) -> tuple[int, int] | None:
    """The first places of the second and of the third part; None where there are too few values for three."""
    n = len(values)
    if n < 3 * SHORTEST:
        return None
    errors_FL = _errors(np.asarray(values, dtype=float))
    last_F = errors_FL[:, n - 1]
    best: tuple[float, int, int] | None = None
    for first in range(SHORTEST, n - 2 * SHORTEST + 1):
        seconds = np.arange(first + SHORTEST, n - SHORTEST + 1)
        total = errors_FL[0, first - 1] + errors_FL[first, seconds - 1] + last_F[seconds]
        place = int(total.argmin())
        if best is None or total[place] < best[0]:
            best = float(total[place]), first, int(seconds[place])
    assert best is not None
    return best[1:]


def _errors(values_N: np.ndarray) -> np.ndarray:
    """For each first and last place, the squared error of the line that fits the values from one to the other best."""
    x_N = np.arange(len(values_N), dtype=float)
    sums = [
        np.concatenate([[0.0], np.cumsum(each)])
        for each in (np.ones_like(x_N), x_N, values_N, x_N * x_N, x_N * values_N, values_N * values_N)
    ]
    n, x, y, xx, xy, yy = (each[None, 1:] - each[:-1, None] for each in sums)
    n = np.where(n < 1, 1, n)  # where the last place stands before the first, which nobody asks for
    spread, shared = xx - x * x / n, xy - x * y / n
    explained = np.divide(shared**2, spread, out=np.zeros_like(spread), where=spread > 1e-9)
    return np.maximum(yy - y * y / n - explained, 0.0)


def summarize(measured: Sequence[Measured[None]]) -> Answer:
    groups = grouped((each for each in acting(measured) if each.row.phase == RL), lambda row: row.iteration)
    found = [
        (
            iteration,
            len(group),
            mean([each.row.reward for each in group if each.row.reward is not None]),
            mean([each.row.response_tokens for each in group]),
            mean([each.row.steps for each in group]),
        )
        for iteration, group in sorted(groups.items())
    ]
    if not found:
        return Answer(missing="there is no iteration of online training")
    rewards = [reward for _, _, reward, *_ in found if reward is not None]
    between = cuts(rewards) if len(rewards) == len(found) else None
    if between is None:
        needed = f"three phases need {3 * SHORTEST} iterations with rewards, and there are {len(rewards)}"
        return Answer([(iteration, None, *rest) for iteration, *rest in found], [needed])
    parts = np.searchsorted(between, np.arange(len(found)), side="right")
    rows = [(iteration, PARTS[part], *rest) for (iteration, *rest), part in zip(found, parts, strict=True)]
    return Answer(rows, [_described(rows, part) for part in PARTS])


def _described(rows: Sequence[tuple[object, ...]], part: str) -> str:
    own = [row for row in rows if row[1] == part]
    figures_NM = np.array([row[3:] for row in own], dtype=float)
    ends_2N = np.array([[0.0, len(own) - 1.0]])
    changes = []
    for name, values_N in zip(_MEASURES.values(), figures_NM.T, strict=True):
        slope, start = np.polyfit(np.arange(len(own)), values_N, 1)
        first, last = (start + slope * ends_2N)[0]
        changes.append(f"{name} {first:.3g} to {last:.3g}")
    return f"{part} part, iterations {own[0][0]} to {own[-1][0]}: {', '.join(changes)} (ends of the fitted lines)"


QUESTION = Question(
    name="three_phases",
    title="Three-phase dynamics of online training",
    paper="WebAgent-R1 §3.3, Figure 3",
    columns=(ITERATION, *texts("part"), EPISODES, *numbers(*_MEASURES)),
    plots=tuple(Plot(name, title.capitalize(), "iteration", (name,), ("part",)) for name, title in _MEASURES.items()),
    measure=nothing,
    summarize=summarize,
)
