"""The application that commands are added to, and what they have in common."""

from __future__ import annotations

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
