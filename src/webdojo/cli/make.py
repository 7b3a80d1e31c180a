"""`webdojo tasks make` and `tiny train`: what makes files."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from webdojo.cli.app import app

tasks_app = typer.Typer(help="Task sets.", no_args_is_help=True)
tiny_app = typer.Typer(help="The tiny model that ships with webdojo.", no_args_is_help=True)
app.add_typer(tasks_app, name="tasks")
app.add_typer(tiny_app, name="tiny")


@tasks_app.command("make")
def make_tasks(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write them, one JSON object a line.")],
    split: Annotated[str, typer.Option(help="train, valid, test, test_phrasings or test_kinds.")] = "train",
    n: Annotated[int, typer.Option(min=1, help="How many.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    kind: Annotated[
        list[str] | None, typer.Option(help="Kind of site; may be given several times. All if absent.")
    ] = None,
    difficulty: Annotated[
        list[int] | None, typer.Option(min=1, help="Number of facts; may be given several times. All if absent.")
    ] = None,
) -> None:
    """Draw tasks of the embedded web into a file."""
    from webdojo.envs.task_sets import load_tasks
    from webdojo.progress import progress
    from webdojo.store.files import replacing

    tasks = iter(load_tasks(f"dojo:{split}", seed=seed, kinds=kind or (), difficulties=difficulty or ()))
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as file, progress("tasks", n) as bar:
        for task in islice(tasks, n):
            file.write(f"{task.model_dump_json(exclude_defaults=True)}\n".encode())
            bar.advance(1)
    typer.echo(f"{n} tasks in {out}")


@tiny_app.command("train")
def tiny_train(
    out: Annotated[Path, typer.Option(help="Folder for screens, measurements and weights.")] = Path("runs/tiny"),
    seed: Annotated[int | None, typer.Option(help="Seed of weights, screens and questions.")] = None,
    screens: Annotated[int | None, typer.Option(min=1, help="Screens to render.")] = None,
    see_samples: Annotated[int | None, typer.Option(min=1, help="Screens for learning to see.")] = None,
    answer_samples: Annotated[int | None, typer.Option(min=1, help="Screens for learning to point and read.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; 1 on a GPU.")] = None,
) -> None:
    """Build the tiny model from nothing, as the shipped one was built; hours on two cores."""
    from webdojo.tiny.train import TinyConfig, main

    given = {"seed": seed, "screens": screens, "see_samples": see_samples, "answer_samples": answer_samples}
    given["workers"] = workers
    main(out, TinyConfig(**{name: value for name, value in given.items() if value is not None}))
    typer.echo(f"weights: {out / 'model'}")
