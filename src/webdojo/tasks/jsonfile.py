"""Reading a JSON file of rows, so that every way in which it can be wrong is one line that names the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from webdojo.errors import TaskError


def read_rows(path: str | Path) -> list[dict[str, Any]]:
    """The objects of a file: a JSON list of them, or, where the name ends in `.jsonl`, one a line.

    Raises:
        TaskError: no such file, not JSON, or something in it is no object.
    """
    file = Path(path)
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"task file {str(path)!r} cannot be read: {error}") from None
    try:
        if file.suffix == ".jsonl":
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            rows = json.loads(text)
    except json.JSONDecodeError as error:
        raise TaskError(f"task file {str(path)!r} is not JSON: {error}") from None
    if not isinstance(rows, list):
        raise TaskError(f"task file {str(path)!r} must hold a list of tasks, but holds a {type(rows).__name__}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise TaskError(f"task {number} of {str(path)!r} must be an object, but is a {type(row).__name__}")
    return rows
