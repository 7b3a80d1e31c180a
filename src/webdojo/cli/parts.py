"""Parts of webdojo by themselves: `doctor`, `plugins`, `tiny train`, `sites serve`, `browser serve`."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from webdojo.cli.app import Overrides, app, group
from webdojo.cli.keys import RecipeCommand, recipe_for

if TYPE_CHECKING:
    from webdojo.plugins import Registry

tiny_app = group("tiny", "The tiny model that ships with webdojo.")
sites_app = group("sites", "The embedded web.")
browser_app = group("browser", "Browsers for other machines.")


@app.command()
def doctor() -> None:
    """Check this machine: Python, torch, Chromium, memory, disk."""
    from webdojo.doctor import examine, line

    console, failed = Console(), False
    for name, finding in examine():
        console.print(line(name, finding), soft_wrap=True)
        failed |= finding.status == "fail"
    raise typer.Exit(int(failed))


def plugs() -> dict[str, Registry[Any]]:
    """What may be named, by the key that names it: in a recipe, and last in a step of `webdojo tasks filter`."""
    from webdojo.envs.apps.registry import APPLICATIONS
    from webdojo.envs.task_sets import SOURCES
    from webdojo.loops.filtering.filters import FILTERS
    from webdojo.recipe import PLUGS
    from webdojo.sites.kinds import KINDS
    from webdojo.tasks.embeddings.registry import EMBEDDINGS
    from webdojo.tasks.samplers.registry import SAMPLERS
    from webdojo.trackers.registry import TRACKERS
    from webdojo.trainer.config import NAMED_PARTS

    named = {f"{section}.name": registry for section, (registry, _) in PLUGS.items()}
    named |= {"tasks.source": SOURCES, "tasks.sampler.name": SAMPLERS, "env.kinds": KINDS}
    named |= {"env.applications": APPLICATIONS, "tracking.report_to": TRACKERS}
    named |= {f"train.{key}": registry for key, registry in NAMED_PARTS.items()}
    return named | {"steps.name": FILTERS, "steps.embedding.name": EMBEDDINGS}


@app.command("plugins")
def list_plugins() -> None:
    """Show the environments, rewards, harnesses, engines, … that a recipe can name, and where each is from."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("key", "name", "from", "entry points"):
        table.add_column(heading, overflow="fold")
    for key, registry in plugs().items():
        for name, where in registry.listed().items():
            table.add_row(key, name, where, registry.group)
    Console().print(table)
    typer.echo("One of your own: ./file.py:Name or package.module:Name; see docs/plugs.md")


@tiny_app.command("train")
def tiny_train(
    out: Annotated[Path, typer.Option(help="Folder for screens, measurements and weights.")] = Path("runs/tiny"),
    seed: Annotated[int | None, typer.Option(help="Seed of weights, screens and questions.")] = None,
    init: Annotated[str | None, typer.Option(help="A tiny model to begin with; without one, from nothing.")] = None,
    screens: Annotated[int | None, typer.Option(min=1, help="Screens to render.")] = None,
    see_samples: Annotated[int | None, typer.Option(min=1, help="Screens for learning to see.")] = None,
    answer_samples: Annotated[int | None, typer.Option(min=1, help="Screens for learning to point and read.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; 1 on a GPU.")] = None,
) -> None:
    """Build a tiny model that reads sites of all kinds; hours on two cores."""
    from webdojo.tiny.train import TinyConfig, main

    sizes = {"screens": screens, "see_samples": see_samples, "answer_samples": answer_samples}
    given: dict[str, Any] = {"seed": seed, "init": init, "workers": workers, **sizes}
    main(out, TinyConfig(**{name: value for name, value in given.items() if value is not None}))
    typer.echo(f"weights: {out / 'model'}")


@sites_app.command("serve")
def serve_sites(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")] = 8000,
    layout: Annotated[
        str,
        typer.Option(help="auto; compact: large type, as small models see shops and wikis; or grid: so for all kinds."),
    ] = "auto",
    perturbations: Annotated[int, typer.Option(metavar="LEVEL", help="What goes wrong: 0 nothing, 3 most.")] = 0,
    perturbation_seed: Annotated[str, typer.Option(help="Another seed is other perturbations.")] = "",
) -> None:
    """Browse the embedded web by hand."""
    from webdojo.sites.perturbations.schedule import Perturbations
    from webdojo.sites.serving.index import addresses
    from webdojo.sites.serving.server import SiteServer

    with (
        SiteServer(port, Perturbations(perturbations, perturbation_seed), layout=layout) as server,
        contextlib.suppress(KeyboardInterrupt),
    ):
        typer.echo("Open in a browser (names that end in .localhost are this machine; any seed works):")
        for links in addresses(server.port).values():
            for link in links:
                typer.echo(f"  {link}")
        typer.echo(f"They are also listed at http://localhost:{server.port}/")
        typer.echo("Ctrl-C stops.")
        threading.Event().wait()


@browser_app.command("serve", cls=RecipeCommand)
def serve_browsers(
    overrides: Overrides = None,
    recipe_name: Annotated[
        str, typer.Option("--recipe", metavar="RECIPE", help="Its browser section counts; a name or a .yaml file.")
    ] = "openwebrl",
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8400,
    max_sessions: Annotated[int | None, typer.Option(help="Sessions at once: browser.serve.max_sessions.")] = None,
    idle_timeout_s: Annotated[
        float | None, typer.Option(help="Close sessions that nobody calls: browser.serve.idle_timeout_s.")
    ] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN=ADDRESS", help="Where hosts are served, past the guard; may be repeated."),
    ] = None,
) -> None:
    """Serve browser sessions over HTTP; the token is read from WEBDOJO_BROWSER_TOKEN."""
    import asyncio

    from webdojo.browser_service.server import read_hosts, serve
    from webdojo.browser_service.wire import token_from_environment

    options = {"max_sessions": max_sessions, "idle_timeout_s": idle_timeout_s}
    given = [f"browser.serve.{name}={value}" for name, value in options.items() if value is not None]
    config = recipe_for("browser serve", recipe_name, overrides, given).browser
    token = token_from_environment()

    def announce(url: str) -> None:
        access = "a token is required" if token else "open to programs of this machine"
        typer.echo(f"{url}  {config.serve.max_sessions} sessions, {access}; API page: {url}/docs")
        typer.echo("Ctrl-C lets open sessions finish and stops; a second one stops at once.")

    asyncio.run(serve(config, host=host, port=port, token=token, hosts=read_hosts(hosts or []), on_listening=announce))
