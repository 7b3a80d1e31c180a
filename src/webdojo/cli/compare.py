"""`webdojo compare A B …`: which of several policies is better."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from webdojo.cli.app import AsJson, app


@app.command()
def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN RUN...", help="Folders of evaluations; the first is the baseline.")
    ],
    as_json: AsJson = False,
) -> None:
    """Compare evaluations of the same tasks, each with the first, by task: paired bootstrap and McNemar's test."""
    from webdojo.evaluation.comparison import compare as compared
    from webdojo.loops.runs import measured
    from webdojo.view.comparing import comparison_tables

    if len(runs) < 2:
        raise typer.BadParameter("name at least two: webdojo compare runs/eval-quickstart runs/eval-quickstart-2")
    policies = [measured(run) for run in runs]
    comparisons = [compared(policies[0], policy) for policy in policies[1:]]
    if as_json:
        rates = {policy.name: policy.rate.model_dump(mode="json") for policy in policies}
        found = {"policies": rates, "comparisons": [each.model_dump(mode="json") for each in comparisons]}
        typer.echo(json.dumps(found, indent=2))
        return
    for table in comparison_tables(policies, comparisons):
        Console().print(table)
