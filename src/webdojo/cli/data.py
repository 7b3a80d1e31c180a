"""`webdojo collect`, `curate`, `data export`, `data import` and `data rethink`: data sets of trajectories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webdojo.cli.app import AsJson, Endpoint, Overrides, RecipeName, app, group, interruptible
from webdojo.cli.keys import RecipeCommand, recipe_and_model, recipe_and_teacher
from webdojo.loops.collection import Format

if TYPE_CHECKING:
    from webdojo.loops.collection.dataset import Manifest

data_app = group("data", "Data sets of trajectories, for other trainers and back.")


@app.command(cls=RecipeCommand)
def collect(
    recipe_name: RecipeName,
    overrides: Overrides = None,
    model: Annotated[
        str,
        typer.Option(
            help="The teacher: a folder in Hugging Face layout, or a hub id; with --endpoint its name there.",
            show_default="as collect.teacher says",
        ),
    ] = "",
    endpoint: Endpoint = "",
    run: Annotated[
        Path | None, typer.Option(help="Folder of the data set.", show_default="runs/collect-RECIPE, …-2, …")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the collection in that folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a teacher do a recipe's training tasks, judge what it does, and keep it as a data set."""
    from webdojo.loops.run_folder import next_free, saved_recipe
    from webdojo.loops.start import collect as collect_episodes

    if resume and run is None:
        raise typer.BadParameter("--resume needs --run, the folder of the collection")
    recipe, given = recipe_and_teacher(recipe_name, overrides, model, endpoint)
    folder = run or next_free(Path("runs"), f"collect-{recipe.name}")
    if resume:
        recipe = saved_recipe(folder, recipe.name, given)
    with interruptible(f"; what was done is kept. Go on with the same command and: --run {folder} --resume"):
        manifest = collect_episodes(recipe, folder, resume)
    show(manifest, folder, as_json)


@app.command()
def curate(
    given: Annotated[
        list[str], typer.Argument(metavar="DATASET... [KEY=VALUE]...", help="Data sets, and keys such as curate.mix=…")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the new data set goes.")],
    as_json: AsJson = False,
) -> None:
    """Choose what of data sets is worth imitating, and say what was left out and why, with pictures."""
    from webdojo.loops.collection.curate import curate as curated
    from webdojo.loops.collection.curate import curation_recipe
    from webdojo.view.curating import write_curation

    datasets = [Path(each) for each in given if "=" not in each]
    if not datasets:
        raise typer.BadParameter("name at least one data set")
    recipe = curation_recipe(datasets, [each for each in given if "=" in each])
    with interruptible("; nothing was written"):
        report = curated(datasets, recipe, out)
    page = write_curation(report, out, out / "curation.html")
    if as_json:
        typer.echo(json.dumps({"path": str(out), **report.model_dump(mode="json")}, indent=2, ensure_ascii=False))
        return
    before, after = report.before, report.after
    of_tasks = f"of {after.tasks} of {before.tasks} tasks"
    typer.echo(f"{after.trajectories} of {before.trajectories} trajectories stay, {of_tasks}: {out}")
    for name, reason in report.dropped.items():
        typer.echo(f"left out: {reason.count} {name}, such as {reason.examples[0].id}: {reason.examples[0].why}")
    for name, reason in report.dropped_steps.items():
        typer.echo(f"steps not imitated: {reason.count} {name}")
    typer.echo(f"report: {page}")


@data_app.command("export")
def export_data(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of a data set.")],
    out: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to.")],
    form: Annotated[Format, typer.Option("--format", help="Who shall read it.")] = Format.trl,
) -> None:
    """Write a data set for another program, one row a step or one document a trajectory, with its screenshots."""
    from webdojo.loops.collection.exchange import export_dataset

    with interruptible("; nothing was written"):
        found = export_dataset(dataset, out, form)
    typer.echo(f"{found.pop('', 0)} trajectories in {out}")
    for reason, count in found.items():
        typer.echo(f"left out: {count} {reason}")


@data_app.command("import")
def import_data(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What `data export` has written.")],
    out: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of the new data set.")],
) -> None:
    """Make a data set of what was exported, without the rows that were taken out since."""
    from webdojo.loops.collection.exchange import import_dataset

    with interruptible("; nothing was written"):
        manifest = import_dataset(folder, out)
    show(manifest, out, as_json=False)


@data_app.command(cls=RecipeCommand)
def rethink(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of a data set.")],
    out: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the new data set.")],
    overrides: Overrides = None,
    endpoint: Endpoint = "",
    model: Annotated[
        str, typer.Option(help="The model that thinks: with --endpoint its name there; else a folder or a hub id.")
    ] = "",
) -> None:
    """Let a reasoning model say more of what the agent thought at each step (long-CoT augmentation)."""
    from webdojo.loops.collection.dataset import read_manifest
    from webdojo.loops.collection.rethink import rethink as rethought

    read_manifest(dataset)
    name = str(dataset / "recipe.yaml")
    recipe, path = recipe_and_model("data rethink", name, overrides, model, endpoint, migrate=True)
    recipe.engine.check_messages()
    with interruptible("; what was answered is kept. Go on with the same command"):
        report = rethought(dataset, recipe, path, out)
    typer.echo(f"{report['thoughts']} thoughts in {out}")
    for reason, found in report["left_out"].items():
        typer.echo(f"kept as they were: {found['count']}, {reason}, such as {found['samples'][0]}")


def show(manifest: Manifest, folder: Path, as_json: bool) -> None:
    """Print what a data set holds."""
    from webdojo.loops.collection.dataset import as_json as shown
    from webdojo.progress import plural

    if as_json:
        typer.echo(json.dumps({"path": str(folder), **shown(manifest)}, indent=2, ensure_ascii=False))
        return
    counts = manifest.counts
    typer.echo(
        f"{plural(counts.trajectories, 'episode')} of "
        f"{plural(counts.tasks, 'task')} in {folder}: {counts.successes} succeeded, "
        f"{plural(counts.steps, 'step')}, {plural(counts.response_tokens, 'token')} said"
    )
    if manifest.unfinished:
        first, why = next(iter(manifest.unfinished.items()))
        typer.echo(
            f"without a valid episode: {plural(len(manifest.unfinished), 'task')}, such as {first} ({why}); "
            f"`webdojo runs episodes {folder} --failed` says why, and --resume tries them again"
        )
