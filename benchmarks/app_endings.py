"""Endings of tasks of applications that are wrong in ways an agent may try: what a verdict must never accept.

They were designed from what `docs/apps.md` says of tasks and verdicts, by somebody who had not read the checks. Most
are made from what right episodes left behind (`tampering.py`), and some are played in the browser (`app_plans.py`).

| sort | what is wrong |
|---|---|
| `spoiled` | the task was done, and one record more was changed |
| `wrong_answer` | all is right but the answer |
| `unseen` | all is right, but what the task asks to find was never on a page |
| `other_plan` | another task was done |
| `wrong_record` | the change was made to another record, with another value, or not at all |

An ending that happens to be right is left out: one that changed nothing more than the task asks for, that repeats what
may be done often, such as saving a page, or that showed the record of the task, too.
"""

from __future__ import annotations

import html
import random
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adversary import adversarial_answers, asks_for_answer, right_answer, same_answer
from app_plans import asks_to_look, echoed, mixed, plan_of, same_goal, siblings, spoiled, subjects
from app_visits import Episode, Left
from tampering import Edit, Records, Table, edits, records, tables_of, tamperings

from webdojo.envs.apps.application import DATABASE
from webdojo.types import Task

RECORDS = 4
"""Untouched records of each task that are edited, deleted and copied."""
ANSWERS = 25
OTHERS = 12
"""Wrong answers, and other tasks, that each episode is tried with."""
_SORTS = {
    "wrong_value": "wrong_record", "wrong_record": "wrong_record", "undone": "wrong_record", "mixed": "wrong_record",
    "echoed_in_search": "unseen", "echoed_in_address": "unseen",
}  # fmt: skip
"""Of the ways of `tampering.py` and `app_plans.py`; the others spoil a record."""
_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d{10}")
"""Begins what differs between two episodes that do the same, and is no noise of the application."""


@dataclass(frozen=True)
class Tried:
    """One wrong ending, and whether it was accepted."""

    sort: str
    way: str
    task: Task
    about: str
    accepted: bool


def sort_of(way: str) -> str:
    return _SORTS.get(way, "spoiled")


class Databases:
    """What episodes did to the database of one application."""

    def __init__(self, noise: Collection[str]) -> None:
        self._noise = noise
        self._before: dict[Path, tuple[Sequence[Table], Records]] = {}

    def of(self, left: Left) -> tuple[Sequence[Table], Records, Records]:
        """Its tables that count, and their records before and after."""
        before, after = left.databases
        if before not in self._before:
            tables = tables_of(before, self._noise)
            self._before[before] = tables, records(before, tables)
        tables, old = self._before[before]
        return tables, old, records(after, tables)

    def edits(self, left: Left) -> list[Edit]:
        tables, before, after = self.of(left)
        return edits(before, after, tables)

    def same(self, left: Left, other: Left) -> bool:
        """Whether two episodes in one world changed the same, but for times."""

        def signs(these: Left) -> list[tuple[Any, ...]]:
            found = []
            for edit in self.edits(these):
                row = edit.after or {}
                values = {column: row.get(column) for column in edit.columns}
                plain = {column: value for column, value in values.items() if not _TIME.match(str(value))}
                found.append((edit.table.name, edit.kind, edit.rowid, repr(sorted(plain.items()))))
            return found

        return signs(left) == signs(other)


def made(done: Sequence[Episode], pool: Sequence[Task], databases: Databases, rng: random.Random) -> Iterator[Tried]:
    """Wrong endings that are made from episodes which did their tasks."""
    for episode in done:
        task, left = episode.task, episode.left
        assert left is not None and episode.answer is not None
        often = [pattern["table"] for pattern in task.evaluator["allowed"] if pattern.get("many")]
        for way, about, ending in _tampered(task, left, databases, rng):
            if way == "twice" and about.split()[0] in often:
                continue
            yield Tried(sort_of(way), way, task, about, ending.verdict(task, episode.answer).success)
        if asks_for_answer(task):
            for answer in _wrong_answers(task, pool, rng):
                yield Tried("wrong_answer", "answer", task, answer[:200], left.verdict(task, answer).success)
        if asks_to_look(task):
            blind = left.having_shown([]).verdict(task, episode.answer)
            yield Tried("unseen", "no_page", task, "", blind.success)
        others = [other for other in pool if other.website == task.website and not same_goal(task, other)]
        for other in rng.sample(others, min(len(others), OTHERS)):
            if not _ends_alike(task, other, pool):
                accepted = left.verdict(other, episode.answer).success
                yield Tried("other_plan", "own_answer", other, task.id, accepted)
            if asks_for_answer(other) and _never_seen(other, left, pool):
                accepted = left.verdict(other, right_answer(other)).success
                yield Tried("unseen", "other_pages", other, task.id, accepted)


def _tampered(task: Task, left: Left, databases: Databases, rng: random.Random) -> Iterator[tuple[str, str, Left]]:
    """Way, what was done, and what is left, for each tampering that the database allows."""
    tables, before, after = databases.of(left)
    with TemporaryDirectory() as folder:
        for each in tamperings(task, before, after, tables, rng, RECORDS):
            copy = Path(folder) / DATABASE
            shutil.copy(left.databases[1], copy)
            if each.apply(copy):
                yield each.way, each.about, replace(left, folder=Path(folder))


def _wrong_answers(task: Task, pool: Sequence[Task], rng: random.Random) -> list[str]:
    """Answers that are wrong for any task, and those of others of its template."""
    answers = adversarial_answers(task, rng)
    its = {right_answer(other) for other in siblings(task, pool)}
    its = {answer for answer in its if not same_answer(answer, right_answer(task))}
    near = rng.sample(sorted(its), min(len(its), 5))
    return [*near, *rng.sample(answers, min(len(answers), ANSWERS - len(near)))]


def _ends_alike(task: Task, other: Task, pool: Sequence[Task]) -> bool:
    """Whether whoever does one of two tasks has done the other, too: they ask for the same of the same record."""
    changes = [[fact["change"] for fact in each.evaluator["facts"] if "change" in fact] for each in (task, other)]
    shared = subjects(task, pool) & subjects(other, pool)
    return bool(shared) and changes[0] == changes[1] and right_answer(task) == right_answer(other)


def _never_seen(task: Task, left: Left, pool: Sequence[Task]) -> bool:
    """Whether no page named what a task is about."""
    about = subjects(task, pool)
    shown = [html.unescape(page.get("html", page.get("json", ""))).casefold() for page in left.pages]
    return bool(about) and not any(text in page for text in about for page in shown)


def to_play(tasks: Sequence[Task], pool: Sequence[Task], rng: random.Random) -> list[tuple[str, Task, Task]]:
    """Wrong endings to be played: the way, the task with its plan, and the task itself."""
    plans = [spoiled, mixed, echoed]
    return [(way, planned, task) for task in tasks for make in plans for way, planned in make(task, pool, rng)]


def played(way: str, task: Task, episode: Episode, right: Left, databases: Databases) -> Tried | None:
    """What came of a wrong ending that was played; None where it turned out to be right, or the system failed."""
    if episode.left is None:
        return None
    if sort_of(way) == "spoiled" and len(databases.edits(episode.left)) <= len(databases.edits(right)):
        return None
    if way == "mixed" and databases.same(episode.left, right):
        return None
    steps = " / ".join(" ".join(map(str, step.values())) for step in plan_of(episode.task))
    return Tried(sort_of(way), way, task, steps[:500], episode.success)
