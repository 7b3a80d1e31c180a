"""Task sets in files: every format gives back the tasks that were written into it."""

from __future__ import annotations

import json
import sys
import weakref
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from webdojo.errors import TaskError
from webdojo.tasks import files, records
from webdojo.tasks.files import rows_of, write_tasks
from webdojo.tasks.sources import webgym
from webdojo.types import Task

FORMATS = ["set.jsonl", "set.parquet", "set"]
TASKS = [
    Task(id="a", instruction="Find a lamp", start_url="https://a.example/", website="a.example"),
    Task(
        id="b",
        instruction="Two\nlines\u2028and «more» 🏮",
        start_url="https://b.example/?q=1",
        website="b.example",
        storage_state="state.json",
        kind="shop",
        difficulty=3,
        evaluator={"facts": [{"text": "x", "is": None}], "n": 1.5, "none": None},
        metadata={"domain": "Travel", "": [], "deep": {"a": {"b": [1, "1", None, True]}}, "empty": {}},
    ),
]


@pytest.mark.parametrize("name", FORMATS)
def test_what_was_written_is_read_back(tmp_path: Path, name: str) -> None:
    assert write_tasks(TASKS, tmp_path / name) == 2
    assert list(records.load(tmp_path / name)) == TASKS
    assert all(row["schema_version"] == 1 for row in rows_of(tmp_path / name))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("other", FORMATS)
def test_every_format_becomes_every_other(tmp_path: Path, name: str, other: str) -> None:
    write_tasks(TASKS, tmp_path / name)
    write_tasks(records.load(tmp_path / name), tmp_path / "out" / other)
    assert list(records.load(tmp_path / "out" / other)) == TASKS


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_set_is_a_set(tmp_path: Path, name: str) -> None:
    assert write_tasks([], tmp_path / name) == 0
    assert list(records.load(tmp_path / name)) == []


@pytest.mark.parametrize("name", FORMATS)
def test_sets_of_several_batches_keep_their_order(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH", 7)
    many = [TASKS[0].model_copy(update={"id": str(n)}) for n in range(30)]
    write_tasks(many, tmp_path / name)
    assert list(records.load(tmp_path / name)) == many


@pytest.mark.parametrize("name", FORMATS)
def test_a_set_is_read_and_written_one_task_after_another(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BATCH", 10)
    alive: set[int] = set()
    most = 0

    def numbered() -> Iterator[Task]:
        nonlocal most
        for number in range(100):
            task = TASKS[0].model_copy(update={"id": str(number)})
            alive.add(number)
            weakref.finalize(task, alive.discard, number)
            most = max(most, len(alive))
            yield task

    assert write_tasks(numbered(), tmp_path / name) == 100
    assert most <= 2 * 10, f"{most} of 100 tasks were held at once"
    with pytest.raises(TaskError, match="at 15"):
        write_tasks(broken_at(15), tmp_path / name)
    assert len(list(records.load(tmp_path / name))) == 100, "what stood there is gone"
    assert [path.name for path in tmp_path.iterdir()] == [name], "something is left behind"


def broken_at(n: int) -> Iterator[Task]:
    for number in range(n):
        yield TASKS[0].model_copy(update={"id": str(number)})
    raise TaskError(f"at {n}")


def test_writing_again_replaces_a_folder_of_ours_and_no_other(tmp_path: Path) -> None:
    write_tasks(TASKS, tmp_path / "set")
    write_tasks(TASKS[:1], tmp_path / "set")
    assert list(records.load(tmp_path / "set")) == TASKS[:1]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    with pytest.raises(TaskError, match=r"mine' is there already, .* give another name"):
        write_tasks(TASKS, tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "all of it"


def test_a_benchmarks_rows_may_stand_in_parquet_or_datasets(tmp_path: Path) -> None:
    rows = [
        {"task_id": 1, "task_name": "Find it.", "website": "a.example", "difficulty": 2, "domain": "Food"},
        {
            "task_id": 2,
            "task_name": "Find both.",
            "website": "b.example",
            "difficulty": 3,
            "evaluator_reference": [{"description": None, "facts": ["one", "two"]}],
            "seen": date(2026, 1, 2),
            "picture": b"\xff",
        },
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=schema_of(rows)), tmp_path / "rows.parquet")
    datasets.Dataset(pa.Table.from_pylist(rows, schema=schema_of(rows))).save_to_disk(tmp_path / "rows")
    lines = tmp_path / "rows.jsonl"
    plain = [
        rows[0],
        {**rows[1], "evaluator_reference": [{"facts": ["one", "two"]}], "seen": "2026-01-02", "picture": "_w=="},
    ]
    lines.write_text("".join(json.dumps(row) + "\n" for row in plain))
    assert list(webgym.load(tmp_path / "rows.parquet")) == list(webgym.load(lines))
    assert list(webgym.load(tmp_path / "rows")) == list(webgym.load(lines))
    assert [task.metadata for task in webgym.load(lines)] == [
        {"domain": "Food"},
        {"seen": "2026-01-02", "picture": "_w=="},
    ]


def schema_of(rows: list[dict[str, object]]) -> pa.Schema:
    return pa.Table.from_pylist([{**rows[0], **rows[1]}]).schema


def test_a_later_schema_is_refused_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later.setattr(files, "SCHEMA_VERSION", 2)
        for name in FORMATS:
            write_tasks(TASKS, tmp_path / name)
    for name in FORMATS:
        with pytest.raises(
            TaskError, match=r"task 1 of .*: schema_version: .* 2 is later than 1, the latest that webdojo .* reads"
        ):
            list(records.load(tmp_path / name))


@pytest.mark.parametrize("library", ["pyarrow", "datasets"])
def test_a_library_that_is_not_there_is_one_line(tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FORMATS:
        write_tasks(TASKS, tmp_path / name)
    monkeypatch.setitem(sys.modules, library, None)
    name = "set.parquet" if library == "pyarrow" else "set"
    says = rf"needs the package '{library}', which is not installed: pip install 'webdojo\[tasks\]'"
    with pytest.raises(TaskError, match=says):
        list(records.load(tmp_path / name))
    with pytest.raises(TaskError, match=says):
        write_tasks(TASKS, tmp_path / "new" / name)
    assert list(records.load(tmp_path / "set.jsonl")) == TASKS


def test_what_is_no_set_of_tasks_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(TaskError, match=r"broken.parquet' cannot be read: "):
        list(records.load(tmp_path / "broken.parquet"))
    with pytest.raises(TaskError, match="holds no data set that Hugging Face `datasets` saved: name a file in it"):
        list(records.load(tmp_path))
    data = datasets.Dataset.from_list([{"id": "a"}])
    datasets.DatasetDict({"train": data, "test": data}).save_to_disk(tmp_path / "two")
    with pytest.raises(TaskError, match=r"has the splits train, test: name one, '.*two/<split>'"):
        list(records.load(tmp_path / "two"))
    with pytest.raises(TaskError, match=r"'.*set.csv': end the name in .jsonl or .parquet"):
        write_tasks(TASKS, tmp_path / "set.csv")
