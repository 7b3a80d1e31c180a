"""A copy of a run on object storage, by which the run outlives its machine.

    with mirrored(Mirror(run, "s3://bucket/runs/quickstart", resume)):  # a thread keeps the copy up to date
        ...
    pull("s3://bucket/runs/quickstart", run)  # on another machine, then `--resume`

The address is any that fsspec knows (s3://, gs://, az://, file://), each by a package of its own such as `s3fs`.

Invariant: what is there is at any moment a run that `--resume` goes on with, as if its process had been killed. So
screenshots go before the database that names them, a database before the checkpoints that it must know of, of a
checkpoint's files `checkpoint.json` last, and what the run no longer has is removed at the end.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from webdojo.errors import StoreError, one_line
from webdojo.store.checkpoints import RECORD, Checkpoint, CheckpointFolder
from webdojo.store.database import connect
from webdojo.store.lock import LOCK
from webdojo.store.run import DATABASE, check_new_run

CHECK_S = 5.0
"""Seconds between two looks at whether there is a new checkpoint."""
PERIOD_S = 300.0
"""Without a new checkpoint the copy is brought up to date so often."""

logger = logging.getLogger("webdojo")


class Storage:
    """A folder on object storage; files in it go by their path relative to it."""

    def __init__(self, url: str) -> None:
        self.url = url
        with self._told("cannot be used"):
            self._fs, self._root = fsspec.url_to_fs(url)
        if isinstance(self._fs, LocalFileSystem):
            self._fs.auto_mkdir = True

    def sizes(self) -> dict[str, int]:
        """Every file that is there, and its bytes."""
        with self._told("cannot be listed"):
            self._fs.invalidate_cache()
            found: dict[str, dict[str, Any]] = self._fs.find(self._root, detail=True)
        return {name.removeprefix(self._root).lstrip("/"): each["size"] for name, each in found.items()}

    def put(self, file: Path, name: str) -> None:
        """Copy a file there; one of that name is replaced in one step."""
        with self._told(f"takes no {name}"):
            self._fs.put_file(str(file), self._path(f"{name}.tmp"))
            self._fs.mv(self._path(f"{name}.tmp"), self._path(name))

    def get(self, name: str, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with self._told(f"gives no {name}"):
            self._fs.get_file(self._path(name), str(file))

    def read(self, name: str) -> bytes:
        with self._told(f"gives no {name}"):
            data: bytes = self._fs.cat_file(self._path(name))
        return data

    def remove(self, name: str) -> None:
        with self._told(f"does not remove {name}"), suppress(FileNotFoundError):
            self._fs.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Every file system has errors of its own."""
        try:
            yield
        except Exception as error:
            raise StoreError(f"storage {self.url!r} {what} ({one_line(error)}); see storage_path") from None


class Mirror:
    """Brings the copy of one run up to date. StoreError where another run is there already, unless this one goes on."""

    def __init__(self, run: Path, url: str, resume: bool) -> None:
        self._run, self.storage = run, Storage(url)
        self._checkpoints = CheckpointFolder(run / "checkpoints")
        self._there = self.storage.sizes()
        if DATABASE in self._there and not resume:
            raise StoreError(f"{url} already holds a run: choose another name with --run, or another storage_path")
        self._pushed: dict[str, tuple[int, int]] = {}
        """Size and time of change of files that may change, when they were copied."""

    def checkpoints(self) -> list[tuple[str, int]]:
        """Name and number of those that the run has."""
        return [(each.name, each.number) for each in self._checkpoints.all()]

    def push(self) -> None:
        """Copy what is new, and remove what the run no longer has."""
        checkpoints = self._checkpoints.all()  # before the database, which then knows of them
        with TemporaryDirectory() as scratch:
            copies = [_copied(file, Path(scratch)) for file in self._run.glob("*.sqlite")]
            for file in self._run.glob("images/*/[!.]*"):
                self._put_once(file)
            for copy in copies:
                self.storage.put(copy, copy.name)
        for checkpoint in checkpoints:
            with suppress(FileNotFoundError):  # the run has removed it meanwhile
                self._put_checkpoint(checkpoint)
        self._put_others()
        kept = {f"checkpoints/{each.name}" for each in checkpoints}
        for name in [name for name in self._there if name.startswith("checkpoints/")]:
            if "/".join(name.split("/")[:2]) not in kept:
                self._remove(name)

    def _put_once(self, file: Path) -> None:
        """Copy a file that never changes."""
        if self._there.get(self._name(file)) != file.stat().st_size:
            self._put(file)

    def _put_if_changed(self, file: Path) -> None:
        name, state = self._name(file), (file.stat().st_size, file.stat().st_mtime_ns)
        if self._pushed.get(name) != state:
            self.storage.put(file, name)
            self._pushed[name] = state

    def _put_checkpoint(self, checkpoint: Checkpoint) -> None:
        record = self._name(checkpoint.path / RECORD)
        if record in self._there:
            if self.storage.read(record) == (checkpoint.path / RECORD).read_bytes():
                return
            self._remove(record)  # of an older one of this name, which is complete no more
        for file in checkpoint.path.rglob("*"):
            if file.is_file() and file.name != RECORD:
                self._put(file)
        self._put(checkpoint.path / RECORD)

    def _put_others(self) -> None:
        """Copy what lies beside the database: recipe, results, reports."""
        for top in self._run.glob("[!.]*"):
            if top.name in ("images", "checkpoints", LOCK) or ".sqlite" in top.name:
                continue
            for file in top.rglob("[!.]*") if top.is_dir() else [top]:
                with suppress(FileNotFoundError):
                    if file.is_file():
                        self._put_if_changed(file)

    def _put(self, file: Path) -> None:
        self.storage.put(file, self._name(file))
        self._there[self._name(file)] = file.stat().st_size

    def _remove(self, name: str) -> None:
        self.storage.remove(name)
        del self._there[name]

    def _name(self, file: Path) -> str:
        return file.relative_to(self._run).as_posix()


@contextmanager
def mirrored(mirror: Mirror) -> Iterator[None]:
    """Keep the copy of a run up to date within the block, and bring it there at its end.

    StoreError where the storage takes nothing at the start; later that costs a warning, and is tried again.
    """
    mirror.push()
    stop = threading.Event()

    def keep() -> None:
        known, waited = mirror.checkpoints(), 0.0
        while not stop.wait(CHECK_S):
            waited += CHECK_S
            if (now := mirror.checkpoints()) != known or waited >= PERIOD_S:
                known, waited = now if _pushed(mirror) else known, 0.0

    thread = threading.Thread(target=keep, name="storage")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        if _pushed(mirror):
            logger.info("the run is in %s, too", mirror.storage.url)


def _pushed(mirror: Mirror) -> bool:
    try:
        mirror.push()
    except (StoreError, OSError, sqlite3.Error) as error:
        why = str(error) if isinstance(error, StoreError) else one_line(error)
        logger.warning("%s; the copy of the run is behind until the next try", why)
        return False
    return True


def pull(url: str, run: Path) -> None:
    """Make a run folder from its copy; StoreError where there is none, or the folder is taken."""
    storage = Storage(url)
    there = storage.sizes()
    if DATABASE not in there:
        raise StoreError(f"{url} holds no copy of a run (no {DATABASE}): give the folder of one")
    check_new_run(run)
    complete = {name.split("/")[1] for name in there if name.startswith("checkpoints/") and name.endswith(RECORD)}
    for name in sorted(there, key=lambda name: name == DATABASE):  # a folder without it is no run yet
        top, *rest = name.split("/")
        if not name.endswith(".tmp") and (top != "checkpoints" or rest[0] in complete):
            storage.get(name, run / name)


def _copied(file: Path, folder: Path) -> Path:
    """A copy of a database at one moment, whoever writes it."""
    target = folder / file.name
    with closing(connect(file.absolute(), readonly=True)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
    return target
