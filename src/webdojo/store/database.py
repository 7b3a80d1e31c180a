"""The SQLite file of a run: each statement is one transaction, on disk before its call returns.

Invariants: after a failed write all further ones are refused, so the stored records have no gaps; if the file
is deleted or replaced while its run goes on, its content is written again from the open connection, which
still has all of it. Calls are safe from any thread.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from webdojo.errors import StoreFailure
from webdojo.store.files import sync

BUSY_TIMEOUT_S = 30.0
"""How long a call waits while another process has the database locked."""


class Database:
    """A connection to an existing database in WAL mode; with `readonly`, its folder need not be writable."""

    def __init__(self, file: Path, readonly: bool = False) -> None:
        self.file = file.absolute()
        self._wal = Path(f"{self.file}-wal")
        self._lock = threading.Lock()
        self._failed = ""
        self._connection = connect(self.file, readonly)
        (self._mode,) = self._connection.execute("PRAGMA journal_mode").fetchone()
        self._place = _place(self.file)

    def write(self, statement: str, values: Iterable[Any]) -> int:
        """Run a statement and commit it; returns how many rows it changed."""

        def change() -> int:
            with self._connection:
                return self._connection.execute(statement, tuple(values)).rowcount

        return self._writing(change)

    def flush(self) -> None:
        """Empty the write-ahead log into the database's file, which then needs the log no more.

        As long as another process reads, the log stays: the next call empties it.
        """

        def checkpoint() -> int:
            self._connection.execute("PRAGMA busy_timeout=0")
            try:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._connection.execute(f"PRAGMA busy_timeout={int(1000 * BUSY_TIMEOUT_S)}")
            return 0

        self._writing(checkpoint)

    def _writing(self, change: Callable[[], int]) -> int:
        """Run what writes to the database, unless an earlier write has failed; returns what it returns."""
        with self._lock:
            if not self._failed:
                try:
                    changed = change()
                    self._failed = self._lost()
                except sqlite3.ProgrammingError:
                    raise
                except sqlite3.DatabaseError as error:
                    self._failed = f"cannot write to the run in {self.file.parent} ({error}): {_advice(error)}"
            if self._failed:
                raise StoreFailure(self._failed)
            return changed

    def read(self, query: str, values: Iterable[Any] = ()) -> list[Any]:
        """All rows of a query."""
        with self._lock:
            try:
                return self._connection.execute(query, tuple(values)).fetchall()
            except sqlite3.ProgrammingError:
                raise
            except sqlite3.DatabaseError as error:
                raise StoreFailure(f"cannot read the run in {self.file.parent} ({error}): {_advice(error)}") from None

    def close(self) -> None:
        self._connection.close()

    def _lost(self) -> str:
        """What happened to the files if this connection no longer writes to them; else an empty text."""
        place = _place(self.file)
        if place == self._place and (self._wal.exists() or self._mode != "wal"):
            return ""
        replaced = place not in (None, self._place)
        what = f"{self.file} was {'replaced' if replaced else 'deleted'} while its run went on"
        try:
            self._save()
            if replaced:
                return f"{what}: everything that was stored is in {rescue_path(self.file)}; give it that name back"
            rescue_path(self.file).rename(self.file)
            sync(self.file.parent)
        except (OSError, sqlite3.Error) as error:
            return f"{what}, and what was stored cannot be written again ({error}): start a new run"
        return f"{what}: it is there again, with everything that was stored"

    def _save(self) -> None:
        """Write the whole database from the open connection to the file `rescue_path`."""
        new = self.file.with_name(f"{self.file.name}.new")
        new.unlink(missing_ok=True)
        self._connection.execute("VACUUM INTO ?", (str(new),))
        sync(new)
        new.rename(rescue_path(self.file))
        sync(self.file.parent)
        for beside in (self._wal, Path(f"{self.file}-shm")):  # another database would take them for its own
            beside.unlink(missing_ok=True)


def rescue_path(file: Path) -> Path:
    """Where a database is rescued to after somebody deleted or replaced its file."""
    return file.with_name(f"{file.name}.saved")


def connect(file: Path, readonly: bool) -> sqlite3.Connection:
    """Open a connection with the settings of `Database`."""
    mode = "rw"
    if readonly and not os.access(file.parent, os.W_OK):
        # No file can be created beside it, so either a writer has created those that SQLite needs, or there is none.
        mode = "ro" if Path(f"{file}-wal").exists() else "ro&immutable=1"
    connection = sqlite3.connect(f"{file.as_uri()}?mode={mode}", uri=True, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout={int(1000 * BUSY_TIMEOUT_S)}")
    if readonly:
        connection.execute("PRAGMA query_only=ON")
    else:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
    return connection


def _place(file: Path) -> tuple[int, int] | None:
    """The identity of the file of this name; None if there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _advice(error: sqlite3.Error) -> str:
    match error.sqlite_errorname.split("_")[1]:
        case "FULL" | "IOERR":
            return "free space on that disk, or mend it"
        case "BUSY" | "LOCKED":
            return f"another program has had it locked for {BUSY_TIMEOUT_S:g} s; end that program"
        case "READONLY" | "CANTOPEN" | "PERM":
            return "make it writable"
        case "CORRUPT" | "NOTADB":
            return "the database is damaged; put back a copy, or start a new run"
        case _:
            return "check disk and access"
