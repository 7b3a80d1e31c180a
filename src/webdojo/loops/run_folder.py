"""Which folder a run lives in, with which recipe it goes on, and what the phases in it are called.

Without a folder from the user, a run of recipe `quickstart` lives in `runs/quickstart`; further ones in
`runs/quickstart-2`, `-3`, …. A run goes on with the recipe that it was started with, so that an edited file cannot
change it half-way; only overrides given with `--resume` do, and they are saved with the run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from operator import getitem
from pathlib import Path

from webdojo.errors import ConfigError
from webdojo.recipe import Recipe, load_recipe
from webdojo.recipe_paths import moved, whole, whole_path
from webdojo.store.run import DATABASE, RunStore

RL = "rl"
SFT = "sft"
"""The phase of the warm start."""
EVAL_BASE = "eval_base"
"""The phase of the evaluation of the model that a training begins with."""
EVAL_SFT = "eval_sft"
"""The phase of the evaluation after the warm start."""
EVALUATION = "eval_rl"
"""The phase of evaluations of every version, by iteration; their metrics are stored by step, and step 0 is the warm
start."""
EVAL = "eval"
"""The phase of an evaluation by itself (`webdojo eval`)."""
DEMO = "demo"
"""The phase of the oracle's demonstrations for the warm start."""
CYCLE = "cycle"
"""The metrics of cycles of exploration, feedback and optimization, by round."""
EVAL_CYCLE = "eval_cycle"
"""The phase of the evaluations after each of them."""
COLLECT = "collect"
"""The phase of a teacher's episodes (`webdojo collect`)."""
HELDOUT = "heldout"
"""The phase of the episodes that a distilled judge is measured on (`webdojo judge distill`)."""
ACT = "act"
"""The phase of a single task that a user has given."""
TRAINS_NOTHING = {EVAL, COLLECT, ACT}
"""Phases of the runs that train nothing."""

PLANNED = "heldout_episodes"
"""Under which key a run keeps how many episodes an evaluation of it has: there may be fewer tasks than
`evaluate.tasks`."""
ENGINE_ACCOUNT = "engine.sqlite"
"""What the endpoint of the agent was asked and paid, if it is behind one."""
KIT = "evaluation.json"
"""What an evaluation's number depends on (`loops/results/kit.py`)."""

FIXED = (
    "seed",
    "env",
    "tasks",
    "reward",
    "model.path",
    "browser.viewport_px",
    "harness",
    "collect.teacher",
    "collect.noise",
    "rollout.group_size",
    "rollout.sampling",
    "evaluate.sampling",
    "evaluate.max_steps",
    "evaluate.max_steps_by_difficulty",
)
"""What `--resume` may not change, but for what is `FREE`."""
FREE = {"env": {"host", "port"}, "tasks": {"sampler"}}
"""Keys of those sections that it may change: addresses, and which tasks come next."""


def is_unfinished(folder: Path) -> bool:
    return (folder / DATABASE).is_file() and not (folder / "result.json").is_file()


def resume_or_next(root: Path, name: str) -> tuple[Path, bool]:
    """The newest unfinished run of that name under `root`, else the next free folder, and whether to resume it."""
    numbered = _numbered(root, name)
    if unfinished := [number for number in numbered if is_unfinished(numbered[number])]:
        return numbered[max(unfinished)], True
    return next_free(root, name), False


def next_free(root: Path, name: str) -> Path:
    number = max(_numbered(root, name), default=0) + 1
    return root / (name if number == 1 else f"{name}-{number}")


def _numbered(root: Path, name: str) -> dict[int, Path]:
    numbered = {1: root / name} if (root / name).exists() else {}
    for folder in root.glob(f"{name}-*"):
        if match := re.fullmatch(rf"{re.escape(name)}-(\d+)", folder.name):
            numbered[int(match[1])] = folder
    return numbered


def saved_recipe(folder: Path, name: str, overrides: list[str]) -> Recipe:
    """The recipe `name` that the run in `folder` was started with, changed by `overrides` where it is not `FIXED`."""
    file = saved_file(folder, name)
    recipe = load_recipe(file, overrides, migrate=True)
    check_unchanged(folder, recipe)
    return recipe


def saved_file(folder: Path, name: str) -> str:
    """The file of the recipe `name` that the run in `folder` was started with; a ConfigError where it is another."""
    RunStore.open(folder, readonly=True).close()
    file = str(folder / "recipe.yaml")
    if (started := load_recipe(file, migrate=True).name) != name:
        raise ConfigError(f"the run in {folder} was started with recipe {started!r}, not {name!r}: name that one")
    return file


def check_goes_on(folder: Path, recipe: Recipe, model: str) -> None:
    """Raise a ConfigError where the evaluation in a folder is one of another model, a fixed key has changed, or its
    result would become one of fewer episodes."""
    with RunStore.open(folder, readonly=True) as store:
        measured, loaded = store.info.get("model", ""), store.info.get("processor", "")
    same_folder = Path(loaded).is_absolute() and whole_path(model) == loaded  # however it is named from here
    if not (model == measured or same_folder):
        raise ConfigError(
            f"{folder} holds an evaluation of {measured!r}, not of {model!r}: name that one, or start a new --run"
        )
    check_unchanged(folder, recipe)
    if is_unfinished(folder):
        return
    started, now = load_recipe(str(folder / "recipe.yaml"), migrate=True).evaluate, recipe.evaluate
    for key, had, has in (("tasks", started.tasks, now.tasks), ("runs", started.runs, now.runs)):
        if has < had:
            raise ConfigError(
                f"evaluate.{key} = {has} would replace the result in {folder}, which is of {had}: leave it out, or "
                "start a new --run"
            )


def check_unchanged(folder: Path, recipe: Recipe) -> None:
    """Raise a ConfigError where a `FIXED` key is another one than that with which the run in a folder was started."""
    started = load_recipe(str(folder / "recipe.yaml"), migrate=True)
    if key := changed(started, recipe, FIXED):
        raise ConfigError(
            f"{key} of the run in {folder} cannot change half-way, as what it has stored depends on it: "
            "keep what it was started with, or start a new run in another folder"
        )


def changed(started: Recipe, recipe: Recipe, keys: Sequence[str]) -> str:
    """The first of some keys that is another one in `recipe` than in the one a run was started with, but for what is
    `FREE`; empty where none is."""
    before, after = (whole(each.model_dump(exclude=FREE)) for each in (started, recipe))
    after = moved(before, after)  # of a run that goes on on another machine
    values = ((reduce(getitem, key.split("."), each) for each in (before, after)) for key in keys)
    return next((key for key, (had, has) in zip(keys, values, strict=True) if had != has), "")
