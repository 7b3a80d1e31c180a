"""How many entries the memory of an agent has at each step, by outcome and difficulty."""

from __future__ import annotations

import json
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
    texts,
)
from webdojo.types import Trajectory

MEMORY = "Memory"
"""The section of a response that holds it, as a JSON object (`agent/webgym.py`)."""
OUTCOMES = {True: "success", False: "failure"}
Keys = tuple[int | None, ...] | None
"""The number of entries after each step; a response that cannot be read has None. None: no step has a memory."""


def measure(trajectory: Trajectory, setting: Setting) -> Keys:
    known: set[str] = set()
    found: list[int | None] = []
    for turn in trajectory.turns:
        if MEMORY not in turn.parsed.sections:
            found.append(None)
            continue
        noted = json.loads(turn.parsed.sections[MEMORY])
        known = known | set(noted) if setting.memory_delta else set(noted)
        found.append(len(known))
    return tuple(found) if any(each is not None for each in found) else None


def summarize(measured: Sequence[Measured[Keys]]) -> Answer:
    rows = []
    noting = [each for each in acting(measured) if each.fact is not None and each.row.success is not None]
    phases = list(grouped(noting, lambda row: row.phase))
    groups = grouped(noting, lambda row: (phases.index(row.phase), row.difficulty, OUTCOMES[bool(row.success)]))
    for (phase, difficulty, outcome), group in sorted(groups.items()):
        for step in range(max(each.row.steps for each in group)):
            known = [each.fact[step] for each in group if each.fact is not None and step < len(each.fact)]
            if keys := [number for number in known if number is not None]:
                rows.append((phases[phase], difficulty, outcome, step + 1, len(keys), mean(keys)))
    return Answer(rows) if rows else Answer(missing="no scored episode notes a memory (the harness webgym does)")


QUESTION = Question(
    name="memory_keys",
    title="Entries of the memory at each step",
    paper="AsyncWebRL, emergent behaviors of agent memory",
    columns=(PHASE, *counts("difficulty"), *texts("outcome"), *counts("step"), EPISODES, *numbers("keys")),
    plots=(Plot("keys", "Entries of the memory", "step", ("keys",), ("outcome", "difficulty"), "phase"),),
    measure=measure,
    summarize=summarize,
)
