"""`webdojo sweep FILE`: a recipe in several variants and seeds, and one table and one page of what came of them."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from webdojo.cli.app import AsJson, app, interruptible
from webdojo.errors import StoreError

_STOPPED = (128 + signal.SIGINT, 128 + signal.SIGTERM, -signal.SIGINT, -signal.SIGTERM)
"""Exit codes of a training that was asked to stop."""


@app.command()
def sweep(
    name: Annotated[
        str,
        typer.Argument(
            metavar="SWEEP", help="A .yaml file (recipe, seeds, grid, variants), or a name such as algorithms."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Folder of the runs.", show_default="runs/SWEEP")] = None,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Only the I-th of N shares of the runs, such as one of a cluster's jobs.")
    ] = "1/1",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the command of each run that is left.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train every variant of a sweep with every seed, and compare them. What is finished is not done again."""
    from webdojo.loops.sweeps.plan import check_finished, read_sweep, runs_of, sweep_file
    from webdojo.loops.sweeps.plan import shard as shared
    from webdojo.loops.sweeps.results import results
    from webdojo.loops.sweeps.warm_start import begin
    from webdojo.store.files import write_atomic
    from webdojo.view.sweeps import sweep_table, write_sweep

    file = sweep_file(name)
    read, folder = read_sweep(file), out or Path("runs") / file.stem
    runs = runs_of(read, folder)
    left = [run for run in shared(runs, shard) if not run.finished]
    check_finished(read, runs)
    commands = [["train", read.recipe, *run.overrides, "--run", str(run.folder)] for run in left]
    if dry_run:
        for run, command in zip(left, commands, strict=True):
            begins = f"  # --resume, in a copy of {run.starts_from}" if run.starts_from else ""
            typer.echo(f"{shlex.join(['webdojo', *command])}{begins}")
        return
    more = [*(["--out", str(out)] if out else []), *(["--shard", shard] if shard != "1/1" else [])]
    again, failed = shlex.join(["webdojo", "sweep", name, *more]), []
    with interruptible(f"; everything so far is kept. Go on with: {again}"):
        for number, (run, command) in enumerate(zip(left, commands, strict=True), start=1):
            typer.echo(f"run {number} of {len(left)}: {run.variant}, seed {run.seed}", err=True)
            try:
                begin(read, run)
            except StoreError as error:
                failed.append(str(error))
                continue
            if code := _train([*command, *(["--resume"] if run.begun else [])]):
                failed.append(f"exit code {code}: {shlex.join(['webdojo', *command])}")
    found = results(runs)
    folder.mkdir(parents=True, exist_ok=True)
    page = write_sweep(folder / "sweep.html", file.stem, runs, found)
    figures = json.dumps([each.model_dump(mode="json") for each in found], indent=1)
    write_atomic(folder / "sweep.json", f"{figures}\n".encode())
    if as_json:
        typer.echo(figures)
    else:
        Console().print(sweep_table(found))
        waiting = sum(not run.finished for run in runs)
        typer.echo(f"page: {page}{f' ({waiting} of {len(runs)} runs are not finished)' if waiting else ''}")
    for line in failed:
        typer.echo(line, err=True)
    if failed:
        raise typer.Exit(1)


def _train(command: list[str]) -> int:
    """One run in a process of its own, which is asked once to stop when this one is; its exit code."""
    from webdojo.cli.supervision.supervise import command as supervised

    # Its tables go to stderr, a terminal's Ctrl-C reaches it through this process alone, and it ends with this one.
    with subprocess.Popen(supervised(*command), stdin=subprocess.PIPE, stdout=2, start_new_session=True) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
    if code in _STOPPED:
        raise KeyboardInterrupt
    return code
