"""All that the number of an evaluation depends on, in one file of its run folder, `evaluation.json`.

With the episodes of the folder `webdojo judge replay` judges them again by it, without a browser and without the agent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from webdojo.evaluation.metrics import run_order
from webdojo.loops.judging.verdicts import code_hash, described
from webdojo.loops.results.protocol import differs, protocol_values
from webdojo.loops.run_folder import KIT
from webdojo.recipe import Recipe
from webdojo.store.files import write_atomic
from webdojo.store.run import RunStore
from webdojo.types import Record, Task, Trajectory


class Verdict(Record):
    """One episode of an evaluation."""

    id: str
    """That of the stored episode."""
    task: str
    seed: str
    """Of what the environment drew; ends in the number of the run."""
    termination: str
    steps: int
    reward: float
    success: bool
    valid: bool
    cause: str
    """Where it is not valid, what is to blame."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> Verdict:
        reward = trajectory.reward
        assert reward is not None, f"{trajectory.id} was measured without a reward"
        return cls(
            id=trajectory.id,
            task=trajectory.task.id,
            seed=trajectory.seed,
            termination=trajectory.termination.value,
            steps=trajectory.steps,
            reward=reward.value,
            success=reward.success,
            valid=reward.valid,
            cause=reward.cause,
        )


def write_kit(store: RunStore, recipe: Recipe, result: dict[str, Any], episodes: Sequence[Trajectory]) -> None:
    """Write the kit of an evaluation whose episodes are stored; `result` is as in `result.json`."""
    info, judge = store.info, recipe.reward_function
    tasks = {episode.task.id: episode.task for episode in episodes}
    kit = {
        "model": result["model"],
        "protocol": {"name": recipe.name, "differs": differs(recipe), "values": protocol_values(recipe)},
        "tasks": {"n": len(tasks), "sha256": tasks_hash(tasks.values()), **_task_file(recipe)},
        "judge": described(judge) | {"code_sha256": code_hash(judge)},
        **{key: info.get(key) for key in ("created", "command", "git", "versions", "machine")},
        "cost": result["cost"],
        "result": result["success_eval"],
        "episodes": [
            Verdict.of(each).model_dump(mode="json")
            for each in sorted(episodes, key=lambda each: (each.task.id, *run_order(each)))
        ],
    }
    write_atomic(store.path / KIT, f"{json.dumps(kit, indent=2, ensure_ascii=False)}\n".encode())


def tasks_hash(tasks: Iterable[Task]) -> str:
    """SHA-256 of what tasks ask for, where, and how it is checked, in whatever order.

    Their metadata do not count, because some depend on the day, nor do files of this machine.
    """
    asked = {"id", "instruction", "start_url", "evaluator"}
    ordered = sorted(tasks, key=lambda task: task.id)
    dumped = [task.model_dump(mode="json", include=asked) for task in ordered]
    return hashlib.sha256(json.dumps(dumped, sort_keys=True).encode()).hexdigest()


def _task_file(recipe: Recipe) -> dict[str, str]:
    """The file of the tasks, if they come from one, and its SHA-256."""
    data = recipe.model_dump(mode="json")
    named = (data[section].get(key) for section in ("tasks", "env") for key in ("eval_path", "path"))
    path = next((each for each in named if each), "")
    return {"file": path, "file_sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()} if path else {}
