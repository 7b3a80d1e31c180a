"""Filters in a row: their report, their order, and a pipeline that is killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from webdojo.errors import TaskError
from webdojo.loops.filtering.filters import Filter
from webdojo.loops.filtering.pipeline import Pipeline, read_pipeline, run_pipeline
from webdojo.types import Task

CALLS: list[tuple[str, int]] = []


class Ending(Filter):
    """Drops tasks whose id ends so."""

    name: str = f"{__name__}:Ending"
    digit: str

    def dropped(self, tasks: Any, folder: Path) -> dict[str, str]:
        CALLS.append((self.digit, len(tasks)))
        return {task.id: f"ends: in {self.digit}" for task in tasks if task.id.endswith(self.digit)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    CALLS.clear()
    rows = [
        Task(id=f"t{n}", instruction=f"Do {n}", start_url="https://a.example", website="a.example") for n in range(40)
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(row.model_dump_json() + "\n" for row in rows))
    return tmp_path / "tasks.jsonl"


def pipeline(file: Path, *digits: str) -> Pipeline:
    return Pipeline(path=str(file), steps=[Ending(digit=digit) for digit in digits])


def test_steps_follow_one_another_and_tell_what_they_dropped(file: Path, tmp_path: Path) -> None:
    found = run_pipeline(pipeline(file, "1", "2"), tmp_path / "work")
    assert [(step.before, step.after, step.reasons) for step in found.steps] == [
        (40, 36, {"ends": 4}),
        (36, 32, {"ends": 4}),
    ]
    assert found.steps[0].options == {"digit": "1"}
    assert [each.id for each in found.steps[0].samples] == ["t1", "t11", "t21", "t31"]
    assert [each.id for each in found.dropped] == ["t1", "t11", "t21", "t31", "t2", "t12", "t22", "t32"]
    assert len(found.tasks) == 32
    assert CALLS == [("1", 40), ("2", 36)]


def test_a_pipeline_goes_on_with_the_step_that_it_was_at(file: Path, tmp_path: Path) -> None:
    whole = run_pipeline(pipeline(file, "1", "2"), tmp_path / "whole")
    run_pipeline(pipeline(file, "1"), tmp_path / "work")
    CALLS.clear()
    assert run_pipeline(pipeline(file, "1", "2"), tmp_path / "work") == whole
    assert CALLS == [("2", 36)]
    run_pipeline(pipeline(file, "3", "2"), tmp_path / "work")
    assert CALLS == [("2", 36), ("3", 40), ("2", 36)], "what was kept is for the same tasks and keys alone"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps: [{name: hots}]", "unknown task filter 'hots'; did you mean 'hosts'"),
        ("path: a.jsonl\nsteps: []", "steps: List should have at least 1 item"),
        ("path: a.jsonl\nsteps: [{name: hosts, min_task: 3}]", "steps.0.min_task: Extra inputs are not permitted"),
        ("path: [", "cannot be read"),
        ("steps: [decomposed]", "path: Field required"),
    ],
)
def test_a_wrong_file_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(Exception, match=message) as raised:
        read_pipeline(tmp_path / "p.yaml")
    assert type(raised.value).__module__ == "webdojo.errors"
    with pytest.raises(TaskError, match="cannot be read"):
        read_pipeline(tmp_path / "none.yaml")


def test_a_step_may_be_a_name_alone(file: Path, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        f"path: {json.dumps(str(file))}\nsteps: [decomposed, {{name: hosts, min_tasks: 50}}]"
    )
    found = run_pipeline(read_pipeline(tmp_path / "p.yaml"), tmp_path / "work")
    assert [step.after for step in found.steps] == [40, 0]
