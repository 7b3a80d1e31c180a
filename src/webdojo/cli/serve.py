"""`webdojo sites serve` and `browser serve`: what runs until Ctrl-C."""

from __future__ import annotations

import contextlib
import threading
from typing import Annotated

import typer

from webdojo.cli.app import Overrides, app

sites_app = typer.Typer(help="The embedded web.", no_args_is_help=True)
browser_app = typer.Typer(help="Browsers for other machines.", no_args_is_help=True)
app.add_typer(sites_app, name="sites")
app.add_typer(browser_app, name="browser")


@sites_app.command("serve")
def serve_sites(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")] = 8000,
    perturbations: Annotated[int, typer.Option(metavar="LEVEL", help="What goes wrong: 0 nothing, 3 most.")] = 0,
    perturbation_seed: Annotated[str, typer.Option(help="Another seed is other perturbations.")] = "",
) -> None:
    """Browse the embedded web by hand."""
    from webdojo.sites import HELDOUT_SEED, host_of
    from webdojo.sites.kinds import KINDS
    from webdojo.sites.perturbations.schedule import Perturbations
    from webdojo.sites.serving.server import SiteServer

    with (
        SiteServer(port, Perturbations(perturbations, perturbation_seed)) as server,
        contextlib.suppress(KeyboardInterrupt),
    ):
        typer.echo("Open in a browser (names that end in .localhost are this machine; any seed works):")
        for kind in KINDS:
            for seed in (0, 1, 2, HELDOUT_SEED):
                typer.echo(f"  http://{host_of(kind, seed)}:{server.port}/")
        typer.echo("Ctrl-C stops.")
        threading.Event().wait()


@browser_app.command("serve")
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

    from webdojo.browser_service.access import token_from_environment
    from webdojo.browser_service.server import read_hosts, serve
    from webdojo.recipe import load_recipe

    options = {"max_sessions": max_sessions, "idle_timeout_s": idle_timeout_s}
    given = [f"browser.serve.{name}={value}" for name, value in options.items() if value is not None]
    config = load_recipe(recipe_name, [*(overrides or []), *given]).browser
    token = token_from_environment()

    def announce(url: str) -> None:
        access = "a token is required" if token else "open to programs of this machine"
        typer.echo(f"{url}  {config.serve.max_sessions} sessions, {access}; API page: {url}/docs")
        typer.echo("Ctrl-C lets open sessions finish and stops; a second one stops at once.")

    asyncio.run(serve(config, host=host, port=port, token=token, hosts=read_hosts(hosts or []), on_listening=announce))
