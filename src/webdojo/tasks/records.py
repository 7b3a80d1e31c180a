"""Tasks from a JSON file, so that every way in which it can be wrong is one line that names the file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from webdojo.errors import TaskError
from webdojo.types import Task

Row = TypeVar("Row", bound=BaseModel)


def load(path: str | Path) -> list[Task]:
    """Our own `Task` records, as they stand in a JSON list, or in a `.jsonl` file with one a line."""
    return unique(read_rows(path, Task), path)


def unique(tasks: Iterable[Task], path: str | Path) -> list[Task]:
    """The tasks of a file in their order; a TaskError where two have the same id."""
    known: dict[str, Task] = {}
    for number, task in enumerate(tasks, 1):
        if task.id in known:
            raise TaskError(f"task {number} of {str(path)!r}: id {task.id!r} stands there already; ids must be unique")
        known[task.id] = task
    return list(known.values())


def read_rows(path: str | Path, row: type[Row], wrong: str = "") -> list[Row]:
    """The rows of a file: those of a JSON list, or, where the name ends in `.jsonl`, one a line.

    Raises TaskError; `wrong` is what it says of a row that is something else.
    """
    file = Path(path)
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"task file {str(path)!r} cannot be read: {error}") from None
    by_line = file.suffix == ".jsonl"
    values: list[Any] = []
    for line, value in enumerate(text.splitlines() if by_line else [text]):
        try:
            values += [json.loads(value)] if value.strip() or not by_line else []
        except json.JSONDecodeError as error:
            where = f"line {line + error.lineno}, column {error.colno}"
            raise TaskError(f"task file {str(path)!r} is not JSON: {error.msg} ({where})") from None
    rows = values if by_line else values[0]
    if not isinstance(rows, list):
        raise TaskError(f"task file {str(path)!r} must hold a list of tasks, but holds a {type(rows).__name__}")
    read = []
    for number, found in enumerate(rows, 1):
        if not isinstance(found, dict):
            raise TaskError(f"task {number} of {str(path)!r} must be an object, but is a {type(found).__name__}")
        try:
            read.append(row.model_validate(found))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            raise TaskError(f"task {number} of {str(path)!r}{wrong}: {field}: {first['msg'].lower()}") from None
    return read
