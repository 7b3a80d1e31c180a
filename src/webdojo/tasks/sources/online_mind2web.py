"""Online-Mind2Web (Xue et al. 2025): 300 tasks on popular sites, in three levels by the steps that people need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from webdojo.tasks.records import read_rows, unique
from webdojo.tasks.sources.open_web import LEVELS, Address, Instruction, Level, OpenWebRow
from webdojo.types import Task

PREFIX = "online_mind2web:"
"""What ids of tasks begin with, before the benchmark's own."""


class _Row(OpenWebRow):
    task_id: str
    confirmed_task: Instruction
    website: Address
    reference_length: int
    level: Level

    @property
    def as_task(self) -> Task:
        return self.task(
            f"{PREFIX}{self.task_id}",
            self.confirmed_task,
            self.website,
            LEVELS[self.level],
            level=self.level,
            reference_length=self.reference_length,
        )


def load(path: str | Path) -> Iterator[Task]:
    """The tasks of a file, in its order, with difficulty 1 to 3 for easy to hard; a TaskError says what is wrong with
    it.

    `metadata["reference_length"]` is the number of steps that a person took.
    """
    rows = read_rows(path, _Row, wrong=" is no Online-Mind2Web task")
    return unique((row.as_task for row in rows), path)
