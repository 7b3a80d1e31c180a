"""`webdojo tasks filter`: from a raw task set to one to train on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webdojo.cli.app import AsJson, interruptible
from webdojo.cli.tasks.sets import tasks_app

if TYPE_CHECKING:
    from webdojo.loops.filtering.pipeline import StepReport


@tasks_app.command("filter")
def filter_tasks(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="A .yaml file: path, source, steps.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the set goes: .jsonl, .parquet, or a folder.")],
    as_json: AsJson = False,
) -> None:
    """Drop tasks step by step, and say what each step dropped, why, and examples."""
    from webdojo.loops.filtering.pipeline import read_pipeline, run_pipeline
    from webdojo.tasks.files import write_tasks

    read = read_pipeline(pipeline)
    work, dropped = out.with_name(f"{out.name}.work"), out.with_name(f"{out.name}.dropped.jsonl")
    with interruptible("; what is done is kept. Go on with the same command"):
        found = run_pipeline(read, work)
    write_tasks(found.tasks, out)
    dropped.write_text("".join(f"{each.model_dump_json()}\n" for each in found.dropped))
    shutil.rmtree(work)
    if as_json:
        steps = [step.model_dump(mode="json") for step in found.steps]
        typer.echo(json.dumps({"tasks": len(found.tasks), "steps": steps}, indent=2, ensure_ascii=False))
        return
    _show(found.steps)
    typer.echo(f"{len(found.tasks)} tasks in {out}; what was dropped, and why: {dropped}")


def _show(steps: Sequence[StepReport]) -> None:
    for step in steps:
        reasons = ", ".join(f"{reason} {count}" for reason, count in step.reasons.items())
        typer.echo(f"{step.step}: {step.before} -> {step.after}{f' ({reasons})' if reasons else ''}")
        for sample in step.samples:
            typer.echo(f"    {sample.id}  {sample.instruction[:70]!r}  {sample.reason}")
