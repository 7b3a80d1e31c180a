"""What a user asks `webdojo act` or `webdojo record` for, checked before anything heavy is loaded."""

from __future__ import annotations

import difflib
import hashlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from webdojo.envs.env import Environment
from webdojo.errors import ConfigError, Missing
from webdojo.policy.config import TINY, TINY_LAB
from webdojo.progress import plural
from webdojo.recipe import Recipe
from webdojo.store.checkpoints import CheckpointFolder
from webdojo.store.run import DATABASE
from webdojo.types import Task

WHOLE_FILE = 10**9
"""More tasks than any file has."""
_MOST_NEAR = 2000
"""Tasks among which one of a similar name is looked for, which takes a while."""


def check_display(headless: bool, asked: str = "--headful", otherwise: str = "leave it out") -> None:
    """Raise ConfigError where a window is wanted and there is no screen to show it on; `asked` is what wants one."""
    shown = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not headless and not shown:
        raise ConfigError(
            f"{asked} shows a window, and there is no display (DISPLAY and WAYLAND_DISPLAY are empty): "
            f"{otherwise}, or put `xvfb-run` before the command"
        )


def task_at(env: Environment, instruction: str, url: str) -> Task:
    """A task of the user's own on any page of an environment; one that the environment has itself can be judged.

    Raises:
        ConfigError: it is empty, or `url` is no http address.
        TaskError: the environment has no such site.
    """
    if not instruction.strip():
        raise ConfigError("the task is empty: say what is to be done")
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname if parts.scheme in ("http", "https") else None), parts.port
    except ValueError:
        host = None
    if not host:
        raise ConfigError(f"--url is {url!r}: give the address to start at, such as https://example.org/")
    kind = env.kind_of(url)
    if (own := env.own_task(instruction, url)) is not None:
        return own.model_copy(update={"instruction": instruction, "start_url": url})
    digest = hashlib.sha256(f"{url}\n{instruction}".encode()).hexdigest()[:8]
    return Task(id=f"own-{digest}", instruction=instruction, start_url=url, website=host, kind=kind)


def own_task(recipe: Recipe, name: str) -> Task:
    """The task of a recipe that has this id, or asks for this in the same words; the recipe's reward can judge it.

    It is looked for among the tasks that policies are measured on, and then among those of training, in the whole files
    of the recipe where it names some.

    Raises:
        ConfigError: there is no such task, or the recipe has nothing that judges.
        TaskError: it cannot be done or judged.
    """
    files = recipe.tasks
    found = recipe.draw("eval", WHOLE_FILE if files.path or files.eval_path else recipe.evaluate.tasks)
    if not any(_is_named(each, name) for each in found):
        with suppress(Missing):  # an evaluation needs no tasks to train on
            known = {task.id for task in found}
            training = recipe.draw("train", WHOLE_FILE) if files.path else recipe.training_tasks()
            found = [*found, *(task for task in training if task.id not in known)]
    task = _named(found, name, recipe)
    recipe.env.check(task)
    reward = recipe.reward_function
    reward.check_setup()
    reward.check(task)
    return task


def training_task(recipe: Recipe, name: str) -> Task:
    """The training task of a recipe that has this id, or asks for this in the same words; raises as `own_task`."""
    return _named(recipe.training_tasks(), name, recipe)


def _named(tasks: Sequence[Task], name: str, recipe: Recipe) -> Task:
    task = next((each for each in tasks if _is_named(each, name)), None)
    if task is None:
        known = [text for each in tasks[:_MOST_NEAR] for text in (each.id, each.instruction)]
        near = difflib.get_close_matches(name, known, n=1) or [tasks[0].id]
        raise ConfigError(
            f"recipe {recipe.name!r} has {plural(len(tasks), 'task')}, and none is {name!r}: name one, such as "
            f"{near[0]!r}, or give --url, the address to start at, for a task of your own words"
        )
    return task


def _is_named(task: Task, name: str) -> bool:
    return name in (task.id, task.instruction)


def newest_checkpoint(runs: Path) -> str:
    """The folder of the newest checkpoint of all runs below `runs`; empty where there is none."""
    folders = [CheckpointFolder(file.parent / "checkpoints") for file in runs.glob(f"*/{DATABASE}")]
    saved = [checkpoint.path for folder in folders for checkpoint in folder.all()]
    return str(max(saved, key=lambda path: path.stat().st_mtime, default=""))


def recipe_of(model: str, endpoint: str = "") -> str:
    """The recipe that says how a model sees and speaks: that of the run whose checkpoint it is, else a usual one."""
    if endpoint:
        return "openwebrl-dojo"
    if model and (trained := Path(model).resolve().parent.parent / "recipe.yaml").is_file():
        return str(trained)
    return {"": "quickstart", TINY: "quickstart", TINY_LAB: "lab"}.get(model, "openwebrl-dojo")
