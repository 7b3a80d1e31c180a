"""`webdojo runs …`: look at runs, export them, free their disk. All but `gc` also while a run goes on."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.filesize import decimal

from webdojo.cli.app import AsJson, RunFolder, group, interruptible
from webdojo.errors import StoreError, WebdojoError


class ExportFormat(StrEnum):
    messages = "messages"
    atif = "atif"
    playwright = "playwright"
    online_mind2web = "online_mind2web"


TRACEBACKS = 3
"""How many different tracebacks `runs episodes` shows."""

runs_app = group("runs", "Runs: what they are, what they hold.")


@runs_app.command("list")
def list_runs(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Folder that holds runs.")] = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Show the runs of a folder, newest first."""
    from webdojo.loops.runs import glance, runs_in
    from webdojo.view.tables import overview

    found = sorted(map(glance, runs_in(folder)), key=lambda run: run["created"], reverse=True)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    Console().print(overview(found))
    for run in found:
        if run["error"]:
            typer.echo(run["error"], err=True)


@runs_app.command()
def show(run: RunFolder, as_json: AsJson = False) -> None:
    """Show what a run is and how it went so far."""
    from webdojo.loops.runs import describe
    from webdojo.view.cycles import cycles_tables
    from webdojo.view.tables import sections

    described = describe(run)
    if as_json:
        typer.echo(json.dumps(described, indent=2))
        return
    for section in (*sections(described), *cycles_tables(described["cycles"])):
        Console().print(section)


@runs_app.command()
def episodes(
    run: RunFolder,
    failed: Annotated[bool, typer.Option("--failed", help="Only those that failed.")] = False,
    phase: Annotated[str, typer.Option(help="Such as rl or eval_rl.", show_default="all")] = "",
    iteration: Annotated[int | None, typer.Option(min=0, help="Of online training alone.", show_default="all")] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Show the last N.")] = 30,
    as_json: AsJson = False,
) -> None:
    """List episodes with why they ended as they did, and count failures by reason."""
    from webdojo.loops.failures import chosen_rows, failures_by_reason, listed, short_names, tracebacks
    from webdojo.progress import plural
    from webdojo.store.run import RunStore
    from webdojo.view.tables import episode_list, reasons

    with RunStore.open(run, readonly=True) as store:
        names = short_names([row.id for row in store.rows()])
        rows = chosen_rows(store, phase, iteration, failed)
        found = [listed(row, store.trajectory(row.id), names[row.id]) for row in rows]
    by_reason = failures_by_reason(found)
    if as_json:
        typer.echo(json.dumps({"episodes": found, "failures": by_reason}, indent=2))
        return
    if not found:
        typer.echo(f"{run} has no such episodes" if names else f"no episode of {run} has ended yet")
        return
    Console().print(episode_list(found[-limit:], len(found)))
    if by_reason:
        Console().print(reasons(by_reason))
    for raised in tracebacks(found)[:TRACEBACKS]:
        typer.echo(f"raised in {plural(raised['episodes'], 'episode')}:\n{raised['traceback']}")
        typer.echo(f"the whole traceback: webdojo runs film {run} {raised['example']}\n")
    if by_reason:
        agents = {each["name"] for each in found if each["valid"]}
        examples = sorted((each["example"] for each in by_reason), key=lambda example: example not in agents)
        typer.echo(f"See one step by step: webdojo runs film {run} {examples[0]}")


@runs_app.command()
def film(
    run: RunFolder,
    episodes: Annotated[
        list[str], typer.Argument(metavar="EPISODE...", help="Its id, or the end of that (`runs episodes`).")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to.", show_default="RUN/films/EPISODE.html")
    ] = None,
) -> None:
    """Print episodes step by step, and write them as one page with their screenshots."""
    from webdojo.loops.failures import find_episode, shortened, why
    from webdojo.redact import redact
    from webdojo.store.run import RunStore
    from webdojo.view.film import write_trajectories
    from webdojo.view.tables import ending_text, turn_text

    with RunStore.open(run, readonly=True) as store:
        found = [store.trajectory(find_episode(store, episode)) for episode in episodes]
        if lost := [each.id for each in found if not store.has_screenshots(each)]:
            raise StoreError(f"screenshots of episode {lost[0]!r} are missing in {run}, so it has no film")
        name = re.sub(r"[^a-zA-Z0-9.-]+", "_", episodes[0] if len(found) == 1 else f"{len(found)}-episodes")
        target = out or run / "films" / f"{name}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_trajectories(found, store.images, target)
    for shown in (redact(each, each.secrets) for each in found):
        typer.echo(f"{shown.task.instruction}\n")
        for step, turn in enumerate(shown.turns, start=1):
            typer.echo(turn_text(step, turn))
        typer.echo(f"\n{ending_text(shown, why(shown))}")
        if shown.traceback:
            typer.echo(f"{shortened(shown.traceback)}\nthe whole traceback is in the film")
    typer.echo(f"film: {target}")


@runs_app.command()
def export(
    run: RunFolder,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Where to; images/ goes beside it.", show_default="RUN/trajectories.jsonl, RUN/FORMAT"
        ),
    ] = None,
    phase: Annotated[
        list[str] | None, typer.Option(help="Such as rl, demo or eval_rl; may be given several times. All if absent.")
    ] = None,
    form: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="`atif`: a folder with a document of Harbor's format each. `playwright`: a folder with a trace each, "
            "for `playwright show-trace`. `online_mind2web`: the run's evaluation, for that leaderboard.",
        ),
    ] = ExportFormat.messages,
) -> None:
    """Write trajectories as JSON lines: messages in OpenAI's form, screenshots as files, rewards."""
    from webdojo.loops.collection import atif, playwright_trace
    from webdojo.loops.export import export as export_trajectories
    from webdojo.loops.results import online_mind2web
    from webdojo.progress import progress
    from webdojo.store.run import RunStore

    of_an_evaluation = form is ExportFormat.online_mind2web
    if phase and of_an_evaluation:
        raise typer.BadParameter(f"--format {form} takes the run's evaluation: leave out --phase")
    target = out or run / ("trajectories.jsonl" if form is ExportFormat.messages else form)
    with interruptible("; nothing was written"), RunStore.open(run, readonly=True) as store:
        total = sum(number for name, number in store.count().items() if not phase or name in phase)
        with progress("trajectories", None if of_an_evaluation else total) as bar:
            if of_an_evaluation:
                counts = online_mind2web.export(store, target, bar.advance)
            else:
                write = {
                    ExportFormat.messages: export_trajectories,
                    ExportFormat.atif: atif.export_run,
                    ExportFormat.playwright: playwright_trace.export_run,
                }[form]
                counts = write(store, target, phase or [], bar.advance)
    left_out = "".join(f"; left out {number} {reason}" for reason, number in counts.items() if reason)
    typer.echo(f"{counts['']} {'trajectory' if counts[''] == 1 else 'trajectories'} in {target}{left_out}")


@runs_app.command()
def pull(
    url: Annotated[str, typer.Argument(metavar="URL", help="The copy of a run: its storage_path and its name.")],
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="The folder to make.", show_default="runs/NAME")
    ] = None,
) -> None:
    """Make a run folder from the copy of a run on object storage, to go on with it by `--resume`."""
    import yaml

    from webdojo.store.run import RunStore
    from webdojo.store.storage import pull as pull_run

    folder = run or Path("runs") / url.rstrip("/").rpartition("/")[2]
    with interruptible(f"; delete {folder} and call it again"):
        pull_run(url, folder)
    with RunStore.open(folder, readonly=True) as store:
        name = yaml.safe_load(store.recipe_yaml)["name"]
    typer.echo(f"{folder} (go on: webdojo train {name} --run {folder} --resume)")


@runs_app.command()
def trace(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option(help="File to write; packed if it ends in .gz.", show_default="RUN/trace.json")
    ] = None,
    iterations: Annotated[str, typer.Option(metavar="FIRST-LAST", help="Of online training alone.")] = "",
) -> None:
    """Draw when the loop and every episode slot did what, for chrome://tracing and Perfetto."""
    from webdojo.progress import plural
    from webdojo.store.run import RunStore
    from webdojo.view.trace import parse_iterations, write_trace

    chosen = parse_iterations(iterations) if iterations else None
    file = out or run / "trace.json"
    with RunStore.open(run, readonly=True) as store:
        drawn = write_trace(store, file, chosen)
    if drawn.unclocked:
        left_out = plural(drawn.unclocked, "episode")
        typer.echo(f"not drawn, because they were stored without the time of day: {left_out}", err=True)
    typer.echo(f"trace: {file} (open it in https://ui.perfetto.dev or chrome://tracing)")


@runs_app.command()
def gc(
    folder: Annotated[Path, typer.Argument(metavar="RUN|FOLDER", help="Run folder, or one that holds runs.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what could go, and delete nothing.")] = False,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Checkpoints of online training that stay, the latest and the best among them.",
            show_default="the recipe's train.save_total_limit",
        ),
    ] = None,
) -> None:
    """Delete what nothing needs: screenshots of no trajectory, half-written files, surplus checkpoints."""
    from webdojo.loops.keep import bytes_on_disk, garbage, remove
    from webdojo.loops.runs import runs_in
    from webdojo.store.lock import locked
    from webdojo.store.run import RunStore
    from webdojo.view.tables import freed

    paths = runs_in(folder)
    total = 0
    with interruptible("; call it again for the rest"):
        for path in paths:
            try:
                with locked(path), RunStore.open(path, readonly=True) as store:
                    found = garbage(store, keep)
                    sizes = {kind: sum(map(bytes_on_disk, parts)) for kind, parts in found.items()}
                    if any(found.values()):
                        Console().print(freed(path, found, sizes))
                    if not dry_run:
                        remove(store, found)
                    total += sum(sizes.values())
            except WebdojoError as error:
                if paths == [folder]:
                    raise
                typer.echo(f"left alone: {error}", err=True)
    typer.echo(f"{decimal(total)} {'can be freed' if dry_run else 'freed'}")
