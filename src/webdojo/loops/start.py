"""The start of a training, an evaluation or a collection.

What a recipe, a model's path or a run folder has wrong is told before torch is imported, and leaves no run folder
behind.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from webdojo.errors import ConfigError, EngineError
from webdojo.loops.collection.dataset import Manifest, check_teacher
from webdojo.loops.collection.imitated import check_data
from webdojo.loops.run_folder import check_goes_on
from webdojo.policy.model.folder import check_model_path
from webdojo.recipe import Recipe
from webdojo.store.run import check_new_run
from webdojo.types import Task

if TYPE_CHECKING:
    from webdojo.loops.collection.person import Desk
    from webdojo.loops.parts import Parts
    from webdojo.loops.tracking.trackers import WriteReport

Place: TypeAlias = "Callable[[Recipe], AbstractContextManager[Parts]]"
"""Opens the place where a recipe's run has its parts, and says how they are opened there."""

logger = logging.getLogger("webdojo")


@contextmanager
def here(recipe: Recipe) -> Iterator[Parts]:
    """This machine."""
    from webdojo.loops.parts import HERE

    yield HERE


def train(
    recipe: Recipe, run: Path, resume: bool, place: Place = here, report: WriteReport | None = None
) -> dict[str, Any]:
    """Run a recipe in a run folder, its parts where `place` puts them, and return what `result.json` holds; trackers
    get its `report`."""
    check_model_path(recipe.model.path)
    if not resume:
        check_new_run(run)
    recipe.check(trains=True, demonstrates=not resume)
    if not resume:
        check_data(recipe)
    _check_answers(recipe)
    logger.info("%s %s in %s", "resuming" if resume else "starting", recipe.name, run)
    from webdojo.loops.pipeline import run_recipe

    with place(recipe) as parts:
        return run_recipe(recipe, run, resume, parts, report)


def evaluate_model(
    recipe: Recipe,
    model_path: str,
    run: Path,
    resume: bool,
    place: Place = here,
    report: WriteReport | None = None,
) -> dict[str, Any]:
    """Measure a model on the recipe's held-out tasks in a run folder, with the parts of a run where `place` puts them,
    and return what `result.json` holds; trackers get its `report`."""
    check_model_path(model_path)
    if resume:
        check_goes_on(run, recipe, recipe.engine.serves(model_path))
    else:
        check_new_run(run)
    recipe.check(trains=False, demonstrates=False)
    _check_answers(recipe)
    logger.info("measuring %s on %s in %s", recipe.engine.serves(model_path), recipe.name, run)
    from webdojo.loops.pipeline import measure_model

    with place(recipe) as parts:
        return measure_model(recipe, model_path, run, resume, parts, report)


def collect(
    recipe: Recipe, run: Path, resume: bool, *, tasks: Sequence[Task] | None = None, desk: Desk | None = None
) -> Manifest:
    """Collect a teacher's episodes in a run folder, and return what the `dataset.json` of the data set holds.

    `tasks` are others than the first training tasks of the recipe; a person who teaches sits at a `desk`.
    """
    if recipe.collect.teacher == "person" and desk is None:
        raise ConfigError("collect.teacher is 'person', who demonstrates by `webdojo record`")
    check_model_path(recipe.model.path)
    if resume:
        check_teacher(run, recipe)
    else:
        check_new_run(run)
    recipe.check_collection(tasks)
    _check_answers(recipe)
    from webdojo.loops.collection.run import run_collection

    return run_collection(recipe, run, resume, tasks, desk)


def _check_answers(recipe: Recipe) -> None:
    """Raise an EngineError where the endpoint of the agent or of the judge does not answer now."""
    reward = recipe.reward_function
    for what, asked, section in (("endpoint", recipe.engine, "engine"), ("judge", reward, "reward.engine")):
        if silence := asked.silence():
            raise EngineError(
                f"the {what} at {asked.address} (section {section}) does not answer: {silence}: start it, or correct "
                "its address or key"
            )
