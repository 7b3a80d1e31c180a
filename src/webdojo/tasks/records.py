"""Our own `Task` records from a file; ids are unique in it."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from webdojo.errors import TaskError
from webdojo.tasks.jsonfile import read_rows
from webdojo.types import Task


def load(path: str | Path) -> list[Task]:
    """Tasks as they stand in a JSON list, or in a `.jsonl` file with one a line.

    Raises:
        TaskError: a file that cannot be read, a row that is no task, or an id that stands there twice.
    """
    tasks: dict[str, Task] = {}
    for number, row in enumerate(read_rows(path), 1):
        try:
            task = Task.model_validate(row)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise TaskError(f"task {number} of {str(path)!r}: {field}: {first['msg'].lower()}") from None
        if task.id in tasks:
            raise TaskError(f"task {number} of {str(path)!r}: id {task.id!r} stands there already; ids must be unique")
        tasks[task.id] = task
    return list(tasks.values())
