"""`webdojo view [RUN or folder of runs …]`: runs in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webdojo.cli.app import app


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
