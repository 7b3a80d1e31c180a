"""What people say of episodes, to hold a judge against: a file of JSON lines with `id` and `success`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from webdojo.errors import ConfigError


def read_labels(file: Path) -> dict[str, bool]:
    """Whether each episode succeeded, by its id.

    `success` is true or false, 1 or 0; other keys are passed over, so a file of `webdojo runs export` is one.

    Raises:
        ConfigError: the file cannot be read, or a line is no label, or contradicts another one.
    """
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--labels {file} cannot be read ({error}): name a file of JSON lines") from None
    labels: dict[str, bool] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            id, success = _label(line, f"line {number} of {file}")
            if labels.setdefault(id, success) != success:
                raise ConfigError(f"line {number} of {file} contradicts an earlier one about {id!r}: keep one of them")
    return labels


def _label(line: str, where: str) -> tuple[str, bool]:
    try:
        row: Any = json.loads(line)
    except ValueError:
        row = None
    if not (isinstance(row, dict) and isinstance(row.get("id"), str) and row.get("success") in (0, 1)):
        raise ConfigError(f'{where} is no label: write {{"id": "604cc0296ffd-0", "success": true}} for an episode')
    return row["id"], bool(row["success"])
