"""Which stored episodes the evaluation of a run counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Any

import yaml

from webdojo.errors import StoreError
from webdojo.loops.run_folder import DEMO, EVAL, EVAL_BASE, EVALUATION, RL, is_unfinished
from webdojo.store.run import RunStore, TrajectoryRow


def counted(store: RunStore) -> list[TrajectoryRow]:
    """The scored episodes of `webdojo eval`, or of the last evaluation of a training: `evaluate.runs` of each task.

    The valid ones go first, and then the newest others: what failed for no fault of the agent has run again where the
    evaluation went on.

    Raises:
        StoreError: there is no evaluation.
    """
    recipe = yaml.safe_load(store.recipe_yaml) or {}
    rows = store.rows(EVAL) or _last(store.rows(EVALUATION))
    found = counted_rows(rows, recipe.get("evaluate", {}).get("runs", 1))
    if not found:
        raise StoreError(f"{store.path} holds no evaluation: {_cure(store, recipe)}")
    return found


def counted_rows(rows: Sequence[TrajectoryRow], runs: int) -> list[TrajectoryRow]:
    """Those of the rows of one evaluation that count, `runs` of each task."""
    by_task = defaultdict(list)
    for row in rows:
        if row.success is not None:
            by_task[row.task_id].append(row)
    return list(chain.from_iterable(_chosen(found, runs) for found in by_task.values()))


def _cure(store: RunStore, recipe: dict[str, Any]) -> str:
    if is_unfinished(store.path) and store.count().keys() & {EVAL_BASE, DEMO, RL}:
        done, iterations = len(store.metrics(RL)), recipe.get("train", {}).get("iterations", 0)
        return f"its training is at {done} of {iterations} iterations, and measures its model at the end"
    return "measure the model by `webdojo eval`"


def _chosen(rows: Sequence[TrajectoryRow], runs: int) -> list[TrajectoryRow]:
    valid = [row for row in rows if row.valid]
    invalid = [row for row in reversed(rows) if not row.valid]
    return [*valid, *invalid][: max(runs, len(valid))]


def _last(rows: Sequence[TrajectoryRow]) -> list[TrajectoryRow]:
    newest = max((row.iteration for row in rows), default=0)
    return [row for row in rows if row.iteration == newest]
