"""OpenWebVoyager's task queries (He et al. 2024, §3.3): WebVoyager's sites and Mind2Web's, in several files.

Rows name their site by `web_name`, or by Mind2Web's `domain`, `subdomain` and `website`; both are kept. This loader
follows the schema of the files in its repository and was never run on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from webdojo.tasks.records import read_rows, unique
from webdojo.tasks.sources.open_web import Address, Instruction, OpenWebRow
from webdojo.types import Task


class _Row(OpenWebRow):
    id: str
    ques: Instruction
    web: Address

    @property
    def as_task(self) -> Task:
        return self.task(f"openwebvoyager:{self.id}", self.ques, self.web)


def load(path: str | Path) -> Iterator[Task]:
    """The tasks of a file, in its order; a TaskError says what is wrong with it."""
    rows = read_rows(path, _Row, wrong=" is no OpenWebVoyager task")
    return unique((row.as_task for row in rows), path)
