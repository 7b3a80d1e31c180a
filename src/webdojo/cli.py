"""`webdojo …`: one thin function a command.

Commands import what they need when they run, so that `webdojo --help` answers at once. A
`WebdojoError` prints as one red line on stderr with exit code 2, or 75 where a browser, an engine or a
rank was lost and another try may come further; Ctrl-C exits with 130, and says how to resume where
there is something to resume.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shlex
import sys
import threading
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.logging import RichHandler

from webdojo import __version__
from webdojo.cli_runs import INTERRUPTED, runs_app
from webdojo.errors import StoreFailure, WebdojoError

app = typer.Typer(
    help="Train visual web agents by online reinforcement learning in real browsers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
sites_app = typer.Typer(help="The embedded web.", no_args_is_help=True)
tasks_app = typer.Typer(help="Task sets.", no_args_is_help=True)
tiny_app = typer.Typer(help="The tiny model that ships with webdojo.", no_args_is_help=True)
browser_app = typer.Typer(help="Browsers for other machines.", no_args_is_help=True)
app.add_typer(sites_app, name="sites")
app.add_typer(browser_app, name="browser")
app.add_typer(tasks_app, name="tasks")
app.add_typer(tiny_app, name="tiny")
app.add_typer(runs_app, name="runs")

RecipeName = Annotated[str, typer.Argument(metavar="RECIPE", help="Name of a recipe in the package, or a .yaml file.")]
Overrides = Annotated[
    list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Changes to the recipe, such as train.lr=1e-4.")
]


@app.command()
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
        bool, typer.Option("--dry-run", help="Print the resolved recipe, its cost and its memory, and stop.")
    ] = False,
) -> None:
    """Train an agent: warm start, online RL, evaluation."""
    from webdojo.dry_run.cost import describe
    from webdojo.loops.checks import check_recipe
    from webdojo.loops.run_folder import resume_or_next, saved_recipe
    from webdojo.recipe import dump_recipe, load_recipe

    if auto and (run is not None or resume):
        raise typer.BadParameter("--auto picks the folder itself: leave out --run and --resume")
    recipe = load_recipe(recipe_name, overrides)
    if auto:
        folder, resume = resume_or_next(Path("runs"), recipe.name)
    else:
        folder = run or Path("runs") / recipe.name
    if resume:
        recipe = saved_recipe(folder, recipe.name, overrides or [])
    if dry_run:
        check_recipe(recipe, trains=True, demonstrates=not resume)
        from webdojo.loops.models import memory_estimate

        # The estimates are comments, so that what is printed is a recipe file.
        lines = [*describe(recipe).splitlines(), "", *memory_estimate(recipe)]
        typer.echo(dump_recipe(recipe) + "\n" + "\n".join(f"# {line}".rstrip() for line in lines))
        return

    if max_restarts:
        from webdojo.supervise import command, supervise

        to = [*(overrides or []), "--run", str(folder)]
        first = command("train", recipe_name, *to, *(["--resume"] if resume else []))
        # The run's own copy: the file that it came from may change meanwhile.
        then = command("train", str(folder / "recipe.yaml"), *to, "--resume")
        raise typer.Exit(supervise(first, then, folder, max_restarts))

    from webdojo.loops.pipeline import train as train_recipe
    from webdojo.store.run import RunStore
    from webdojo.view.summary import summary
    from webdojo.view.times import time_table

    typer.echo(f"{'resuming' if resume else 'starting'} {recipe.name} in {folder}", err=True)
    again = shlex.join(["webdojo", "train", recipe_name, "--run", str(folder), "--resume"])
    try:
        result = train_recipe(recipe, folder, resume)
    except StoreFailure as error:
        raise StoreFailure(f"{error}. Everything stored before is kept. Then go on with: {again}") from None
    except KeyboardInterrupt:
        typer.echo(f"\ninterrupted; everything so far is kept. Go on with: {again}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    Console().print(summary(result))
    with RunStore.open(folder, readonly=True) as store:
        iterations = store.metrics("rl")
    if iterations:
        Console().print(time_table(iterations))
    report(folder)


@app.command("eval")
def evaluate(
    recipe_name: RecipeName,
    model: Annotated[str, typer.Option(help="`tiny`, a folder in Hugging Face layout, or a hub id.")],
    overrides: Overrides = None,
) -> None:
    """Measure a model on a recipe's held-out tasks; prints the result as JSON."""
    from webdojo.recipe import load_recipe

    recipe = load_recipe(recipe_name, overrides)

    from webdojo.loops.pipeline import evaluate_model

    typer.echo(json.dumps(evaluate_model(recipe, model), indent=2))


@app.command()
def act(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What to do, in a sentence.")],
    url: Annotated[str, typer.Option(help="Where to start; embedded sites (http://shop-0.localhost/) too.")],
    overrides: Overrides = None,
    model: Annotated[
        str, typer.Option(help="`tiny`, a folder in Hugging Face layout, or a hub id; with --endpoint its name there.")
    ] = "",
    endpoint: Annotated[
        str, typer.Option(metavar="URL", help="An OpenAI-compatible API, such as http://127.0.0.1:8500/v1.")
    ] = "",
    harness: Annotated[str, typer.Option(help="harness.name: how the agent sees and speaks.")] = "",
    recipe_name: Annotated[
        str,
        typer.Option(
            "--recipe",
            metavar="RECIPE",
            help="Of the model: a name or a .yaml file.",
            show_default="that of the model's run; else quickstart for tiny, openwebrl for others",
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

    from webdojo.loops.act import act as act_out
    from webdojo.loops.act import recipe_of, task_at
    from webdojo.loops.run_folder import next_free
    from webdojo.recipe import load_recipe
    from webdojo.store.images import ImageStore
    from webdojo.types import Turn
    from webdojo.view.page import write_trajectory
    from webdojo.view.summary import told

    given = list(overrides or [])
    if endpoint:
        given += ["engine.name=chat", f"engine.base_url={json.dumps(endpoint)}"]
        given += [f"engine.model={json.dumps(model)}"] if model else []
    if harness:
        given.append(f"harness.name={json.dumps(harness)}")
    if headful:
        given.append("browser.headless=false")
    loaded = "tiny" if endpoint else model or "tiny"
    recipe = load_recipe(recipe_name or recipe_of("" if endpoint else loaded), given, migrate=not recipe_name)
    wanted = task_at(recipe.env, task, url)
    folder = run or next_free(Path("runs"), "act")
    steps = 0

    def tell(turn: Turn) -> None:
        nonlocal steps
        steps += 1
        typer.echo(told(steps, turn))

    try:
        acted = asyncio.run(act_out(wanted, recipe, loaded, folder, tell))
    except KeyboardInterrupt:
        typer.echo("\ninterrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if acted.trajectory is None:
        typer.echo("\ninterrupted before the first step", err=True)
        raise typer.Exit(INTERRUPTED)
    film = write_trajectory(acted.trajectory, ImageStore(folder / "images"), folder / "trajectory.html")
    answer = f": {acted.trajectory.answer}" if acted.trajectory.answer else ""
    typer.echo(f"{acted.trajectory.termination.value.replace('_', ' ')}{answer}")
    typer.echo(f"film: {film}")
    if show and sys.stdout.isatty() and not acted.interrupted:
        typer.launch(str(film))
    if acted.interrupted:
        raise typer.Exit(INTERRUPTED)
    if acted.trajectory.error:
        raise WebdojoError(acted.trajectory.error)


@app.command("serve")
def serve_model(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="`tiny`, a folder in Hugging Face layout, or a hub id.")
    ],
    overrides: Overrides = None,
    recipe_name: Annotated[
        str, typer.Option("--recipe", metavar="RECIPE", help="Its model section counts; a name or a .yaml file.")
    ] = "openwebrl",
    name: Annotated[
        str, typer.Option(help="What clients call the model.", show_default="the folder's name, or the hub id")
    ] = "",
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8500,
) -> None:
    """Serve a model behind OpenAI's chat completions; the token is read from WEBDOJO_SERVE_TOKEN."""
    import asyncio

    from webdojo.browser.access import token_from_environment
    from webdojo.browser.listen import require_token
    from webdojo.loops.serving import open_service
    from webdojo.policy.serve.app import TOKEN_VARIABLE
    from webdojo.policy.serve.run import serve as serve_chat
    from webdojo.recipe import load_recipe

    recipe = load_recipe(recipe_name, overrides)
    token = token_from_environment(TOKEN_VARIABLE)
    require_token(host, token, TOKEN_VARIABLE)
    with open_service(recipe, model, name) as service:

        def announce(url: str) -> None:
            access = f"the key is that of {TOKEN_VARIABLE}" if token else "open to programs of this machine"
            typer.echo(f"{url}  model {service.name}, {access}")
            typer.echo("Ctrl-C stops.")

        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve_chat(service, host=host, port=port, token=token, on_listening=announce))


@app.command()
def explain(recipe_name: RecipeName, overrides: Overrides = None) -> None:
    """Print what a recipe minimises, as formulas with its numbers."""
    from webdojo.recipe import load_recipe
    from webdojo.train.explain import explain as explained

    recipe = load_recipe(recipe_name, overrides)
    typer.echo(explained(recipe.train, recipe.rollout))


@app.command()
def report(run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]) -> None:
    """Write RUN/report.html again from what the run has stored so far."""
    from webdojo.store.run import RunStore
    from webdojo.view.report import write_report

    with RunStore.open(run, readonly=True) as store:
        write_report(store, run / "report.html")
    typer.echo(f"report: {run / 'report.html'}")


@app.command()
def doctor() -> None:
    """Check this machine: Python, torch, Chromium, memory, disk."""
    from webdojo.doctor import examine, table

    checks = examine()
    Console().print(table(checks))
    raise typer.Exit(int(any(check.failed for check in checks)))


@sites_app.command("serve")
def serve_sites(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")] = 8000,
    weather: Annotated[int, typer.Option(metavar="LEVEL", help="What goes wrong: 0 nothing, 3 most.")] = 0,
    weather_seed: Annotated[str, typer.Option(help="Another seed is other weather.")] = "",
) -> None:
    """Browse the embedded web by hand."""
    from webdojo.sites import HELDOUT_SEED, KINDS, host_of
    from webdojo.sites.server import SiteServer
    from webdojo.sites.weather.forecast import Weather

    with SiteServer(port, Weather(weather, weather_seed)) as server, contextlib.suppress(KeyboardInterrupt):
        typer.echo("Open in a browser (names that end in .localhost are this machine; any seed works):")
        for kind in KINDS:
            for seed in (0, 1, 2, HELDOUT_SEED):
                typer.echo(f"  http://{host_of(kind, seed)}:{server.port}/")
        typer.echo("Ctrl-C stops.")
        threading.Event().wait()


@tasks_app.command("make")
def make_tasks(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write them, one JSON object a line.")],
    split: Annotated[str, typer.Option(help="train, valid, test, test_phrasings or test_kinds.")] = "train",
    n: Annotated[int, typer.Option(min=1, help="How many.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    kind: Annotated[
        list[str] | None, typer.Option(help="Kind of site; may be given several times. All if absent.")
    ] = None,
    difficulty: Annotated[
        list[int] | None, typer.Option(min=1, help="Number of facts; may be given several times. All if absent.")
    ] = None,
) -> None:
    """Draw tasks of the embedded web into a file."""
    from webdojo.envs.task_sets import load_tasks
    from webdojo.progress import progress
    from webdojo.store.files import replacing

    tasks = iter(load_tasks(f"dojo:{split}", seed=seed, kinds=kind or (), difficulties=difficulty or ()))
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as file, progress("tasks", n) as bar:
        for task in islice(tasks, n):
            file.write(f"{task.model_dump_json(exclude_defaults=True)}\n".encode())
            bar.advance(1)
    typer.echo(f"{n} tasks in {out}")


@browser_app.command("serve")
def serve_browsers(
    overrides: Overrides = None,
    recipe_name: Annotated[
        str, typer.Option("--recipe", metavar="RECIPE", help="Its browser section counts; a name or a .yaml file.")
    ] = "openwebrl",
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8400,
    max_sessions: Annotated[int | None, typer.Option(help="Sessions at once: browser.serve.max_sessions.")] = None,
    idle_timeout_s: Annotated[
        float | None, typer.Option(help="Close sessions that nobody calls: browser.serve.idle_timeout_s.")
    ] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN=ADDRESS", help="Where hosts are served, past the guard; may be repeated."),
    ] = None,
) -> None:
    """Serve browser sessions over HTTP; the token is read from WEBDOJO_BROWSER_TOKEN."""
    import asyncio

    from webdojo.browser.access import token_from_environment
    from webdojo.browser.serve import read_hosts, serve
    from webdojo.recipe import load_recipe

    options = {"max_sessions": max_sessions, "idle_timeout_s": idle_timeout_s}
    given = [f"browser.serve.{name}={value}" for name, value in options.items() if value is not None]
    config = load_recipe(recipe_name, [*(overrides or []), *given]).browser
    token = token_from_environment()

    def announce(url: str) -> None:
        access = "a token is required" if token else "open to programs of this machine"
        typer.echo(f"{url}  {config.serve.max_sessions} sessions, {access}; API page: {url}/docs")
        typer.echo("Ctrl-C lets open sessions finish and stops; a second one stops at once.")

    asyncio.run(serve(config, host=host, port=port, token=token, hosts=read_hosts(hosts or []), on_listening=announce))


@tiny_app.command("train")
def tiny_train(
    out: Annotated[Path, typer.Option(help="Folder for screens, measurements and weights.")] = Path("runs/tiny"),
    seed: Annotated[int | None, typer.Option(help="Seed of weights, screens and questions.")] = None,
    screens: Annotated[int | None, typer.Option(min=1, help="Screens to render.")] = None,
    see_samples: Annotated[int | None, typer.Option(min=1, help="Screens for learning to see.")] = None,
    answer_samples: Annotated[int | None, typer.Option(min=1, help="Screens for learning to point and read.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; 1 on a GPU.")] = None,
) -> None:
    """Build the tiny model from nothing, as the shipped one was built; hours on two cores."""
    from webdojo.policy.tiny.train import Course, main

    given = {"seed": seed, "screens": screens, "see_samples": see_samples, "answer_samples": answer_samples}
    given["workers"] = workers
    main(out, Course(**{name: value for name, value in given.items() if value is not None}))
    typer.echo(f"weights: {out / 'model'}")


def _show_version(show: bool) -> None:
    if show:
        typer.echo(f"webdojo {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    console = Console(stderr=True)
    handler = RichHandler(console=console, show_path=False) if console.is_terminal else logging.StreamHandler()
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[handler])
    logging.getLogger("webdojo").setLevel(logging.INFO)


def main() -> None:
    """The console script."""
    try:
        app()
    except WebdojoError as error:
        message = " ".join(str(error).split())
        Console(stderr=True).print(f"error: {message}", style="bold red", markup=False, highlight=False, soft_wrap=True)
        raise SystemExit(error.exit_code) from None


if __name__ == "__main__":
    main()
