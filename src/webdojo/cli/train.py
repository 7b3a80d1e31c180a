"""`webdojo train`, `eval`, `explain` and `report`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from webdojo.cli.app import AsJson, Endpoint, Overrides, RecipeName, RunFolder, app, interruptible
from webdojo.cli.keys import RecipeCommand, measured_by, recipe_and_model, recipe_for
from webdojo.errors import Missing, StoreFailure
from webdojo.world import world

if TYPE_CHECKING:
    from webdojo.recipe import Recipe


Cores = Annotated[
    int, typer.Option(min=0, metavar="N", help="With --dry-run: cores to plan with.", show_default="all here")
]
Full = Annotated[bool, typer.Option("--full", help="With --dry-run: keys at their default too.")]


@app.command(cls=RecipeCommand)
def train(
    recipe_name: RecipeName,
    overrides: Overrides = None,
    run: Annotated[Path | None, typer.Option(help="Run folder.", show_default="runs/RECIPE")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in that folder.")] = False,
    auto: Annotated[
        bool, typer.Option("--auto", help="Resume the newest unfinished run, else start runs/RECIPE, -2, -3, …")
    ] = False,
    max_restarts: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Resume a training that dies, N times in a row without progress."),
    ] = 0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what it costs and what the recipe sets, and stop.")
    ] = False,
    cores: Cores = 0,
    full: Full = False,
) -> None:
    """Train an agent: warm start, online RL, evaluation. Under torchrun all its processes are the learner's ranks."""
    from webdojo.loops.run_folder import resume_or_next, saved_recipe
    from webdojo.recipe import load_recipe

    if auto and (run is not None or resume):
        raise typer.BadParameter("--auto picks the folder itself: leave out --run and --resume")
    if (started := world()) is not None:
        overrides = [f"train.ranks={started.count}", *(overrides or [])]
    recipe = load_recipe(recipe_name, overrides)
    if auto:
        folder, resume = resume_or_next(Path("runs"), recipe.name)
    else:
        folder = run or Path("runs") / recipe.name
    if resume:
        recipe = saved_recipe(folder, recipe.name, overrides or [])
    if dry_run:
        from webdojo.dry_run.judging import answer_lines
        from webdojo.loops.models import estimates

        told = [*_missing(recipe, trains=True, demonstrates=not resume), *answer_lines(recipe)]
        lines = [*told, *([""] if told else []), *estimates(recipe, cores)]
        if recipe.cluster.address:
            from webdojo.cluster.launch.job import Asked, place

            lines += ["", "placement on the fewest nodes of one size:", *place(recipe, Asked())[0].lines()]
        _print_plan(recipe, lines, full)
        return

    if max_restarts:
        from webdojo.cli.supervision.supervise import command, supervise

        to = [*(overrides or []), "--run", str(folder)]
        first = command("train", recipe_name, *to, *(["--resume"] if resume else []))
        # The run's own copy: the file that it came from may change meanwhile.
        then = command("train", str(folder / "recipe.yaml"), *to, "--resume")
        raise typer.Exit(supervise(first, then, folder, max_restarts))

    from webdojo.cluster.connect import connected
    from webdojo.loops.start import train as train_recipe
    from webdojo.store.run import RunStore
    from webdojo.view.cycles import cycles_tables
    from webdojo.view.report import write_report
    from webdojo.view.tables import success_table, time_table

    again = shlex.join(["webdojo", "train", recipe_name, "--run", str(folder), "--resume"])
    with interruptible(f"; everything so far is kept. Go on with: {again}"):
        try:
            result = train_recipe(recipe, folder, resume, connected, write_report)
        except StoreFailure as error:
            raise StoreFailure(f"{error}. Everything stored before is kept. Then go on with: {again}") from None
    Console().print(success_table(result))
    for table in cycles_tables(result.get("cycles", [])):
        Console().print(table)
    with RunStore.open(folder, readonly=True) as store:
        iterations = store.metrics("rl")
    if iterations:
        Console().print(time_table(iterations))
    report(folder)


@app.command("eval", cls=RecipeCommand)
def evaluate(
    recipe_name: RecipeName,
    model: Annotated[
        str,
        typer.Option(
            help="`tiny`, a folder in Hugging Face layout, a hub id, or the address of an API that serves one model; "
            "with --endpoint its name there."
        ),
    ],
    overrides: Overrides = None,
    endpoint: Endpoint = "",
    judge: Annotated[
        str, typer.Option(metavar="NAME", help="Another reward, or a recipe whose reward section it is.")
    ] = "",
    protocol: Annotated[
        str, typer.Option(metavar="NAME", help="Another recipe, by which the tasks of this one are measured.")
    ] = "",
    runs: Annotated[int | None, typer.Option(min=1, metavar="K", help="Episodes of each task: evaluate.runs.")] = None,
    run: Annotated[
        Path | None, typer.Option(help="Run folder.", show_default="runs/eval-RECIPE, runs/eval-RECIPE-2, …")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the evaluation in that folder.")] = False,
    as_json: AsJson = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what is measured and what it costs, and stop; nothing is asked.")
    ] = False,
    cores: Cores = 0,
    full: Full = False,
) -> None:
    """Measure a model on a recipe's held-out tasks, and keep its episodes in a run folder."""
    from webdojo.loops.run_folder import next_free, saved_file
    from webdojo.recipe import load_recipe
    from webdojo.view.evaluating import evaluation_lines
    from webdojo.view.report import write_report
    from webdojo.view.tables import success_table

    if resume and run is None:
        raise typer.BadParameter("--resume needs --run, the folder of the evaluation")
    recipe_name, overrides = measured_by(recipe_name, overrides, protocol, judge, runs)
    if resume and run is not None:
        recipe_name = saved_file(run, load_recipe(recipe_name).name)
    recipe, path = recipe_and_model("eval", recipe_name, overrides, model, endpoint, migrate=resume, asks=not dry_run)
    if dry_run:
        from webdojo.dry_run.cost import heldout_tasks
        from webdojo.dry_run.requests import measuring
        from webdojo.loops.models import estimates

        told = _missing(recipe, trains=False, demonstrates=False)
        measured = f"{heldout_tasks(recipe)} tasks of {recipe.tasks.eval_path or recipe.tasks.path or recipe.env.name}"
        each = f"{recipe.evaluate.runs} episode{'s' * (recipe.evaluate.runs > 1)} each"
        told.append(f"{recipe.engine.serves(path)} on {measured}, {each}, judged by {recipe.reward_function.name}")
        _print_plan(recipe, [*told, "", *estimates(measuring(recipe, path), cores)], full)
        return
    from webdojo.cluster.connect import connected
    from webdojo.loops.start import evaluate_model

    folder = run or next_free(Path("runs"), f"eval-{recipe.name}")
    with interruptible(f"; what was measured so far is kept. Go on with the same command and: --run {folder} --resume"):
        result = evaluate_model(recipe, path, folder, resume, connected, write_report)
    page = _write_report(folder)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
        return
    Console().print(success_table(result))
    for line in evaluation_lines(result):
        typer.echo(line)
    if result["success_eval"]["invalid"]:
        typer.echo(f"why each was invalid: webdojo runs episodes {folder} --failed")
    typer.echo(f"report: {page}")


@app.command(cls=RecipeCommand)
def explain(recipe_name: RecipeName, overrides: Overrides = None) -> None:
    """Print what a recipe minimises, as formulas with its numbers."""
    from webdojo.trainer.explain import explain as explained

    recipe = recipe_for("explain", recipe_name, overrides)
    typer.echo(explained(recipe.train, recipe.rollout))


@app.command()
def report(run: RunFolder) -> None:
    """Write RUN/report.html again from what the run has stored so far."""
    typer.echo(f"report: {_write_report(run)}")


def _missing(recipe: Recipe, *, trains: bool, demonstrates: bool) -> list[str]:
    """What the user has to bring yet, which a plan does not need, in lines of text."""
    try:
        recipe.check(trains=trains, demonstrates=demonstrates)
    except Missing as error:
        return [*(f"missing: {thing}" for thing in error.things), error.otherwise]
    return []


def _print_plan(recipe: Recipe, lines: list[str], full: bool) -> None:
    """Print estimates and recipe; the first as comments, so that the whole is a recipe file."""
    from webdojo.recipe import dump_changes, dump_recipe

    typer.echo("\n".join(f"# {line}".rstrip() for line in lines))
    head = "the recipe" if full else "the recipe, but for keys at their default (--full prints them too)"
    typer.echo(f"#\n# {head}\n{dump_recipe(recipe) if full else dump_changes(recipe)}", nl=False)


def _write_report(run: Path) -> Path:
    from webdojo.store.run import RunStore
    from webdojo.view.report import write_report

    with RunStore.open(run, readonly=True) as store:
        return write_report(store, run / "report.html")
