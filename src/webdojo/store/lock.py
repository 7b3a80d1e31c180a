"""The lock of a run, `run.lock`: one process writes at a time, and the system frees the lock when it dies.

The file holds the pid of the writer. A process that closes its run empties the file, so a pid in a file that
nobody has locked is that of a process that was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from webdojo.errors import StoreError

LOCK = "run.lock"
TRIES = 10
"""How often to try: a process that only checks the lock holds it for a moment."""


class Writer(NamedTuple):
    """The process that writes a run, or wrote it last."""

    alive: bool
    """Whether a process is writing the run now."""
    pid: str
    """The pid of that process, or of one that was killed while it wrote; empty if the last one ended by itself."""


def lock(path: Path) -> IO[str]:
    """Take the lock of a run folder; `unlock` gives it back. StoreError: another process has it."""
    file = (path / LOCK).open("a+")
    for _ in range(TRIES):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        time.sleep(0.02)
    else:
        with file:
            file.seek(0)
            holder = file.read().strip()
        raise StoreError(f"process {holder} is writing the run in {path}: wait, or choose another --run")
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def unlock(file: IO[str]) -> None:
    """Let others write, and record that this process ended by itself."""
    with contextlib.suppress(OSError), file:  # a disk that has become read-only keeps the pid
        file.truncate(0)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep all other processes from writing the run within the block."""
    before = writer(path).pid
    try:
        file = lock(path)
    except OSError as error:
        raise StoreError(f"the run in {path} cannot be locked ({error.strerror}): make the folder writable") from None
    try:
        yield
    finally:
        file.truncate(0)
        file.write(before)
        file.close()


def writer(path: Path) -> Writer:
    """The process that writes the run in a folder, or wrote it last; works without write access."""
    try:
        file = (path / LOCK).open()
    except OSError:
        return Writer(alive=False, pid="")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            alive = False
        except BlockingIOError:
            alive = True
        return Writer(alive, file.read().strip())
