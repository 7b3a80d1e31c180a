"""The rubric of a task: groups of facts that must all hold, as WebGym's task sets have it (arXiv 2601.02439, §3.2).

A task has as much difficulty as its rubric has facts. A rubric stands in `Task.evaluator`, under the key
`evaluator_reference`, where the judge `webgym` reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, Field, StrictInt, StringConstraints, ValidationError, model_validator

from webdojo.errors import TaskError
from webdojo.types import Task

RUBRIC = "evaluator_reference"
"""The key of `Task.evaluator`: a text, a list of texts, or a list of `{id, description, facts: [...]}`."""
REFERENCE = "definite_answer"
"""The key of `Task.evaluator` with a reference answer, if the task has one."""
MOST_GROUPS = 10
"""A rubric of n groups may have 2^n - 2 parts, so that larger ones are refused. The paper names no limit."""

Line = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1)]
"""A text that says something."""


def same(text: str) -> str:
    """What two texts have in common that differ in white space or capitals alone."""
    return " ".join(text.split()).casefold()


class Group(BaseModel, frozen=True):
    """Facts that belong together."""

    id: Annotated[StrictInt, Field(ge=1)]
    description: Annotated[str, StringConstraints(strict=True, strip_whitespace=True)] = ""
    facts: Annotated[list[Line], Field(min_length=1)]


class Rubric(BaseModel, frozen=True):
    """Groups of facts; no id and no fact stands there twice."""

    groups: Annotated[list[Group], Field(min_length=1, max_length=MOST_GROUPS)]

    @model_validator(mode="after")
    def _nothing_twice(self) -> Rubric:
        found = [f"group id {group.id}" for group in self.groups] + [f"fact {same(fact)!r}" for fact in self.facts]
        if twice := next((each for each, count in Counter(found).items() if count > 1), ""):
            raise ValueError(f"{twice} stands there twice")
        return self

    @property
    def facts(self) -> list[str]:
        return [fact for group in self.groups for fact in group.facts]

    @property
    def difficulty(self) -> int:
        """The total number of facts (§3.2)."""
        return len(self.facts)


class ProposedRubric(BaseModel, frozen=True):
    """A rubric as a model answers with it (E.5): `{"fact_groups": [...], "difficulty": 7}`.

    The model counts its facts itself, so that an answer which lost some of them on the way shows.
    """

    fact_groups: list[Group]
    difficulty: StrictInt

    @model_validator(mode="after")
    def _whole(self) -> ProposedRubric:
        if (found := self.rubric.difficulty) != self.difficulty:
            raise ValueError(f"there are {found} facts, and difficulty is {self.difficulty}")
        return self

    @property
    def rubric(self) -> Rubric:
        return Rubric(groups=self.fact_groups)


def rubric_of(task: Task) -> Rubric | None:
    """The rubric that a task has already; None: it has none. Groups are numbered from 1, and texts without groups are
    one.

    Raises:
        TaskError: what stands there is no rubric.
    """
    given = task.evaluator.get(RUBRIC)
    if not given:
        return None
    groups = [given] if isinstance(given, str) else given
    if isinstance(groups, list) and all(isinstance(each, str) for each in groups):
        groups = [{"id": 1, "facts": groups}]
    elif isinstance(groups, list):
        groups = [each | {"id": number} if isinstance(each, dict) else each for number, each in enumerate(groups, 1)]
    try:
        return Rubric.model_validate({"groups": groups})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"][1:]))
        raise TaskError(
            f"task {task.id!r} has no rubric in {RUBRIC}: {f'{where}: ' * bool(where)}"
            f"{first['msg'].removeprefix('Value error, ').lower()}"
        ) from None


def as_evaluator(groups: Iterable[Group]) -> list[dict[str, object]]:
    """Groups as they stand in `Task.evaluator`."""
    return [group.model_dump() for group in groups]


def with_rubric(task: Task, rubric: Rubric) -> Task:
    """The task with this rubric and its difficulty."""
    evaluator = task.evaluator | {RUBRIC: as_evaluator(rubric.groups)}
    return task.model_copy(update={"evaluator": evaluator, "difficulty": rubric.difficulty})
