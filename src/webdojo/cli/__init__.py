"""`webdojo …`: one thin function a command.

Commands import what they need when they run, so that `webdojo --help` answers at once. A `WebdojoError` prints as one
red line on stderr (a `Missing` as one for each thing) with exit code 2, or 75 where a browser, an engine or a rank was
lost; Ctrl-C exits with 130, SIGTERM with 143.
"""

from __future__ import annotations

import logging
from typing import Annotated

import typer
from rich.console import Console
from rich.logging import RichHandler

# Each of these modules adds commands.
from webdojo.cli import (
    act,
    apps,
    compare,
    data,
    judge,
    launch,
    look,
    openenv,
    parts,
    push,
    record,
    runs,
    sweep,
    tasks,
    train,
)
from webdojo.cli.app import app
from webdojo.errors import WebdojoError
from webdojo.version import __version__

__all__ = [
    "act",
    "app",
    "apps",
    "compare",
    "data",
    "judge",
    "launch",
    "look",
    "main",
    "openenv",
    "parts",
    "push",
    "record",
    "runs",
    "sweep",
    "tasks",
    "train",
]


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
        console = Console(stderr=True)
        for line in error.lines:
            console.print(f"error: {line}", style="bold red", markup=False, highlight=False, soft_wrap=True)
        raise SystemExit(error.exit_code) from None
