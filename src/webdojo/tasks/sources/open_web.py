"""What the benchmarks on the open web have in common: a row is one thing to do, on one site, and is kept whole.

Columns that a benchmark's loader does not read stand in `Task.metadata` under their own names, beside the dates in the
task's text that have passed (`tasks.dates`).
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field

from webdojo.tasks.dates import marks
from webdojo.types import Task


def _address(url: str) -> str:
    """The address as it is, or with https:// before a bare host."""
    whole = url if "://" in url else f"https://{url}"
    parts = urlsplit(whole)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no address of a web site")
    return whole


Address = Annotated[str, AfterValidator(_address)]
"""Where a task begins."""
Instruction = Annotated[str, Field(min_length=1)]
Level = Literal["easy", "medium", "hard"]

LEVELS: dict[Level, int] = {"easy": 1, "medium": 2, "hard": 3}
"""`Task.difficulty` of benchmarks that have three levels and no number of facts."""


class OpenWebRow(BaseModel, extra="allow"):
    """A row of a task file; columns that it does not name are kept."""

    def task(
        self,
        id: str,
        instruction: str,
        url: str,
        difficulty: int = 1,
        evaluator: dict[str, Any] | None = None,
        **metadata: Any,
    ) -> Task:
        """The task of this row, with `metadata` beside the columns that the row does not name."""
        return Task(
            id=id,
            instruction=instruction,
            start_url=url,
            website=urlsplit(url).hostname or "",
            difficulty=difficulty,
            evaluator=evaluator or {},
            metadata={**(self.model_extra or {}), **metadata, **marks(instruction, date.today())},
        )
