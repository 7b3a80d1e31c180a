"""The rubric of a task as WebGym's task sets have it: groups of facts that must all be verified."""

from __future__ import annotations

from dataclasses import dataclass

from webdojo.errors import TaskError
from webdojo.tasks.rubric import REFERENCE, RUBRIC
from webdojo.types import Task


@dataclass(frozen=True)
class Fact:
    """One fact of a rubric."""

    group: str
    """What the facts of its group are about; empty where the rubric has no groups."""
    text: str


def facts_of(task: Task) -> list[Fact]:
    """The facts that a task is judged by, in their order; without a rubric the instruction itself is the only one.

    Raises:
        TaskError: the rubric has another form, or an empty fact.
    """
    rubric = task.evaluator.get(RUBRIC) or []
    groups = [rubric] if isinstance(rubric, str) else rubric
    if not isinstance(groups, list):
        raise _wrong(task)
    facts = [fact for group in groups for fact in _facts(group, task)]
    if any(not fact.text.strip() for fact in facts):
        raise TaskError(f"task {task.id!r} has an empty fact in {RUBRIC}: leave it out")
    return facts or [Fact("", task.instruction)]


def reference_of(task: Task) -> str:
    """The reference answer; empty where there is none."""
    found = task.evaluator.get(REFERENCE)
    return "" if found is None else str(found).strip()


def _facts(group: object, task: Task) -> list[Fact]:
    if isinstance(group, str):
        return [Fact("", group)]
    if isinstance(group, dict):
        facts, description = group.get("facts"), group.get("description", "")
        if (
            isinstance(description, str)
            and isinstance(facts, list)
            and facts
            and all(isinstance(f, str) for f in facts)
        ):
            return [Fact(description, fact) for fact in facts]
    raise _wrong(task)


def _wrong(task: Task) -> TaskError:
    return TaskError(
        f"task {task.id!r} has {RUBRIC} = {task.evaluator[RUBRIC]!r}: it must be a text, a list of texts, or a list of "
        "objects with a description and a list of facts"
    )
