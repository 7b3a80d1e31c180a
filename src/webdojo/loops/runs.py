"""What is in a run folder, at a glance (`glance`, `brief`) or all of it (`describe`); also while the run goes on.

Nothing here needs the recipe to be one that this webdojo would take: old runs can be looked at.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from webdojo.errors import StoreError
from webdojo.evaluation.comparison import Measured, Outcome
from webdojo.evaluation.metrics import run_order
from webdojo.loops.keep import best, bytes_on_disk, rolled_out
from webdojo.loops.results.counted import counted
from webdojo.loops.results.protocol import compared_values
from webdojo.loops.results.stages import stages
from webdojo.loops.run_folder import ACT, RL, TRAINS_NOTHING, is_unfinished
from webdojo.store.lock import writer
from webdojo.store.run import DATABASE, RunStore


def runs_in(folder: Path) -> list[Path]:
    """The folder itself if it is a run, else the runs right below it."""
    if (folder / DATABASE).is_file():
        return [folder]
    if not (found := sorted(file.parent for file in folder.glob(f"*/{DATABASE}"))):
        why = f"there is no run in {folder}" if folder.is_dir() else f"{folder} does not exist"
        raise StoreError(f"{why}: give the folder of a run, or one that holds runs")
    return found


def state_of(store: RunStore) -> str:
    """What has become of the run: one that is `stopped` has no result yet, one that is `killed` died as it wrote."""
    lock = writer(store.path)
    if lock.alive:
        return "running"
    if not is_unfinished(store.path) or set(store.count()) == {ACT}:
        return "finished"
    return "killed" if lock.pid else "stopped"


def glance(path: Path) -> dict[str, Any]:
    """As `brief`, and `bytes`: what the folder takes on the disk, which takes long to count for a large run."""
    return brief(path) | {"bytes": bytes_on_disk(path)}


def brief(path: Path) -> dict[str, Any]:
    """A run in one line, as a JSON object; a run that cannot be read has a state of its own.

    `iteration` is how many are finished, `created` Unix seconds, 0 where that is not known. `success` is the share of
    the held-out tasks, where the result has it (`measured`), else of the last iteration's training episodes; `error` is
    why the run cannot be read.
    """
    blank: dict[str, Any] = {
        "run": str(path),
        "state": "unreadable",
        "recipe": "",
        "iteration": 0,
        "iterations": 0,
        "success": None,
        "measured": False,
        "episodes": 0,
        "created": 0.0,
        "error": "",
    }
    try:
        with RunStore.open(path, readonly=True) as store:
            last = next((row["success"] for row in reversed(store.metrics(RL)) if "success" in row), None)
            result = store.get("result", {})
            measured = result.get("success_rl", result.get("success_eval", {})).get("rate")
            created = store.info.get("created")
            return blank | {
                **_heading(store, _recipe(store)),
                "success": last if measured is None else measured,
                "measured": measured is not None,
                "episodes": sum(store.count().values()),
                "created": datetime.fromisoformat(created).timestamp() if created else 0.0,
            }
    except StoreError as error:
        return blank | {"error": str(error)}


def describe(path: Path) -> dict[str, Any]:
    """Everything about a run, as a JSON object."""
    with RunStore.open(path, readonly=True) as store:
        recipe, info = _recipe(store), store.info
        invalid: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for row in store.rows():
            if row.valid is False:
                reward = store.trajectory(row.id).reward
                invalid[row.phase][(reward.cause if reward is not None else "") or row.termination] += 1
        return _heading(store, recipe) | {
            "bytes": bytes_on_disk(path),
            "pid": writer(path).pid,
            "model": info.get("model") or recipe.get("model", {}).get("path", ""),
            "seed": info.get("seed"),
            "created": info.get("created", ""),
            "resumed": [each["created"] for each in info.get("resumed", [])],
            "command": info.get("command", ""),
            "git": info.get("git"),
            "versions": info.get("versions", {}),
            "machine": info.get("machine", {}),
            "episodes": store.count(),
            "invalid": {phase: dict(causes.most_common()) for phase, causes in invalid.items()},
            "results": stages(store),
            "cycles": store.get("result", {}).get("cycles", []),
            "metrics": [
                {name: value if math.isfinite(value) else None for name, value in row.items()}
                for row in store.metrics(RL)
            ],
            "checkpoints": _checkpoints(store),
            "seconds": store.get("seconds", {}),
        }


def _heading(store: RunStore, recipe: dict[str, Any]) -> dict[str, Any]:
    steps = store.metrics(RL)
    return {
        "run": str(store.path),
        "state": state_of(store),
        "recipe": recipe.get("name", ""),
        "iteration": int(steps[-1]["step"]) if steps else 0,
        "iterations": 0 if store.count().keys() & TRAINS_NOTHING else recipe.get("train", {}).get("iterations", 0),
    }


def _checkpoints(store: RunStore) -> list[dict[str, Any]]:
    """The checkpoints, oldest first; `success` is that of the training episodes that began under their policy."""
    found, saved, outcomes = best(store), store.checkpoints.all(), rolled_out(store)
    return [
        {
            "name": checkpoint.name,
            "iteration": (iteration := checkpoint.meta.get("iteration")),
            "success": fmean(outcomes[iteration]) if iteration in outcomes else None,
            "best": found is not None and found.checkpoint.name == checkpoint.name,
            "latest": checkpoint is saved[-1],
            "bytes": bytes_on_disk(checkpoint.path),
        }
        for checkpoint in saved
    ]


def _recipe(store: RunStore) -> dict[str, Any]:
    recipe: dict[str, Any] = yaml.safe_load(store.recipe_yaml) or {}
    return recipe


def measured(run: Path) -> Measured:
    """The evaluation in a run folder: that of `webdojo eval`, or the last one of a training.

    Raises:
        StoreError: there is none.
    """
    with RunStore.open(run, readonly=True) as store:
        rows = counted(store)
        if len({row.task_id for row in rows}) < len(rows):  # the n-th run of a task is compared with the n-th
            rows.sort(key=lambda row: (row.task_id, *run_order(store.trajectory(row.id))))
        protocol = compared_values(store.recipe_yaml)
    outcomes = [Outcome(task_id=row.task_id, success=bool(row.success), valid=bool(row.valid)) for row in rows]
    return Measured(name=str(run), outcomes=outcomes, protocol=protocol, finished=not is_unfinished(run))
