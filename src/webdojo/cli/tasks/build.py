"""`webdojo tasks build` and `webdojo tasks propose`: task sets made with a model."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from webdojo.cli.app import AsJson, Endpoint, Overrides, interruptible
from webdojo.cli.keys import RecipeCommand, recipe_and_model
from webdojo.cli.tasks.sets import tasks_app
from webdojo.errors import Missing
from webdojo.tasks.novelty import THRESHOLD

Out = Annotated[Path, typer.Option(metavar="FILE", help="Where the set goes, one JSON object a line.")]
Model = Annotated[
    str, typer.Option(help="The model that writes: with --endpoint its name there; else a folder or a hub id.")
]


@tasks_app.command(cls=RecipeCommand)
def build(
    seeds: Annotated[Path, typer.Argument(metavar="SEEDS", help="File of tasks, or a .txt with one question a line.")],
    out: Out,
    overrides: Overrides = None,
    source: Annotated[
        str, typer.Option(help="How the file is read: tasks.source of a recipe, such as webvoyager.")
    ] = "records",
    endpoint: Endpoint = "",
    model: Model = "",
    as_json: AsJson = False,
) -> None:
    """Give each seed a rubric, and decompose it into easier tasks (WebGym's Algorithm 1)."""
    from webdojo.loops.construction.construct import read_seeds
    from webdojo.loops.construction.sets import build_set

    named = _named(model, endpoint, overrides)
    recipe, path = recipe_and_model("tasks build", "openwebrl", overrides, named, endpoint)
    recipe.engine.check_messages()
    read = read_seeds(seeds, source)
    with interruptible(_goes_on()):
        report = build_set(recipe, path, read, out)
    _show(report, as_json)


@tasks_app.command(cls=RecipeCommand)
def propose(
    sites: Annotated[str, typer.Argument(metavar="SITES", help="An address, or a file with one a line.")],
    out: Out,
    overrides: Overrides = None,
    per_site: Annotated[int, typer.Option(min=1, metavar="N", help="Tasks a site, variants not counted.")] = 10,
    pages: Annotated[int, typer.Option(min=1, metavar="N", help="Pages that are looked at of a site.")] = 4,
    examples: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Tasks to show as examples, of these sites or of others.")
    ] = None,
    source: Annotated[str, typer.Option(help="How the examples are read, as in `tasks build`.")] = "records",
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Similarity (ROUGE-L) from which on a task is no new one of its site.")
    ] = THRESHOLD,
    variants: Annotated[bool, typer.Option(help="An easier and a harder variant of each.")] = True,
    attempt: Annotated[
        str, typer.Option(metavar="RECIPE", help="Keep what the agent of this recipe does, by its reward, today.")
    ] = "",
    recipe_name: Annotated[
        str, typer.Option("--recipe", metavar="RECIPE", help="Whose environment and browser visit the sites.")
    ] = "openwebrl",
    endpoint: Endpoint = "",
    model: Model = "",
    as_json: AsJson = False,
) -> None:
    """Propose new tasks for web sites, from what they show and from examples (self-instruct)."""
    from webdojo.envs.task_sets import load_tasks
    from webdojo.loops.construction.propose import Options, read_sites
    from webdojo.loops.construction.sets import propose_set
    from webdojo.recipe import load_recipe

    named = _named(model, endpoint, overrides)
    recipe, path = recipe_and_model("tasks propose", recipe_name, overrides, named, endpoint)
    recipe.engine.check_messages()
    if attempt:
        load_recipe(attempt).reward_function.check_setup()
    read = read_sites(sites)
    shown = list(load_tasks(source, path=examples)) if examples is not None else []
    options = Options(per_site, variants, threshold, examples=shown, seed=recipe.seed)
    with interruptible(_goes_on()):
        report = propose_set(recipe, path, read, out, options, pages, attempt)
    _show(report, as_json)


def _named(model: str, endpoint: str, overrides: list[str] | None) -> str:
    """The model that was named; Missing where nobody has named one."""
    if model or endpoint or any(each.startswith("engine") for each in overrides or []):
        return model
    raise Missing("no model is named that writes the tasks: --endpoint URL --model NAME, or engine.… keys")


def _goes_on() -> str:
    return f"; what was answered is kept. Go on with the same command: webdojo {shlex.join(sys.argv[1:])}"


def _show(report: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
        return
    levels = ", ".join(f"{count} of {level}" for level, count in report["by_difficulty"].items())
    decomposed = f", {report['parts']} of them parts of others" if report["parts"] else ""
    typer.echo(f"{report['tasks']} tasks on {report['websites']} websites in {report['out']}{decomposed}")
    typer.echo(f"difficulty: {levels or 'none'}")
    for reason, found in report["left_out"].items():
        typer.echo(f"left out: {found['count']} {reason}, such as {found['samples'][0]}")
    if asked := report["asked"]:
        typer.echo(f"asked: {asked['requests']} requests, {asked['cached']} from the cache, {asked['usd']:.4f} USD")
