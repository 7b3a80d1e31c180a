"""WebVoyager (He et al. 2024): tasks on fifteen popular sites, such as `WebVoyager_data.jsonl` with 643 of them, or the
595 of a later selection whose dates were renewed.

The benchmark's `reference_answer.json` is not read: its judge (`reward/judges/webvoyager.py`) is not shown it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from webdojo.tasks.records import read_rows, unique
from webdojo.tasks.sources.open_web import Address, Instruction, OpenWebRow
from webdojo.types import Task


class _Row(OpenWebRow):
    id: str
    web_name: str
    ques: Instruction
    web: Address

    @property
    def as_task(self) -> Task:
        return self.task(f"webvoyager:{self.id}", self.ques, self.web, web_name=self.web_name)


def load(path: str | Path) -> Iterator[Task]:
    """The tasks of a file, in its order; a TaskError says what is wrong with it.

    `metadata["web_name"]` tells apart the three sites of Google, which have one host.
    """
    rows = read_rows(path, _Row, wrong=" is no WebVoyager task")
    return unique((row.as_task for row in rows), path)
