"""Real web applications: `apps list`, `apps install`, `apps serve`, `apps export`."""

from __future__ import annotations

import json
import threading
from itertools import islice
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


@apps_app.command()
def export(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write them: a JSON list.")],
    seed: Annotated[int, typer.Option(help="Seed of the world, as for `serve`.", min=0)] = 0,
    n: Annotated[int, typer.Option(help="How many at most.", min=1)] = 200,
    folder: Folder = None,
) -> None:
    """Write questions about a world as tasks of WebArena, to be asked where `apps serve` serves it."""
    from webdojo.envs.apps.application import DEFAULT_FOLDER, Home
    from webdojo.envs.apps.env import Apps
    from webdojo.envs.apps.registry import APPLICATIONS
    from webdojo.envs.apps.webarena import rows
    from webdojo.store.files import write_atomic

    home = Home(APPLICATIONS.get(name)(), folder or DEFAULT_FOLDER)
    home.check()
    roles = sorted({template.role for template in home.application.templates.values()} - {""})
    logins = {role: file.with_name(f"{file.stem}-{role}.json") for role in roles}
    tasks = Apps(applications=[name]).of_world(seed)
    found = list(islice(rows(tasks, {role: str(login) for role, login in logins.items()}), n))
    needed = {row["storage_state"] for row in found}
    for role, login in logins.items():
        if str(login) in needed:
            state = home.storage_state(home.snapshot(seed), role, "127.0.0.1")
            write_atomic(login, json.dumps(state, indent=2).encode())
    write_atomic(file, json.dumps(found, indent=2, ensure_ascii=False).encode())
    site = f"__{home.application.name.upper()}__"
    typer.echo(f"{len(found)} tasks in {file}, on {site}: webdojo apps serve {name} --seed {seed} --port 8100")
