"""A pipeline of filters from one file, with a report of what each step dropped, why, and examples.

Invariant: the same file on the same tasks gives the same set. The outcome of a step is kept as soon as it is known, so
a pipeline that was killed goes on with the step that it was at.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from webdojo.config import Section, read_section
from webdojo.envs.task_sets import load_tasks
from webdojo.errors import TaskError
from webdojo.loops.filtering.filters import FILTERS, Filter
from webdojo.plugins import plug_field
from webdojo.progress import progress
from webdojo.store.files import write_atomic
from webdojo.types import Record, Task

_SAMPLES = 5


class Pipeline(Section):
    """What is filtered, and how."""

    source: str = "records"
    """Whose rows the file has, as `tasks.source` of a recipe."""
    path: str
    """The task file."""
    seed: int = 0
    """Draws the examples of the report."""
    steps: list[Annotated[Filter, *plug_field(FILTERS, "")]] = Field(min_length=1)
    """The filters, in order; each is a name, or a mapping with its `name` and keys."""


class Dropped(Record):
    """A task that a step dropped."""

    id: str
    website: str
    instruction: str
    reason: str


class StepReport(Record):
    step: str
    options: dict[str, Any]
    before: int
    after: int
    reasons: dict[str, int]
    """How many were dropped for which kind of reason, the commonest first."""
    samples: list[Dropped]
    """A few of them, drawn by the pipeline's seed."""


class Filtered(Record):
    """What a pipeline leaves, and how it came to that."""

    tasks: list[Task]
    dropped: list[Dropped]
    """In the order of the steps."""
    steps: list[StepReport]


def read_pipeline(path: Path) -> Pipeline:
    """The pipeline in a YAML file; a TaskError says what is wrong with it."""
    return read_section(path, Pipeline, "pipeline", TaskError)


def run_pipeline(pipeline: Pipeline, folder: Path) -> Filtered:
    """Filter the tasks; `folder` keeps what is done until the caller removes it."""
    tasks = list(load_tasks(pipeline.source, path=pipeline.path))
    dropped: list[Dropped] = []
    steps: list[StepReport] = []
    with progress("filter", len(pipeline.steps)) as bar:
        for step in pipeline.steps:
            bar.advance(0, now=f"{step.name}, {len(tasks)} tasks")
            reasons = _outcome(step, tasks, folder)
            gone = [_dropped(task, reasons[task.id]) for task in tasks if task.id in reasons]
            left = [task for task in tasks if task.id not in reasons]
            steps.append(_report(step, len(tasks), len(left), gone, pipeline.seed))
            tasks, dropped = left, dropped + gone
            bar.advance(1)
    return Filtered(tasks=tasks, dropped=dropped, steps=steps)


def _outcome(step: Filter, tasks: Sequence[Task], folder: Path) -> dict[str, str]:
    """What a step drops of these tasks: as it is kept, else as it finds now."""
    asked = json.dumps([step.model_dump(mode="json"), [task.model_dump(mode="json") for task in tasks]], sort_keys=True)
    place = folder / f"{step.name.split(':')[-1]}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}"
    kept = place / "dropped.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    place.mkdir(parents=True, exist_ok=True)
    found = dict(step.dropped(tasks, place))
    write_atomic(kept, json.dumps(found).encode())
    return found


def _dropped(task: Task, reason: str) -> Dropped:
    return Dropped(id=task.id, website=task.website, instruction=task.instruction, reason=reason)


def _report(step: Filter, before: int, after: int, gone: Sequence[Dropped], seed: int) -> StepReport:
    kinds = Counter(each.reason.partition(":")[0] for each in gone)
    drawn = random.Random(f"{seed}/{step.name}").sample(range(len(gone)), min(_SAMPLES, len(gone)))
    return StepReport(
        step=step.name,
        options=step.model_dump(mode="json", exclude={"name"}),
        before=before,
        after=after,
        reasons=dict(kinds.most_common()),
        samples=[gone[index] for index in sorted(drawn)],
    )
