"""Which tasks can be done on the day: one attempt at each, by an agent, judged by a reward.

An attempt is an evaluation like any other (`webdojo eval`), in a run folder beside the set; so it goes on where it was
killed, and `webdojo runs` shows its episodes. A task that the agent did not do may still be one that can be done: the
better the agent, the less is lost.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from webdojo.loops.construction.folder import write_tasks
from webdojo.loops.construction.writer import LeftOut
from webdojo.loops.failures import why
from webdojo.loops.run_folder import EVAL
from webdojo.loops.start import evaluate_model
from webdojo.policy.config import TINY
from webdojo.recipe import load_recipe
from webdojo.store.run import DATABASE, RunStore
from webdojo.types import Task

SOLVED_ON = "solved_on"
"""The key of `Task.metadata` with the day on which an agent did the task, as YYYY-MM-DD."""
CANDIDATES = "candidates.jsonl"
ATTEMPTS = "attempts"


def attempt(name: str, tasks: Sequence[Task], folder: Path, left_out: LeftOut) -> list[Task]:
    """The tasks that the agent of a recipe does, in their order, with the day; the others are counted in `left_out`.

    Args:
        name: the recipe of the agent, its environment and the reward that judges it, or a path to one.
        folder: where candidates and episodes are kept.

    Raises as `evaluate_model`.
    """
    candidates, run = folder / CANDIDATES, folder / ATTEMPTS
    write_tasks(candidates, tasks)
    file = f"tasks.eval_path={json.dumps(str(candidates))}"
    once = ["tasks.source=records", "tasks.shift_dates=null", f"evaluate.tasks={len(tasks)}", "evaluate.runs=1"]
    recipe = load_recipe(name, [file, *once, "evaluate.max_invalid=1"])
    model = TINY if "model" in type(recipe.engine).model_fields else recipe.model.path
    evaluate_model(recipe, model, run, resume=(run / DATABASE).is_file())
    solved, reasons = outcomes(run)
    done: list[Task] = []
    for task in tasks:
        if (day := solved.get(task.id)) is None:
            left_out.add("attempt: not done", f"{task.id}: {reasons.get(task.id, 'no episode')}")
        else:
            done.append(task.model_copy(update={"metadata": task.metadata | {SOLVED_ON: day}}))
    return done


def outcomes(run: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The day by the id of each task that was done, and the reason by that of each that was not."""
    solved: dict[str, str] = {}
    reasons: dict[str, str] = {}
    with RunStore.open(run, readonly=True) as store:
        for row in store.rows(EVAL):
            if row.success and row.valid:
                solved[row.task_id] = date.fromtimestamp(row.created).isoformat()
            else:
                reasons[row.task_id] = why(store.trajectory(row.id))
    return solved, reasons
