"""A finished evaluation of made-up episodes, whose rewards are those that the rules give."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.loops.judging.known import RECIPE, known
from webdojo.evaluation.metrics import success
from webdojo.loops.results.cost import cost
from webdojo.loops.results.kit import write_kit
from webdojo.recipe import parse_recipe
from webdojo.store.run import RunStore
from webdojo.types import Termination, Trajectory

OWN = parse_recipe(yaml.safe_load(RECIPE), "quickstart")


def episodes(store: RunStore) -> list[Trajectory]:
    """Three tasks twice, of which one episode was lost."""
    made = []
    for task in ("a", "b", "c"):
        for run in (1, 2):
            lost = {"termination": Termination.TIMEOUT, "valid": False} if (task, run) == ("c", 2) else {}
            right = task == "a" and run == 1
            each = known(f"{task}-{run}", store.images, success=right, seed=f"0/{task}/{run}", **lost)
            each.task = each.task.model_copy(update={"id": task})
            made.append(each)
    return made


def evaluation_in(folder: Path) -> Path:
    with RunStore.create(folder, RECIPE, {"versions": {"python": "3"}, "git": "abc"}) as store:
        made = episodes(store)
        for each in made:
            store.add_trajectory(each, "eval", 0)
        measured = success(made).model_dump(mode="json")
        write_kit(store, OWN, {"model": "tiny", "success_eval": measured, "cost": cost(made, folder)}, made)
    return folder
