"""The run folder: everything that a run produces, safe at any moment.

    run.sqlite      trajectories, metrics, key-values (WAL; tables and columns: `schema.sql`)
    images/         screenshots by hash
    checkpoints/    Hugging Face layout, complete or not there
    recipe.yaml     the resolved recipe          info.json     versions, git hash, seed, machine
    result.json     the final metrics            run.lock      held by the process that writes
    judgements/     what judges said afterwards (`loops/judging`)
    learner/        what the learner says of the tokens that it trains on (`learner_logprobs.py`)
    evaluation.json what the number of `webdojo eval` depends on (`loops/results/kit.py`)
    engine.sqlite   what was asked of endpoints, and paid, by the agent; `judge.sqlite` by its judge

One process writes a run at a time; any number may read. Calls are safe from any thread.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, NamedTuple

from webdojo.errors import StoreError, StoreFailure
from webdojo.store.checkpoints import CheckpointFolder
from webdojo.store.database import Database, rescue_path
from webdojo.store.files import sync, write_atomic, writing
from webdojo.store.images import ImageStore
from webdojo.store.lock import LOCK, lock, unlock
from webdojo.store.record import record_of, trajectory_of
from webdojo.types import ImageRef, Trajectory

SCHEMA_VERSION = 1
DATABASE = "run.sqlite"

_SHA = re.compile(rb'"sha":"([0-9a-f]{64})"')
"""An image reference in a record; inside a string of the record the quotes would be escaped."""


class TrajectoryRow(NamedTuple):
    """The queryable columns of a trajectory, without its turns (`schema.sql`)."""

    id: str
    phase: str
    iteration: int
    group_id: str
    task_id: str
    website: str
    kind: str
    difficulty: int
    termination: str
    reward: float | None
    success: bool | None
    valid: bool | None
    steps: int
    response_tokens: int
    created: float

    @classmethod
    def of(cls, values: Sequence[Any]) -> TrajectoryRow:
        """A row from the values of `COLUMNS`; the database has 0 and 1 for truth values."""
        row = cls._make(values)
        success, valid = (None if each is None else bool(each) for each in (row.success, row.valid))
        return row._replace(success=success, valid=valid)


COLUMNS = ", ".join(TrajectoryRow._fields)
"""The columns of a row, for a SELECT."""


def check_new_run(path: Path) -> None:
    """Raise a StoreError where a folder holds a run or other files; one that is not there may become a run."""
    if (path / DATABASE).exists():
        raise StoreError(f"{path} already holds a run: go on with it by --resume, or choose another with --run")
    # A lock without a database was left by a `create` that was killed, so this folder may be reused.
    if path.is_dir() and any(path.iterdir()) and not (path / LOCK).exists():
        raise StoreError(f"{path} holds other files and no run: choose an empty or new folder with --run")


class RunStore:
    """One run. Make it with `create` or `open`; use it in a `with` block or `close` it."""

    def __init__(self, path: Path, database: Database, lock_file: IO[str] | None) -> None:
        self.path = path
        self.images = ImageStore(path / "images")
        self.checkpoints = CheckpointFolder(path / "checkpoints")
        self._database = database
        self._lock_file = lock_file
        self._counting = threading.Lock()
        self._added, self._added_bytes = 0, 0

    @classmethod
    def create(cls, path: Path | str, recipe_yaml: str, info: Mapping[str, Any]) -> RunStore:
        """Create a run folder; `info` comes from `store.info.run_info`."""
        path = Path(path)
        with ExitStack() as undo:
            try:
                check_new_run(path)
                path.mkdir(parents=True, exist_ok=True)
                lock_file = lock(path)
                undo.callback(unlock, lock_file)
                (path / "images").mkdir(exist_ok=True)
                (path / "checkpoints").mkdir(exist_ok=True)
                _write_start(path, recipe_yaml, info)
                for left in path.glob(f"{DATABASE}.new*"):
                    left.unlink()
                new = path / f"{DATABASE}.new"
                connection = sqlite3.connect(new)
                connection.executescript(files("webdojo.store").joinpath("schema.sql").read_text())
                connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
                connection.close()
                new.rename(path / DATABASE)
                sync(path)
            except (OSError, sqlite3.Error, StoreFailure) as error:
                raise StoreError(f"run folder {path} cannot be written ({error}); choose another with --run") from None
            store = cls(path, Database(path / DATABASE), lock_file)
            undo.pop_all()
            return store

    @classmethod
    def open(cls, path: Path | str, *, readonly: bool = False) -> RunStore:
        """Open a run to continue it or, with `readonly`, to read it while another process may write."""
        path = Path(path)
        if not (path / DATABASE).is_file():
            if (kept := rescue_path(path / DATABASE)).is_file():
                raise StoreError(f"the database of the run in {path} was deleted: rename {kept.name} to {DATABASE}")
            why = "does not exist" if not path.exists() else f"holds no run (no {DATABASE})"
            raise StoreError(f"{path} {why}: give the folder of a run; `webdojo runs list` shows them")
        with ExitStack() as undo:
            lock_file = None
            try:
                if not readonly:
                    lock_file = lock(path)
                    undo.callback(unlock, lock_file)
                database = undo.enter_context(closing(Database(path / DATABASE, readonly)))
                ((version,),) = database.read("PRAGMA user_version")
            except (OSError, sqlite3.Error) as error:
                raise StoreError(f"the run in {path} cannot be opened ({error}); check access and disk space") from None
            if version != SCHEMA_VERSION:
                raise StoreError(f"the run in {path} has schema {version}, but this webdojo reads {SCHEMA_VERSION}")
            store = cls(path, database, lock_file)
            if not readonly:  # a process may have been killed here, or a person have deleted parts of it
                try:
                    store.images.folder.mkdir(exist_ok=True)
                    store.checkpoints.repair()
                except OSError as error:
                    raise StoreError(f"the run in {path} cannot be repaired ({error}): make it writable") from None
            undo.pop_all()
            return store

    def close(self) -> None:
        """Release the folder for other processes."""
        self._database.close()
        if self._lock_file is not None:
            unlock(self._lock_file)
            self._lock_file = None

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def recipe_yaml(self) -> str:
        return (self.path / "recipe.yaml").read_text()

    @property
    def info(self) -> dict[str, Any]:
        info: dict[str, Any] = json.loads((self.path / "info.json").read_text())
        return info

    def add_trajectory(self, trajectory: Trajectory, phase: str, iteration: int) -> bool:
        """Store a finished episode; committed when this returns.

        Adding the very same one again (same id, phase, iteration and content) changes nothing and returns False, so a
        caller that does not know whether its last write came through may repeat it. Otherwise returns True.
        """
        row = _row_of(trajectory, phase, iteration)
        packed = zlib.compress(record_of(trajectory))
        added = self._database.write(
            f"INSERT INTO trajectories ({COLUMNS}, record) VALUES ({'?, ' * len(row)}?) ON CONFLICT (id) DO NOTHING",
            (*row, packed),
        )
        if added:
            with self._counting:
                self._added, self._added_bytes = self._added + 1, self._added_bytes + len(packed)
            return True
        ((old_phase, old_iteration, record),) = self._select("phase, iteration, record", id=trajectory.id)
        if (old_phase, old_iteration, record) != (phase, iteration, packed):
            raise StoreError(
                f"trajectory id {trajectory.id!r} is taken in {self.path} by another one "
                f"(phase {old_phase!r}, iteration {old_iteration}): every episode needs its own id"
            )
        return False

    def replace_trajectory(self, trajectory: Trajectory, phase: str, iteration: int) -> None:
        """Store an episode in the place of the one that has its id; committed when this returns."""
        row = _row_of(trajectory, phase, iteration)._asdict()
        del row["created"]
        packed = zlib.compress(record_of(trajectory))
        columns = ", ".join(f"{name} = ?" for name in row)
        self._database.write(
            f"UPDATE trajectories SET {columns}, record = ? WHERE id = ?", (*row.values(), packed, trajectory.id)
        )

    @property
    def storage_counts(self) -> tuple[int, int, int, int]:
        """What this process has stored: trajectories, and bytes of their records, of screenshots, of known ones."""
        return self._added, self._added_bytes, self.images.new_bytes, self.images.known_bytes

    def trajectories(self, phase: str | None = None, iteration: int | None = None) -> list[Trajectory]:
        """Full records in the order in which they were added; None selects all."""
        return [_unpacked(record) for (record,) in self._select("record", phase=phase, iteration=iteration)]

    def stream(self, phases: Sequence[str] = ()) -> Iterator[tuple[TrajectoryRow, Trajectory]]:
        """Rows with their full records, one at a time to save memory; without phases, those of all phases."""
        for record, *values in self._one_by_one(f"record, {COLUMNS}", phases):
            yield TrajectoryRow.of(values), _unpacked(record)

    def trajectory(self, id: str) -> Trajectory:
        """One full record; StoreError if there is none with that id."""
        for (record,) in self._select("record", id=id):
            return _unpacked(record)
        raise StoreError(f"no trajectory {id!r} in {self.path}")

    def has_trajectory(self, id: str) -> bool:
        """Whether there is a trajectory with that id."""
        return bool(self._select("id", id=id))

    def rows(self, phase: str | None = None, iteration: int | None = None) -> list[TrajectoryRow]:
        """The columns alone, in the order in which they were added; cheap even for a long run."""
        return [TrajectoryRow.of(values) for values in self._select(COLUMNS, phase=phase, iteration=iteration)]

    def count(self) -> dict[str, int]:
        """The number of trajectories of each phase, in the order in which the phases began."""
        return dict(self._database.read("SELECT phase, count(*) FROM trajectories GROUP BY phase ORDER BY min(seq)"))

    def without_screenshots(self) -> int:
        """The number of trajectories that refer to a screenshot without a file; reads every record."""
        there = {file.stem.encode() for file in self.images.files()}
        return sum(
            not there.issuperset(_SHA.findall(zlib.decompress(record))) for (record,) in self._one_by_one("record")
        )

    def image_hashes(self) -> set[str]:
        """The hashes of all screenshots that trajectories refer to; reads every record."""
        found: set[str] = set()
        for (record,) in self._one_by_one("record"):
            found.update(sha.decode() for sha in _SHA.findall(zlib.decompress(record)))
        return found

    def query(self, select: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a SELECT on the tables of `schema.sql`, for readers that need more than the methods here."""
        return self._database.read(select, values)

    def _select(self, columns: str, **wanted: str | int | None) -> list[Any]:
        """Columns of the trajectories in the order in which they were added; a wanted value of None selects all."""
        given = {name: value for name, value in wanted.items() if value is not None}
        where = " AND ".join(["TRUE", *(f"{name} = ?" for name in given)])
        return self._database.read(f"SELECT {columns} FROM trajectories WHERE {where} ORDER BY seq", given.values())

    def _one_by_one(self, columns: str, phases: Sequence[str] = ()) -> Iterator[Any]:
        """Columns of the trajectories of these phases, or of all, in the same order, read one at a time."""
        chosen = f"phase IN ({', '.join('?' * len(phases))})" if phases else "TRUE"
        query = f"SELECT seq, {columns} FROM trajectories WHERE seq > ? AND {chosen} ORDER BY seq LIMIT 1"
        last = 0
        while found := self._database.read(query, (last, *phases)):
            ((last, *row),) = found
            yield row

    def has_screenshots(self, trajectory: Trajectory) -> bool:
        """Whether every screenshot that it refers to can be read."""
        return all(self.images.has(image) for image in _screenshots(trajectory))

    def discard_trajectories(self, phase: str, iteration: int) -> int:
        """Delete the trajectories of an iteration that is done again; returns how many."""
        return self._database.write("DELETE FROM trajectories WHERE phase = ? AND iteration = ?", (phase, iteration))

    def discard_trajectory(self, id: str) -> None:
        """Delete a trajectory whose episode is run again."""
        self._database.write("DELETE FROM trajectories WHERE id = ?", (id,))

    def discard_broken(self, trajectory: Trajectory) -> None:
        """Delete a trajectory that lacks screenshots, and its damaged ones, so that they can be stored again."""
        self.discard_trajectory(trajectory.id)
        for image in _screenshots(trajectory):
            if not self.images.has(image):
                self.images.path(image).unlink(missing_ok=True)

    def add_metrics(self, phase: str, step: int, values: Mapping[str, float]) -> None:
        """Store the metrics of a step or iteration; earlier ones of that step are replaced."""
        record = {name: float(v) if math.isfinite(v) else None for name, v in values.items()}
        self._database.write(
            "INSERT OR REPLACE INTO metrics (phase, step, created, record) VALUES (?, ?, ?, ?)",
            (phase, step, time.time(), json.dumps(record)),
        )

    def metrics(self, phase: str) -> list[dict[str, float]]:
        """The metrics of each step in order, with its `step`; values that were not finite are NaN."""
        rows = self._database.read("SELECT step, record FROM metrics WHERE phase = ? ORDER BY step", (phase,))
        return [
            {"step": step, **{k: math.nan if v is None else v for k, v in json.loads(record).items()}}
            for step, record in rows
        ]

    def discard_metrics(self, phase: str, after: int) -> None:
        """Delete the metrics of every later step."""
        self._database.write("DELETE FROM metrics WHERE phase = ? AND step > ?", (phase, after))

    def set(self, key: str, value: Any) -> None:
        """Store a JSON value under a name."""
        self._database.write("INSERT OR REPLACE INTO kv (key, value) VALUES (?, ?)", (key, json.dumps(value)))

    def get(self, key: str, default: Any = None) -> Any:
        """The JSON value stored under a name, else `default`."""
        rows = self._database.read("SELECT value FROM kv WHERE key = ?", (key,))
        return json.loads(rows[0][0]) if rows else default

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Store the final metrics, as `get("result")` and in result.json."""
        self.set("result", dict(result))
        write_atomic(self.path / "result.json", (json.dumps(dict(result), indent=2) + "\n").encode())

    def write_start(self, recipe_yaml: str, info: Mapping[str, Any]) -> None:
        """Store what a resumed run continues with, and remove its earlier result."""
        result = self.path / "result.json"
        with writing(result):
            result.unlink(missing_ok=True)
        self._database.write("DELETE FROM kv WHERE key = 'result'", ())
        _write_start(self.path, recipe_yaml, info)

    def flush(self) -> None:
        """Move all records from SQLite's log, which damage can cut, to the database itself."""
        self._database.flush()

    def left_over(self) -> list[Path]:
        """Files and folders that a killed process left half-written; call it only while no other process writes."""
        temporary = [path for folder in (self.path, *self.images.folder.glob("*")) for path in folder.glob(".*.tmp")]
        return [*temporary, *self.path.glob(f"{DATABASE}.new*"), *self.checkpoints.left_over()]


def _row_of(trajectory: Trajectory, phase: str, iteration: int) -> TrajectoryRow:
    task, reward = trajectory.task, trajectory.reward
    return TrajectoryRow(
        id=trajectory.id,
        phase=phase,
        iteration=iteration,
        group_id=trajectory.group,
        task_id=task.id,
        website=task.website,
        kind=task.kind,
        difficulty=task.difficulty,
        termination=trajectory.termination.value,
        reward=reward.value if reward else None,
        success=reward.success if reward else None,
        valid=reward.valid if reward else None,
        steps=trajectory.steps,
        response_tokens=sum(len(turn.response.ids) for turn in trajectory.turns),
        created=time.time(),
    )


def _screenshots(trajectory: Trajectory) -> set[ImageRef]:
    """All screenshots that a trajectory refers to."""
    shown = {turn.observation.screenshot for turn in trajectory.turns}
    shown.update(image for turn in trajectory.turns for image in turn.prompt.images)
    return shown | ({trajectory.final.screenshot} if trajectory.final is not None else set())


def _write_start(path: Path, recipe_yaml: str, info: Mapping[str, Any]) -> None:
    write_atomic(path / "info.json", json.dumps(dict(info), indent=2).encode())
    write_atomic(path / "recipe.yaml", recipe_yaml.encode())


def _unpacked(record: bytes) -> Trajectory:
    return trajectory_of(zlib.decompress(record))
