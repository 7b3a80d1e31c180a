"""Data sets in the forms of other trainers, and back: folders with rows (`rows`), their screenshots and the lineage.

    trl            metadata.jsonl, images/        TRL, as `load_dataset("imagefolder", data_dir=…)` reads it
    llamafactory   train.jsonl, dataset_info.json, images/      LLaMA-Factory, as its `dataset_dir`
    parquet        train.parquet                  TRL, with the screenshots inside
    datasets       what `datasets.save_to_disk` writes, with the screenshots inside
    atif           00000.atif.json, …, images/    Harbor, a document a trajectory (`atif`)

Invariants: a folder appears whole under its name; a screenshot comes back with the bytes that it had, or not at all.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webdojo.errors import StoreError
from webdojo.loops.collection import Format, atif
from webdojo.loops.collection.dataset import (
    MANIFEST,
    Dataset,
    Manifest,
    copy_screenshots,
    counts,
    open_dataset,
    read_manifest,
    scratch,
    screenshots,
    write_manifest,
)
from webdojo.loops.collection.rows import Row, about, joined, rows_of, tagged, trajectories_of
from webdojo.loops.export import LOST, CachedCodec, codec_of
from webdojo.loops.run_folder import COLLECT
from webdojo.progress import progress
from webdojo.store.files import write_atomic
from webdojo.store.images import ImageStore
from webdojo.store.run import RunStore
from webdojo.types import ImageRef, Trajectory

OURS = "webdojo"
"""The folder in an export with what is not rows: the lineage and the recipe."""
SYSTEM_FILES = (MANIFEST, "recipe.yaml", "info.json")


def export_dataset(path: Path, out: Path, form: Format) -> Counter[str]:
    """Write a data set to a new folder in the form of another trainer.

    Returns how many trajectories were written, under `""`, and how many were left out, by reason.

    Raises:
        StoreError: there is no such data set, `out` is there already, or `datasets` is not installed.
    """
    with open_dataset(path) as dataset, scratch(out) as folder:
        found: Counter[str] = Counter()
        (folder / OURS).mkdir(parents=True)
        for name in SYSTEM_FILES:
            write_atomic(folder / OURS / name, (path / name).read_bytes())
        rows = _rows(dataset, found)
        if (first := next(rows, None)) is None:
            told = ", ".join(f"{count} {reason}" for reason, count in found.items())
            raise StoreError(f"{path} has nothing to export{f': {told}' if told else ''}")
        _WRITERS[form](chain([first], rows), dataset, folder)
    return found


def import_dataset(folder: Path, out: Path) -> Manifest:
    """Make a data set of a folder that `export_dataset` has written; rows that were taken out since are not in it.

    Raises:
        StoreError: it is no such folder, a row cannot be read, or a screenshot is not the one that its row names.
    """
    for name in SYSTEM_FILES:
        if not (folder / OURS / name).is_file():
            raise StoreError(f"{folder} was not written by `webdojo data export`: it has no {OURS}/{name}")
    there = read_manifest(folder / OURS)
    try:
        info = json.loads((folder / OURS / "info.json").read_text())
    except ValueError as error:
        raise StoreError(f"{folder / OURS / 'info.json'} cannot be read: {error}") from None
    with scratch(out) as made, RunStore.create(made, (folder / OURS / "recipe.yaml").read_text(), info) as store:
        steps: dict[str, list[int]] = {}
        with progress("import", None, stays=False) as bar:
            for trajectory, places in _read(folder, store.images):
                if known := steps.get(trajectory.id):
                    trajectory, places = joined(store.trajectory(trajectory.id), known, trajectory, places)
                    store.replace_trajectory(trajectory, COLLECT, 0)
                else:
                    store.add_trajectory(trajectory, COLLECT, 0)
                steps[trajectory.id] = places
                bar.advance(1)
        if lost := [each.id for each in store.trajectories(COLLECT) if not store.has_screenshots(each)]:
            raise StoreError(f"{folder} lacks screenshots of {lost[0]}: export the data set again")
        rows = {row.id: row for row in store.rows(COLLECT)}
        ids = [id for id in there.trajectories if id in rows]
        manifest = there.model_copy(update={"trajectories": ids, "counts": counts([rows[id] for id in ids])})
        write_manifest(made, manifest)
        store.write_result({"dataset": manifest.counts.model_dump()})
    return manifest


def _rows(dataset: Dataset, found: Counter[str]) -> Iterator[list[Row]]:
    """The rows of each trajectory that can be written; the others are counted. What a judge was shown may be lost."""
    codec = CachedCodec(codec_of(dataset.store))
    with progress("export", len(dataset.manifest.trajectories), stays=False) as bar:
        for trajectory in dataset.trajectories():
            rows, reason = rows_of(trajectory, codec)
            if rows and not dataset.store.has_screenshots(trajectory):
                rows, reason = [], LOST
            lost = {image for image in screenshots(trajectory) if rows and not dataset.images.has(image)}
            rows = [replace(row, others=[image for image in row.others if image not in lost]) for row in rows]
            found[reason] += 1
            if rows:
                yield rows
            bar.advance(1)


# --- files and their images -------------------------------------------------------------------


def _write_trl(rows: Iterable[list[Row]], dataset: Dataset, folder: Path) -> None:
    place = _placing(dataset, folder)

    def line(row: Row) -> dict[str, Any]:
        return _for_trl(row) | {"images_file_names": [place(image) for image in row.images]} | _records(row)

    _write_lines(folder / "metadata.jsonl", rows, line, place)


def _write_llamafactory(rows: Iterable[list[Row]], dataset: Dataset, folder: Path) -> None:
    place = _placing(dataset, folder)

    def line(row: Row) -> dict[str, Any]:
        said = {"role": "assistant", "content": [{"type": "text", "text": row.answer}]}
        messages = [tagged(message) for message in (*row.prompt, said)]
        return {"messages": messages, "images": [place(image) for image in row.images], **about(row)} | _records(row)

    _write_lines(folder / "train.jsonl", rows, line, place)
    tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
    described = {
        "file_name": "train.jsonl",
        "formatting": "sharegpt",
        "columns": {"messages": "messages", "images": "images"},
        "tags": tags | {"system_tag": "system"},
    }
    write_atomic(folder / "dataset_info.json", f"{json.dumps({'webdojo': described}, indent=2)}\n".encode())


def _placing(dataset: Dataset, folder: Path) -> Callable[[ImageRef], str]:
    """Writes an image below a folder, where it is not there yet, and returns its name from there."""
    images = ImageStore(folder / "images")
    images.folder.mkdir()

    def place(image: ImageRef) -> str:
        if not images.path(image).is_file():
            images.put(dataset.images.get(image), image.width, image.height, image.mime)
        return str(images.path(image).relative_to(folder))

    return place


def _write_lines(
    file: Path, rows: Iterable[list[Row]], line: Callable[[Row], dict[str, Any]], place: Callable[[ImageRef], str]
) -> None:
    with file.open("w", encoding="utf-8") as out:
        for row in (row for each in rows for row in each):
            for image in row.others:
                place(image)
            out.write(f"{json.dumps(line(row), ensure_ascii=False)}\n")


def _for_trl(row: Row) -> dict[str, Any]:
    completion = [{"role": "assistant", "content": [{"type": "text", "text": row.answer}]}]
    return {"prompt": row.prompt, "completion": completion, **about(row)}


def _records(row: Row) -> dict[str, str]:
    return {"episode": row.episode, "turn": row.turn}


# --- files with the images inside -------------------------------------------------------------


def _write_parquet(rows: Iterable[list[Row]], dataset: Dataset, folder: Path) -> None:
    library, arrow = _libraries(folder)
    file = folder / "train.parquet"
    _write_arrow(rows, dataset, library, arrow, lambda schema: arrow.parquet.ParquetWriter(file, schema))


def _write_datasets(rows: Iterable[list[Row]], dataset: Dataset, folder: Path) -> None:
    library, arrow = _libraries(folder)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as apart:
        file = Path(apart, "rows.arrow")
        with file.open("wb") as out:
            _write_arrow(rows, dataset, library, arrow, lambda schema: arrow.ipc.new_stream(out, schema))
        library.Dataset.from_file(str(file)).save_to_disk(str(folder))


def _write_arrow(
    rows: Iterable[list[Row]],
    dataset: Dataset,
    library: Any,
    arrow: Any,
    opened: Callable[[Any], AbstractContextManager[Any]],
) -> None:
    """Write rows, a trajectory at a time, with what `opened` gives for a schema: a writer of record batches."""
    text, number = library.Value("string"), library.Value("int64")
    message = {"role": text, "content": [{"type": text, "text": text}]}
    shots = library.Sequence(library.Image())
    columns = {"prompt": [message], "completion": [message], "images": shots, "id": text, "step": number}
    columns |= {"task_id": text, "instruction": text, "website": text, "difficulty": number}
    columns |= {"success": library.Value("bool"), "episode": text, "turn": text, "other_images": shots}
    schema = library.Features(columns).arrow_schema

    def shot(image: ImageRef) -> dict[str, Any]:
        return {"bytes": dataset.images.get(image), "path": dataset.images.path(image).name}

    with opened(schema) as writer:
        for each in rows:
            lines = [
                _for_trl(row)
                | _records(row)
                | {"images": [shot(i) for i in row.images], "other_images": [shot(i) for i in row.others]}
                for row in each
            ]
            writer.write_batch(arrow.RecordBatch.from_pylist(lines, schema=schema))


def _libraries(folder: Path) -> tuple[Any, Any]:
    try:
        import datasets
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise StoreError(
            f"{folder.name.strip('.')} needs the package 'datasets', which is not installed: pip install "
            "'webdojo[tasks]'"
        ) from None
    datasets.disable_progress_bars()
    return datasets, pyarrow


# --- documents --------------------------------------------------------------------------------


def _write_atif(rows: Iterable[list[Row]], dataset: Dataset, folder: Path) -> None:
    writer = atif.Writer(dataset.store, folder)
    for each in rows:
        for trajectory, _ in trajectories_of(each):
            writer.write(trajectory)


_WRITERS: dict[Format, Callable[[Iterable[list[Row]], Dataset, Path], None]] = {
    Format.trl: _write_trl,
    Format.llamafactory: _write_llamafactory,
    Format.parquet: _write_parquet,
    Format.datasets: _write_datasets,
    Format.atif: _write_atif,
}


# --- back -------------------------------------------------------------------------------------


def _read(folder: Path, images: ImageStore) -> Iterator[tuple[Trajectory, list[int]]]:
    """The trajectories of a folder, or parts of them, as `trajectories_of` gives them; their screenshots are stored."""
    if documents := sorted(folder.glob(f"*{atif.SUFFIX}")):
        yield from _read_documents(documents, ImageStore(folder / "images"), images)
    else:
        yield from trajectories_of(_read_rows(folder, images))


def _read_documents(
    files: list[Path], source: ImageStore, images: ImageStore
) -> Iterator[tuple[Trajectory, list[int]]]:
    for file in files:
        with _reading(str(file), "field"):
            trajectory = atif.trajectory_of(json.loads(file.read_bytes()))
            copy_screenshots(trajectory, source, images)
        yield trajectory, list(range(trajectory.steps))


def _read_rows(folder: Path, images: ImageStore) -> Iterator[Row]:
    for name in ("metadata.jsonl", "train.jsonl"):
        if (folder / name).is_file():
            yield from _read_lines(folder / name, ImageStore(folder / "images"), images)
            return
    file = folder / "train.parquet"
    if not file.is_file() and not (folder / "state.json").is_file():
        raise StoreError(
            f"{folder} has no rows: neither metadata.jsonl, train.jsonl, train.parquet, state.json nor *{atif.SUFFIX}"
        )
    library, arrow = _libraries(folder)
    if file.is_file():
        try:
            table = arrow.parquet.ParquetFile(file)
        except (ValueError, OSError) as error:
            raise StoreError(f"{file} cannot be read: {error}") from None
        with table:
            yield from _read_batches(file, table.iter_batches(16), images)
    else:
        saved = library.load_from_disk(str(folder))
        yield from _read_batches(folder, saved.with_format("arrow").iter(16), images)


def _read_lines(file: Path, source: ImageStore, images: ImageStore) -> Iterator[Row]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            with _reading(f"{file}, row {number}", "column"):
                row = _as_row(json.loads(line))
                for part, _ in trajectories_of([row]):
                    copy_screenshots(part, source, images)
            yield row


def _read_batches(file: Path, batches: Iterable[Any], images: ImageStore) -> Iterator[Row]:
    for number, columns in enumerate(chain.from_iterable(batch.to_pylist() for batch in batches), 1):
        with _reading(f"{file}, row {number}", "column"):
            row = _as_row(columns)
            bytes_of = {Path(shot["path"]).stem: shot["bytes"] for shot in columns["images"] + columns["other_images"]}
            for part, _ in trajectories_of([row]):
                for image in screenshots(part):
                    if image.sha in bytes_of:
                        images.put(bytes_of[image.sha], image.width, image.height, image.mime)
        yield row


def _as_row(columns: dict[str, Any]) -> Row:
    return Row(episode=columns["episode"], step=int(columns["step"]), turn=columns["turn"])


@contextmanager
def _reading(where: str, part: str) -> Iterator[None]:
    """Turn what a row or document has wrong into a StoreError that says where it is; rows are numbered from 1."""
    try:
        yield
    except KeyError as error:
        raise StoreError(f"{where}: it has no {part} {error}") from None
    except ValidationError as error:
        found = error.errors()[0]
        wrong = f"{error.title}: {'.'.join(map(str, found['loc']))}: {found['msg']}"
        raise StoreError(f"{where}: it is no valid {wrong}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreError(f"{where}: it cannot be read: {error}") from None
