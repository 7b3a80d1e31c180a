"""Looking at runs: `webdojo view` in a browser, `webdojo analyze` by the papers' questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from webdojo.cli.app import AsJson, app, interruptible


@app.command()
def view(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN|FOLDER]...",
            help="Run folders, also of runs under way, or folders that hold runs.",
            show_default="runs",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8600,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
) -> None:
    """Look at runs in a browser: dashboards, trajectories, attempts side by side."""
    import webbrowser

    from webdojo.view.server.serve import serve

    def announce(address: str) -> None:
        typer.echo(f"{address}\nCtrl-C stops.")
        if open_browser:
            webbrowser.open(address)

    serve(folders or [Path("runs")], host, port, announce)


@app.command()
def analyze(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders, also of runs under way.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write tables as Parquet, plots as SVG and PNG, and one page here."),
    ] = None,
    question: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Such as lengths or errors; may be given several times. All if absent."),
    ] = None,
    phase: Annotated[
        list[str] | None, typer.Option(help="Such as rl or eval_rl; may be given several times. All if absent.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Answer the papers' questions: lengths, what agents write, repeated screens, errors, success by site and limit."""
    from webdojo.loops.analysis.analyze import analyze as analyzed
    from webdojo.loops.analysis.analyze import chosen, number_of_episodes
    from webdojo.loops.analysis.parquet import arrow
    from webdojo.progress import progress
    from webdojo.view.analyzing import analysis_json, analysis_texts, write_analysis
    from webdojo.view.plots import library

    questions = chosen(question or [])
    if out is not None:
        arrow()
        library()
    total = number_of_episodes(runs, phase or [])
    with interruptible("; nothing was written"), progress("trajectories", total, stays=False) as bar:
        tables = analyzed(runs, phase or [], questions, bar.advance)
    if as_json:
        typer.echo(json.dumps(analysis_json(tables), indent=2))
    else:
        for each in analysis_texts(tables):
            Console().print(each)
    if out is not None:
        page = write_analysis(out, ", ".join(run.resolve().name for run in runs), tables)
        typer.echo(f"page: {page}", err=as_json)
