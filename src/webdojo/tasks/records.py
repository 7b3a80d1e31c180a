"""Tasks from the rows of a file, so that every way in which it can be wrong is one line that names the file.

Everything is read one after another: a set of any size takes the memory of its ids.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator

from webdojo.errors import TaskError
from webdojo.tasks.files import AS_TEXT, SCHEMA_VERSION, rows_of
from webdojo.types import Task
from webdojo.version import __version__

Row = TypeVar("Row", bound=BaseModel)


class _Record(Task):
    """A `Task` as it stands in a file."""

    schema_version: int = Field(default=SCHEMA_VERSION, ge=1)

    @field_validator("schema_version")
    @classmethod
    def _known(cls, version: int) -> int:
        if version > SCHEMA_VERSION:
            raise ValueError(
                f"{version} is later than {SCHEMA_VERSION}, the latest that webdojo {__version__} reads: update webdojo"
            )
        return version

    @field_validator(*AS_TEXT, mode="before")
    @classmethod
    def _parsed(cls, value: Any) -> Any:
        try:
            return json.loads(value) if isinstance(value, str) else value
        except json.JSONDecodeError as error:
            raise ValueError(f"{value!r} is not JSON: {error.msg}") from None

    @property
    def as_task(self) -> Task:
        return Task.model_construct(**{name: getattr(self, name) for name in Task.model_fields})


def load(path: str | Path) -> Iterator[Task]:
    """Our own `Task` records, in any format of `tasks.files`; what else a set knows stands in their `metadata`.

    Raises TaskError for what is wrong with the file, and for a schema version that this webdojo does not know.
    """
    wrong = " is no task record (the rows of a benchmark need its source)"
    return unique((row.as_task for row in read_rows(path, _Record, wrong)), path)


def unique(tasks: Iterable[Task], path: str | Path) -> Iterator[Task]:
    """The tasks of a file in their order; a TaskError where two have the same id."""
    known: set[str] = set()
    for number, task in enumerate(tasks, 1):
        if task.id in known:
            raise TaskError(f"task {number} of {str(path)!r}: id {task.id!r} stands there already; ids must be unique")
        known.add(task.id)
        yield task


def read_rows(path: str | Path, row: type[Row], wrong: str = "") -> Iterator[Row]:
    """The rows of a file, one after another.

    Raises TaskError; `wrong` is what it says of a row that is something else.
    """
    for number, found in enumerate(rows_of(path), 1):
        if not isinstance(found, dict):
            raise TaskError(f"task {number} of {str(path)!r} must be an object, but is a {type(found).__name__}")
        try:
            read = row.model_validate(found)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            near = difflib.get_close_matches(field, row.model_fields, n=1) if first["type"] == "extra_forbidden" else []
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TaskError(f"task {number} of {str(path)!r}{wrong}: {field}: {first['msg'].lower()}{hint}") from None
        yield read
