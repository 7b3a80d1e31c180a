"""Our own task records from a file."""

import json

import pytest

from webdojo.errors import TaskError
from webdojo.tasks.records import load
from webdojo.types import Task


def record(name: str) -> dict[str, object]:
    task = Task(id=name, instruction="Buy it", start_url="http://a.example/", website="a.example")
    return task.model_dump(mode="json", exclude_defaults=True)


def test_records_come_back_as_they_were_written(tmp_path):
    lines, whole = tmp_path / "tasks.jsonl", tmp_path / "tasks.json"
    lines.write_text("\n".join(json.dumps(record(name)) for name in "ab") + "\n")
    whole.write_text(json.dumps([record(name) for name in "ab"]))
    assert list(load(lines)) == list(load(whole))
    assert [task.id for task in load(lines)] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("{}", "must hold a list of tasks, but holds a dict"),
        ("[1]", "task 1 of .* must be an object, but is a int"),
        (json.dumps([{**record("a"), "goal": 1}]), "task 1 of .*: goal: extra inputs"),
        (json.dumps([{**record("a"), "evaluater": {}}]), "evaluater: extra inputs .*; did you mean 'evaluator'\\?$"),
        (json.dumps([{**record("a"), "schema_version": 2}]), "task 1 of .*: schema_version: .* 2 is later than 1, "),
        (json.dumps([{**record("a"), "metadata": "{"}]), "task 1 of .*: metadata: .* is not json"),
        (json.dumps([record("a"), record("a")]), "task 2 of .*: id 'a' stands there already"),
    ],
)
def test_what_is_wrong_with_a_file_of_records(tmp_path, text, says):
    file = tmp_path / "tasks.json"
    file.write_text(text)
    with pytest.raises(TaskError, match=says):
        list(load(file))
    with pytest.raises(TaskError, match=r"none\.json' does not exist$"):
        list(load(tmp_path / "none.json"))


def test_a_line_that_is_not_json_is_named(tmp_path):
    file = tmp_path / "tasks.jsonl"
    file.write_text(f"{json.dumps(record('a'))}\n\n{{'id': 1}}\n")
    with pytest.raises(TaskError, match=r"tasks.jsonl' is not JSON: .* \(line 3, column 2\)"):
        list(load(file))
