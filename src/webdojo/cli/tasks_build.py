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
from webdojo.errors import Missing

Out = Annotated[Path, typer.Option(metavar="FILE", help="Where the set goes, one JSON object a line.")]
Model = Annotated[
    str, typer.Option(help="The model that writes: with --endpoint its name there; else `tiny`, a folder or a hub id.")
]


def build(
    seeds: Annotated[
        Path, typer.Argument(metavar="SEEDS", help="File of tasks, or a .txt with one question a line.")
    ],
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
    import asyncio

    from webdojo.loops.build.construct import construct, read_seeds
    from webdojo.loops.build.folder import finish, open_folder
    from webdojo.loops.build.writer import open_writer
    from webdojo.progress import progress

    recipe, path = recipe_and_model("tasks build", "quickstart", overrides, _named(model, endpoint, overrides), endpoint)
    recipe.engine.check_messages()
    read = read_seeds(seeds, source)
    folder = open_folder(out)

    async def work() -> dict[str, Any]:
        async with open_writer(recipe, path, folder) as writer:
            with progress("seeds", len(read)) as bar:
                made = 0

                def on_seed(tasks: int) -> None:
                    nonlocal made
                    made += tasks
                    bar.advance(1, tasks=made, left_out=len(writer.left_out))

                tasks = await construct(read, writer, on_seed)
        return finish(out, tasks, writer.left_out, seeds=len(read))

    with interruptible(_goes_on()):
        report = asyncio.run(work())
    _show(report, as_json)


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
    ] = 0.7,
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
    import asyncio

    from webdojo.browser.pool import BrowserPool
    from webdojo.envs.task_sets import load_tasks
    from webdojo.loops.build.crawl import Crawls
    from webdojo.loops.build.folder import finish, open_folder
    from webdojo.loops.build.propose import AT_ONCE, Options, read_sites
    from webdojo.loops.build.propose import propose as propose_tasks
    from webdojo.loops.build.writer import LeftOut, open_writer
    from webdojo.progress import progress
    from webdojo.store.images import MemoryImages
    from webdojo.types import Task

    named = _named(model, endpoint, overrides)
    recipe, path = recipe_and_model("tasks propose", recipe_name, overrides, named, endpoint)
    recipe.engine.check_messages()
    read = read_sites(sites)
    shown = list(load_tasks(source, path=examples)) if examples is not None else []
    options = Options(per_site, variants, threshold, examples=shown, seed=recipe.seed)
    folder = open_folder(out)
    crawls = Crawls(folder, pages)

    async def work() -> tuple[list[Task], LeftOut]:
        env, browser = recipe.env, recipe.browser
        async with (
            open_writer(recipe, path, folder) as writer,
            env,
            BrowserPool(browser, MemoryImages(AT_ONCE), dict(env.hosts)) as pool,
        ):
            with progress("sites", len(read)) as bar:
                made = 0

                def on_site(tasks: int) -> None:
                    nonlocal made
                    made += tasks
                    bar.advance(1, tasks=made, left_out=len(writer.left_out))

                tasks = await propose_tasks(
                    read, writer, lambda site: crawls.look(site, env, pool), env.kind_of, options, on_site
                )
            return tasks, writer.left_out

    with interruptible(_goes_on()):
        tasks, left_out = asyncio.run(work())
        if attempt and tasks:
            from webdojo.loops.build.attempt import attempt as attempt_all

            tasks = attempt_all(attempt, tasks, folder, left_out)
        report = finish(out, tasks, left_out, sites=len(read))
    _show(report, as_json)


def register(tasks_app: typer.Typer) -> None:
    """Add the commands to `webdojo tasks`."""
    tasks_app.command("build", cls=RecipeCommand)(build)
    tasks_app.command("propose", cls=RecipeCommand)(propose)


def _named(model: str, endpoint: str, overrides: list[str] | None) -> str:
    """The model that was named; Missing where nobody has named one."""
    if model or endpoint or any(each.startswith(("engine", "model")) for each in overrides or []):
        return model
    raise Missing("no model is named that writes the tasks: --endpoint URL --model NAME, or engine.… and model.… keys")


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
