"""The application that commands are added to, and what they have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Train visual web agents by online reinforcement learning in real browsers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

RecipeName = Annotated[str, typer.Argument(metavar="RECIPE", help="Name of a recipe in the package, or a .yaml file.")]
Overrides = Annotated[
    list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Changes to the recipe, such as train.lr=1e-4.")
]
Endpoint = Annotated[
    str, typer.Option(metavar="URL", help="An OpenAI-compatible API, such as http://127.0.0.1:8500/v1.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print it for programs.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]


def group(name: str, help: str) -> typer.Typer:
    """Commands under a name of their own."""
    commands = typer.Typer(help=help, no_args_is_help=True)
    app.add_typer(commands, name=name)
    return commands


@contextmanager
def interruptible(then: str = "") -> Iterator[None]:
    """Let Ctrl-C in the block end the command, with a line that may say what `then` is left."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"\ninterrupted{then}", err=True)
        raise typer.Exit(INTERRUPTED) from None
