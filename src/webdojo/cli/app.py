"""The application that commands are added to, and what they have in common."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

app = typer.Typer(
    help="Train visual web agents by online reinforcement learning in real browsers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

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


class Interruption:
    """What a command was asked to end by: Ctrl-C, unless it was SIGTERM."""

    def __init__(self) -> None:
        self.signal = signal.SIGINT

    @property
    def exit_code(self) -> int:
        """As a shell gives it."""
        return 128 + self.signal

    @property
    def name(self) -> str:
        return "terminated" if self.signal is signal.SIGTERM else "interrupted"

    def terminate(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGTERM as what runs now handles Ctrl-C."""
        self.signal = signal.SIGTERM
        as_ctrl_c = signal.getsignal(signal.SIGINT)
        (as_ctrl_c if callable(as_ctrl_c) else signal.default_int_handler)(signal.SIGINT, frame)


@contextmanager
def _handled_by_asyncio() -> Iterator[None]:
    """Let asyncio handle Ctrl-C also where it is ignored, as in the background of a shell's script: there it is blocked
    instead, and SIGTERM handled in its place.

    asyncio cancels what runs. An exception that a handler raises is lost where it comes while an object is deleted.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def interruptible(then: str = "") -> Iterator[Interruption]:
    """Let Ctrl-C or SIGTERM in the block end the command, with a line that may say what `then` is left."""
    interruption = Interruption()
    before = signal.signal(signal.SIGTERM, interruption.terminate)
    try:
        with _handled_by_asyncio():
            yield interruption
    except KeyboardInterrupt:
        typer.echo(f"\n{interruption.name}{then}", err=True)
        raise typer.Exit(interruption.exit_code) from None
    finally:
        signal.signal(signal.SIGTERM, before)
