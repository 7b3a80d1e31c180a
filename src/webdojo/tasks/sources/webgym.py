"""WebGym's task set (arXiv 2601.02439, §3): tasks with a rubric of facts, and as many facts as they are difficult.

This loader follows the documented schema of the data set and was never run on the real file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from webdojo.tasks.records import read_rows, unique
from webdojo.tasks.sources.open_web import Address, Instruction, OpenWebRow
from webdojo.types import Task


class _Group(BaseModel, extra="allow"):
    """Facts of a rubric that belong together."""

    description: str = ""
    facts: Annotated[list[str], Field(min_length=1)]


class _Row(OpenWebRow):
    task_id: str | int
    task_name: Instruction
    website: Address
    difficulty: int = Field(ge=1)
    evaluator_reference: str | list[str] | list[_Group] | None = None
    definite_answer: str | None = None

    @property
    def as_task(self) -> Task:
        rubric = self.model_dump(mode="json", include={"evaluator_reference", "definite_answer"})
        evaluator = {key: value for key, value in rubric.items() if value}
        return self.task(f"webgym:{self.task_id}", self.task_name, self.website, self.difficulty, evaluator)


def load(path: str | Path) -> Iterator[Task]:
    """The tasks of a file, in its order; a TaskError says what is wrong with it.

    Rubric and reference answer go to `Task.evaluator`, as the judge `webgym` reads them.
    """
    rows = read_rows(path, _Row, wrong=" is no WebGym task")
    return unique((row.as_task for row in rows), path)
