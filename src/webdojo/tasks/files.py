"""Rows of tasks in files: JSON, JSON lines, Parquet, and the folders that Hugging Face's `datasets` saves.

Rows are read and written one after another, so a set of any size needs little memory; a JSON list alone is held whole.
What is written says its schema version in every row, and reads back as the same tasks in every format: Parquet and
`datasets` hold `evaluator` and `metadata` as JSON texts, because their columns could not tell a missing key from none.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from webdojo.errors import TaskError
from webdojo.store.files import replacing, writing
from webdojo.types import Task

SCHEMA_VERSION = 1
"""The column `schema_version` of what is written; a row without it has version 1."""
AS_TEXT = ("evaluator", "metadata")
"""Columns that Parquet and `datasets` hold as JSON texts."""
BATCH = 10_000
"""Rows that are written together, and read together at most."""

_JSON: TypeAdapter[Any] = TypeAdapter(Any, config=ConfigDict(ser_json_bytes="base64"))


def rows_of(path: str | Path) -> Iterator[Any]:
    """The rows of a file as they stand there, one after another; by its name it is a folder of `datasets`, Parquet
    (`.parquet`), JSON lines (`.jsonl`) or a JSON list. Raises TaskError."""
    file = Path(path)
    if file.is_dir():
        return _saved_rows(file)
    return {".parquet": _parquet_rows, ".jsonl": _lines}.get(file.suffix, _list)(file)


def write_tasks(tasks: Iterable[Task], path: str | Path) -> int:
    """Write tasks into JSON lines (`.jsonl`), Parquet (`.parquet`) or a folder of `datasets` (a name without an
    ending), and return how many they were. What stands there stays as it was until all are written.

    Raises:
        TaskError: another ending, a library that is not installed, or a folder that holds something else.
        StoreFailure: the disk refuses it.
    """
    file = Path(path)
    write = {".jsonl": _write_lines, ".parquet": _write_parquet, "": _write_folder}.get(file.suffix)
    if write is None:
        raise TaskError(
            f"tasks cannot be written to {str(path)!r}: end the name in .jsonl or .parquet, or give it no ending for a "
            "folder of Hugging Face `datasets`"
        )
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        return write(iter(tasks), file)


# --- reading ----------------------------------------------------------------------------------


def _lines(file: Path) -> Iterator[Any]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _parsed(line, file, number)
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(file, error) from None


def _list(file: Path) -> Iterator[Any]:
    try:
        rows = _parsed(file.read_text(encoding="utf-8"), file, 1)
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(file, error) from None
    if not isinstance(rows, list):
        raise TaskError(f"task file {str(file)!r} must hold a list of tasks, but holds a {type(rows).__name__}")
    yield from rows


def _parsed(text: str, file: Path, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {line + error.lineno - 1}, column {error.colno}"
        raise TaskError(f"task file {str(file)!r} is not JSON: {error.msg} ({where})") from None


def _parquet_rows(file: Path) -> Iterator[Any]:
    arrow = _arrow(file)
    try:
        with arrow.parquet.ParquetFile(file) as table:
            for batch in table.iter_batches(BATCH):
                yield from map(_plain, batch.to_pylist())
    except (OSError, arrow.ArrowException) as error:
        raise _unreadable(file, error) from None


def _saved_rows(folder: Path) -> Iterator[Any]:
    if (splits := folder / "dataset_dict.json").is_file():
        names = ", ".join(json.loads(splits.read_text())["splits"])
        raise TaskError(f"task folder {str(folder)!r} has the splits {names}: name one, {str(folder / '<split>')!r}")
    if not (folder / "state.json").is_file():
        raise TaskError(
            f"task folder {str(folder)!r} holds no data set that Hugging Face `datasets` saved: name a file in it"
        )
    library = _datasets(folder)
    if not json.loads((folder / "state.json").read_text()).get("_data_files"):
        return  # `datasets` saves a set without rows, and cannot load it
    try:
        rows = library.load_from_disk(str(folder))
    except (OSError, ValueError, KeyError) as error:
        raise _unreadable(folder, error) from None
    for batch in rows.with_format("arrow").iter(BATCH):
        yield from map(_plain, batch.to_pylist())


def _plain(value: Any) -> Any:
    """A row as JSON would have it: without the columns that are null, where JSON has no key."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items() if part is not None}
    return [_plain(part) for part in value] if isinstance(value, list) else _JSON.dump_python(value, mode="json")


def _unreadable(file: Path, error: Exception) -> TaskError:
    if isinstance(error, FileNotFoundError):
        return TaskError(f"task file {str(file)!r} does not exist{'' if file.is_absolute() else f' in {Path.cwd()}'}")
    return TaskError(f"task file {str(file)!r} cannot be read: {error}")


def _arrow(file: Path) -> Any:
    try:
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise _not_installed("pyarrow", file) from None
    return pyarrow


def _datasets(folder: Path) -> Any:
    try:
        import datasets
    except ImportError:
        raise _not_installed("datasets", folder) from None
    datasets.disable_progress_bars()
    return datasets


def _not_installed(package: str, file: Path) -> TaskError:
    return TaskError(
        f"{str(file)!r} needs the package {package!r}, which is not installed: pip install 'webdojo[tasks]'"
    )


# --- writing ----------------------------------------------------------------------------------


def _write_lines(tasks: Iterator[Task], file: Path) -> int:
    count = 0
    with replacing(file) as out:
        for task in tasks:
            row = {"schema_version": SCHEMA_VERSION, **task.model_dump(mode="json", exclude_defaults=True)}
            out.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())
            count += 1
    return count


def _write_parquet(tasks: Iterator[Task], file: Path) -> int:
    arrow = _arrow(file)
    with replacing(file) as out:
        return _write_arrow(tasks, arrow, lambda schema: arrow.parquet.ParquetWriter(out, schema))


def _write_folder(tasks: Iterator[Task], folder: Path) -> int:
    if folder.exists() and not (folder / "state.json").is_file():
        raise TaskError(f"{str(folder)!r} is there already, and no data set that `datasets` saved: give another name")
    datasets, arrow = _datasets(folder), _arrow(folder)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        rows, saved = Path(scratch, "rows.arrow"), Path(scratch, "saved")
        with rows.open("wb") as out:
            count = _write_arrow(tasks, arrow, lambda schema: arrow.ipc.new_stream(out, schema))
        datasets.Dataset.from_file(str(rows)).save_to_disk(str(saved))
        if folder.exists():
            shutil.rmtree(folder)
        saved.rename(folder)
    return count


def _write_arrow(tasks: Iterator[Task], arrow: Any, opened: Callable[[Any], AbstractContextManager[Any]]) -> int:
    """Write tasks with what `opened` gives for a schema: a writer of Arrow's record batches."""
    fields = [(name, arrow.int64() if name == "difficulty" else arrow.string()) for name in Task.model_fields]
    schema, count = arrow.schema([("schema_version", arrow.int64()), *fields]), 0
    with opened(schema) as writer:
        while True:
            rows = [_flat(task) for task in islice(tasks, BATCH)]
            if rows or not count:  # an empty batch where there are no rows: `datasets` reads no file without one
                writer.write_batch(arrow.RecordBatch.from_pylist(rows, schema=schema))
            count += len(rows)
            if len(rows) < BATCH:
                return count


def _flat(task: Task) -> dict[str, Any]:
    row = task.model_dump(mode="json")
    texts = {name: json.dumps(row[name], ensure_ascii=False) for name in AS_TEXT}
    return {"schema_version": SCHEMA_VERSION, **row, **texts}
