"""`webdojo act`."""

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webdojo.cli.app import Endpoint, Overrides, app, interruptible
from webdojo.cli.keys import RecipeCommand, recipe_and_model
from webdojo.errors import WebdojoError

if TYPE_CHECKING:
    from webdojo.types import Reward

NOT_DONE = 1
"""Exit code where the agent did not do the task, or did not say that it is done where nobody can judge that."""


@app.command(cls=RecipeCommand)
def act(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="What to do, in a sentence; without --url the id of a recipe's task.")
    ],
    url: Annotated[
        str,
        typer.Option(
            help="Where to start; embedded sites (http://shop-0.localhost/) too.", show_default="that of the task"
        ),
    ] = "",
    overrides: Overrides = None,
    model: Annotated[
        str,
        typer.Option(
            help="`tiny`, a folder in Hugging Face layout, or a hub id; with --endpoint its name there.",
            show_default="the newest checkpoint in runs/, else tiny",
        ),
    ] = "",
    endpoint: Endpoint = "",
    harness: Annotated[str, typer.Option(help="harness.name: how the agent sees and speaks.")] = "",
    recipe_name: Annotated[
        str,
        typer.Option(
            "--recipe",
            metavar="RECIPE",
            help="Of the model, and of the task: a name or a .yaml file.",
            show_default="that of the model's run; else quickstart for tiny, openwebrl-dojo for others",
        ),
    ] = "",
    headful: Annotated[bool, typer.Option("--headful", help="Show the browser's window.")] = False,
    run: Annotated[
        Path | None, typer.Option(help="Folder to keep it in.", show_default="runs/act, runs/act-2, …")
    ] = None,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Show the film in this machine's browser.")] = True,
) -> None:
    """Let an agent do one task in a browser of this machine, and show how it went."""
    import asyncio

    from webdojo.loops.failures import shortened
    from webdojo.loops.request import check_display, newest_checkpoint, own_task, recipe_of, task_at
    from webdojo.loops.run_folder import next_free
    from webdojo.policy.model.folder import check_model_path
    from webdojo.store.images import ImageStore
    from webdojo.types import Termination
    from webdojo.view.film import write_trajectory
    from webdojo.view.tables import turn_text

    options = []
    if harness:
        options.append(f"harness.name={json.dumps(harness)}")
    if headful:
        options.append("browser.headless=false")
    newest = "" if model or endpoint or recipe_name else newest_checkpoint(Path("runs"))
    named = recipe_name or recipe_of(model or newest, endpoint)
    command = "act --url" if url else "act"
    recipe, path = recipe_and_model(
        command, named, overrides, model or newest, endpoint, options, migrate=not recipe_name
    )
    check_display(recipe.browser.headless)
    check_model_path(path)
    wanted = task_at(recipe.env, task, url) if url else own_task(recipe, task)

    from webdojo.loops.act import act as act_out

    folder = run or next_free(Path("runs"), "act")
    typer.echo(f"the agent: {recipe.engine.serves(path)}, by recipe {recipe.name}", err=True)
    if not url:
        typer.echo(f"the task: {wanted.instruction} ({wanted.start_url})", err=True)
    steps = count(1)
    with interruptible() as interruption:
        done, interrupted = asyncio.run(
            act_out(wanted, recipe, path, folder, lambda turn: typer.echo(turn_text(next(steps), turn)), own=not url)
        )
    if done is None:
        typer.echo(f"\n{interruption.name} before the first step", err=True)
        raise typer.Exit(interruption.exit_code)
    film = write_trajectory(done, ImageStore(folder / "images"), folder / "trajectory.html")
    typer.echo(f"{done.termination.value.replace('_', ' ')}{f': {done.answer}' if done.answer else ''}")
    typer.echo(_verdict(done.reward))
    if done.traceback:
        typer.echo(f"{shortened(done.traceback)}\nthe whole traceback is in the film")
    typer.echo(f"film: {film}")
    if interrupted:
        raise typer.Exit(interruption.exit_code)
    if show and sys.stdout.isatty():
        typer.launch(str(film))
    if done.error:
        raise WebdojoError(done.error)
    achieved = done.reward.success if done.reward is not None else done.termination is Termination.COMPLETED
    if not achieved:
        raise typer.Exit(NOT_DONE)


def _verdict(reward: Reward | None) -> str:
    if reward is None:
        return "not judged: to have a verdict, name a task of a recipe by its id, without --url"
    value = f"reward {reward.value:g}" if reward.valid else "invalid"
    return f"{value}: {reward.reason}" if reward.reason else value
