"""The files of a set that is being built: `tasks.jsonl`, and beside it `tasks.build/` with what it was built from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from webdojo.errors import StoreError
from webdojo.loops.construction.writer import ACCOUNT, LeftOut
from webdojo.policy.chat.ledger import totals_in
from webdojo.store.files import replacing, write_atomic, writing
from webdojo.tasks.decompose import PARENT
from webdojo.types import Task

REPORT = "report.json"


def open_folder(out: Path) -> Path:
    """The folder beside a set, made where it is not there.

    Raises:
        StoreError: `out` is a file that was not built here.
    """
    folder = out.with_suffix(".build")
    if out.exists() and not folder.is_dir():
        raise StoreError(f"{out} is there already, and no set that was built here: name another --out")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_tasks(path: Path, tasks: Sequence[Task]) -> None:
    """Tasks as JSON, one a line, in one visible step."""
    with writing(path), replacing(path) as file:
        for task in tasks:
            file.write(f"{task.model_dump_json(exclude_defaults=True)}\n".encode())


def finish(out: Path, tasks: Sequence[Task], left_out: LeftOut, **counts: int) -> dict[str, Any]:
    """Write a set and its report, and return the report.

    It has `counts`, `tasks`, `parts` (those that were decomposed from others), `by_difficulty`, `left_out` by reason,
    and `asked`: what the model was asked and paid for, in all calls of the command together.
    """
    folder = out.with_suffix(".build")
    asked = totals_in(folder / ACCOUNT)
    report = {
        "out": str(out),
        **counts,
        "tasks": len(tasks),
        "parts": sum(PARENT in task.metadata for task in tasks),
        "websites": len({task.website for task in tasks}),
        "by_difficulty": dict(sorted(Counter(task.difficulty for task in tasks).items())),
        "left_out": left_out.report(),
        "asked": None if asked is None else asked._asdict(),
    }
    write_tasks(out, tasks)
    write_atomic(folder / REPORT, f"{json.dumps(report, indent=2, ensure_ascii=False)}\n".encode())
    return report
