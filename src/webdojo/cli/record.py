"""`webdojo record`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webdojo.cli.app import AsJson, Overrides, app, interruptible
from webdojo.cli.data import show
from webdojo.cli.keys import RecipeCommand, recipe_for

if TYPE_CHECKING:
    from webdojo.recipe import Recipe
    from webdojo.types import Task

DEFAULTS = [
    *("browser.headless=false", "browser.capture=screenshot", "browser.browsers=1", "browser.warm_sessions=0"),
    *(
        "collect.attempts=1",
        "collect.max_attempts=1",
        "rollout.max_steps=100",
        "rollout.max_steps_by_difficulty={}",
        "rollout.task_timeout_s=3600",
    ),
]
"""What a recipe says for agents, as it suits a person."""
FIXED = ["collect.teacher=person", "collect.noise=0", "rollout.concurrency=1"]


@app.command(cls=RecipeCommand)
def record(
    overrides: Overrides = None,
    task: Annotated[
        str,
        typer.Option(
            help="What to do: with --url a sentence, else the id or the words of a training task.",
            show_default="the first training tasks",
        ),
    ] = "",
    url: Annotated[
        str,
        typer.Option(help="Where to start; embedded sites (http://shop-0.localhost/) too.", show_default="task's"),
    ] = "",
    recipe_name: Annotated[
        str, typer.Option("--recipe", metavar="RECIPE", help="Of the tasks, and of the agent that will learn.")
    ] = "quickstart",
    tasks: Annotated[
        int | None,
        typer.Option(min=1, help="The first so many training tasks: collect.tasks.", show_default="the recipe's"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "--run", help="Folder of the data set.", show_default="runs/record, …-2, …")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with that folder, also with another --url and --task.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Demonstrate tasks in a browser window: what you do becomes a data set, as `collect` makes them of a teacher."""
    from webdojo.cli.terminal import Terminal
    from webdojo.errors import BudgetError, Stopped
    from webdojo.loops.collection.dataset import read_manifest
    from webdojo.loops.request import check_display
    from webdojo.loops.run_folder import next_free, saved_recipe
    from webdojo.loops.start import collect as collect_episodes

    if resume and out is None:
        raise typer.BadParameter("--resume needs --out, the folder of the data set")
    if url and not task:
        raise typer.BadParameter("--url needs --task, what is to be done there")
    given = [*FIXED, *([f"collect.tasks={tasks}"] if tasks else [])]
    recipe = recipe_for("record", recipe_name, overrides, given, defaults=DEFAULTS)
    folder = out or next_free(Path("runs"), "record")
    if resume:
        recipe = saved_recipe(folder, recipe.name, [*(overrides or []), *given])
    recipe, wanted = _wanted(recipe, task, url, resume)
    if not recipe.browser.cdp_url:
        check_display(recipe.browser.headless, "webdojo record", "run it where there is one")
    go_on = f"Go on with the same command and: --out {folder} --resume"
    with interruptible(f"; what was recorded is kept. {go_on}"):
        try:
            manifest = collect_episodes(recipe, folder, resume, tasks=wanted, desk=Terminal())
        except BudgetError:
            raise
        except Stopped as stopped:
            typer.echo(f"{stopped}. {go_on}", err=True)
            manifest = read_manifest(folder)
    show(manifest, folder, as_json)


def _wanted(recipe: Recipe, task: str, url: str, resume: bool) -> tuple[Recipe, list[Task] | None]:
    """The tasks that are asked for, None for the first training tasks, and the recipe by which they are judged."""
    from webdojo.errors import ConfigError, TaskError
    from webdojo.loops.request import task_at, training_task
    from webdojo.reward.completed import Completed

    if not url:
        return recipe, [training_task(recipe, task)] if task else None
    own = task_at(recipe.env, task, url)
    try:
        reward = recipe.reward_function
        reward.check_setup()
        reward.check(own)
    except (ConfigError, TaskError) as error:
        if resume:  # all of a data set have one judge
            raise
        typer.echo(f"{error}; so that you end it counts as success (reward=completed)", err=True)
        recipe = recipe.model_copy(update={"reward": Completed()})
    return recipe, [own]
