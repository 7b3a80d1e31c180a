"""`webdojo doctor` and `plugins`: what there is on this machine."""

from __future__ import annotations

import typer
from rich.console import Console

from webdojo.cli.app import app


@app.command()
def doctor() -> None:
    """Check this machine: Python, torch, Chromium, memory, disk."""
    from webdojo.doctor import examine, table

    findings = examine()
    Console().print(table(findings))
    raise typer.Exit(int(any(finding.status == "fail" for finding in findings.values())))


@app.command("plugins")
def list_plugins() -> None:
    """Show the environments, rewards, harnesses, engines, … that a recipe can name, and where each is from."""
    from rich import box
    from rich.table import Table

    from webdojo.envs.task_sets import SOURCES
    from webdojo.recipe import PLUGS
    from webdojo.sites.kinds import KINDS
    from webdojo.trainer.config import NAMED_PARTS

    table = Table("recipe key", "name", "from", "entry points", box=box.SIMPLE_HEAD)
    named = {f"{section}.name": registry for section, (registry, _) in PLUGS.items()}
    named |= {"tasks.source": SOURCES, "env.kinds": KINDS}
    named |= {f"train.{key}": registry for key, registry in NAMED_PARTS.items()}
    for key, registry in named.items():
        for name, where in registry.listed():
            table.add_row(key, name, where, registry.group)
    Console().print(table)
    typer.echo("One of your own: ./file.py:Name or package.module:Name; see docs/your-own.md")
