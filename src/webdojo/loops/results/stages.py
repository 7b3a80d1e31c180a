"""How good the model of a run was at each stage, as far as that is measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import yaml

from webdojo.evaluation.metrics import share
from webdojo.loops.results.counted import counted_rows
from webdojo.loops.run_folder import EVAL, EVAL_BASE, EVAL_SFT, EVALUATION, PLANNED
from webdojo.store.run import RunStore, TrajectoryRow

PHASES = {"success_base": EVAL_BASE, "success_sft": EVAL_SFT, "success_rl": EVALUATION, "success_eval": EVAL}
"""Keys of the result, with the phases that hold their episodes."""


def stages(store: RunStore, rows: Sequence[TrajectoryRow] | None = None) -> dict[str, dict[str, Any]]:
    """Success on the held-out tasks at each stage, by its key in `result.json`.

    A finished run has what its result says. Another one has what the episodes say that have ended so far: `n`,
    `valid_n`, `rate`, `ci95` (Wilson) and `by_difficulty`, and beside them `planned`, how many episodes there will be.
    `rows` are those of the store, where they are at hand.
    """
    if result := store.get("result", {}):
        return {key: found for key, found in result.items() if key.startswith("success_")}
    recipe = yaml.safe_load(store.recipe_yaml) or {}
    runs, planned = recipe.get("evaluate", {}).get("runs", 1), store.get(PLANNED, 0)
    by_phase: defaultdict[str, list[TrajectoryRow]] = defaultdict(list)
    for row in store.rows() if rows is None else rows:
        # Evaluations between updates are on the learning curve; the stage is the one after the last of them.
        if row.phase != EVALUATION or row.iteration == recipe.get("train", {}).get("iterations"):
            by_phase[row.phase].append(row)
    measured = {key: counted_rows(by_phase[phase], runs) for key, phase in PHASES.items()}
    return {key: _rate(found) | {"planned": planned} for key, found in measured.items() if found}


def _rate(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    by_difficulty = {
        str(level): _share([row for row in rows if row.difficulty == level])
        for level in sorted({row.difficulty for row in rows})
    }
    return _share(rows) | {"valid_n": sum(bool(row.valid) for row in rows), "by_difficulty": by_difficulty}


def _share(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    return share(sum(bool(row.success) for row in rows), len(rows)).model_dump(mode="json")
