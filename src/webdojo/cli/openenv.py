"""`webdojo openenv serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from webdojo.cli.app import Overrides, group
from webdojo.cli.keys import RecipeCommand, recipe_for

openenv_app = group("openenv", "Environments for trainers that speak OpenEnv.")


@openenv_app.command("serve", cls=RecipeCommand)
def serve_openenv(
    overrides: Overrides = None,
    recipe_name: Annotated[
        str, typer.Option("--recipe", metavar="RECIPE", help="Its env, tasks, reward, browser and rollout count.")
    ] = "quickstart",
    env: Annotated[
        str | None,
        typer.Option(help="dojo, miniwob, web, webarena, or one of your own.", show_default="the recipe's"),
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="A file of tasks on sites that are there already: env.name=web tasks.path=…")
    ] = None,
    split: Annotated[Literal["train", "eval"], typer.Option(help="Which tasks.")] = "train",
    tasks: Annotated[int, typer.Option(min=1, help="At most so many tasks.")] = 100,
    view: Annotated[
        Literal["none", "accessibility_tree", "simplified_html"],
        typer.Option(help="The page as text, beside its screenshot."),
    ] = "none",
    run: Annotated[
        Path | None, typer.Option(help="Run folder that keeps the episodes.", show_default="they are not kept")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; OpenEnv has no tokens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    max_sessions: Annotated[int, typer.Option(min=1, help="Connections at once.")] = 16,
    idle_timeout_s: Annotated[float, typer.Option(min=0, help="End sessions that are silent; 0 never.")] = 600,
) -> None:
    """Serve tasks to OpenEnv clients; each connection is a session with a browser context of its own."""
    import asyncio

    from webdojo.errors import ConfigError
    from webdojo.interop.host import EpisodeHost
    from webdojo.recipe import load_recipe
    from webdojo.types import View

    given = [f"tasks.path={records}"] if records is not None else []
    named = env or ("web" if records is not None else "")
    # Another environment has none of the keys that the recipe sets for its own.
    other = [f"env={named}"] if named and named != load_recipe(recipe_name).env.name else []
    recipe = recipe_for("openenv serve", recipe_name, overrides, given, defaults=other)
    try:
        from webdojo.interop.openenv.server import serve
    except ModuleNotFoundError as error:
        raise ConfigError(str(error)) from None

    def announce(url: str) -> None:
        typer.echo(f"{url}  {max_sessions} sessions, {len(episodes.tasks)} tasks; API page: {url}/docs")
        typer.echo("Ctrl-C stops.")

    seen = None if view == "none" else View(kind=view)
    episodes = EpisodeHost(
        recipe, "openenv", run=run, split=split, tasks=tasks, view=seen, idle_timeout_s=idle_timeout_s
    )
    asyncio.run(
        serve(
            episodes,
            address=host,
            port=port,
            max_sessions=max_sessions,
            idle_timeout_s=idle_timeout_s,
            on_listening=announce,
        )
    )
