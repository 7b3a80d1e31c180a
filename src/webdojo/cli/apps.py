"""Real web applications: `apps list`, `apps install`, `apps serve`."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated

import typer

from webdojo.cli.app import group, interruptible

apps_app = group("apps", "Real web applications, installed from package registries.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="An application of `webdojo apps list`, or your own.")]
Folder = Annotated[
    Path | None, typer.Option(help="Where applications are installed; ~/.cache/webdojo/apps where not given.")
]


@apps_app.command("list")
def list_applications(folder: Folder = None) -> None:
    """Show the applications, and which of them are installed."""
    from webdojo.envs.apps.application import DEFAULT_FOLDER, Home
    from webdojo.envs.apps.registry import APPLICATIONS

    for name in APPLICATIONS:
        application = APPLICATIONS.get(name)()
        installed = Home(application, folder or DEFAULT_FOLDER).is_installed
        needs = f"; needs, as root: {application.apt}" if application.lacking else ""
        typer.echo(f"{name}: {application.about} ({'installed' if installed else f'not installed{needs}'})")


@apps_app.command()
def install(name: Name, folder: Folder = None) -> None:
    """Install an application, with fixed versions, into an environment of its own."""
    from webdojo.envs.apps.application import DEFAULT_FOLDER, Home
    from webdojo.envs.apps.registry import APPLICATIONS

    Home(APPLICATIONS.get(name)(), folder or DEFAULT_FOLDER).install(lambda line: typer.echo(line, err=True))


@apps_app.command()
def serve(
    name: Name,
    seed: Annotated[int, typer.Option(help="Seed of the world to serve.", min=0)] = 0,
    port: Annotated[int, typer.Option(help="Port of 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 0,
    folder: Folder = None,
) -> None:
    """Serve a fresh copy of an application to browse by hand, until Ctrl-C; what is changed there is lost."""
    from webdojo.envs.apps.application import DEFAULT_FOLDER, Home
    from webdojo.envs.apps.registry import APPLICATIONS
    from webdojo.envs.apps.serving import Front

    application = APPLICATIONS.get(name)()
    home = Home(application, folder or DEFAULT_FOLDER)
    home.check()
    with interruptible(), Front(port) as front:
        front.open("by-hand", home, seed)
        front.browsed = "by-hand"
        hint = application.sign_in(seed)
        typer.echo(f"http://{front.address}/ has {application.about}{hint and '; '}{hint}")
        threading.Event().wait()
