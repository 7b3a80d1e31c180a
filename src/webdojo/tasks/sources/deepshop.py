"""DeepShop (Lyu et al. 2025): 150 queries to a shop, each made of attributes, filters and a sort order.

The parts of a query go to `Task.evaluator`, where the judge `deepshop` asks about them (`reward.variant=original`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from webdojo.tasks.records import read_rows, unique
from webdojo.tasks.sources.open_web import LEVELS, Address, Instruction, Level, OpenWebRow
from webdojo.types import Task


class _Row(OpenWebRow):
    id: str
    ques: Instruction
    web: Address
    attribute: str
    filter: str
    sort: str
    """A part that the query does not have is the text `None`."""
    difficulty: Level

    @property
    def as_task(self) -> Task:
        parts = {"attribute": self.attribute, "filter": self.filter, "sort": self.sort}
        level = self.difficulty
        return self.task(f"deepshop:{self.id}", self.ques, self.web, LEVELS[level], parts, level=level)


def load(path: str | Path) -> Iterator[Task]:
    """The tasks of a file, in its order, with difficulty 1 to 3 for easy to hard; a TaskError says what is wrong with
    it."""
    rows = read_rows(path, _Row, wrong=" is no DeepShop task")
    return unique((row.as_task for row in rows), path)
