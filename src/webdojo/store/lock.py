"""Who writes a run: `run.lock`, which the system frees when its holder dies.

The file holds the pid of the writer for as long as it writes. One that closes its run empties it, so a pid
without a lock is what a killed process leaves.
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
"""Those who look at a lock hold it for a moment themselves."""


class Writer(NamedTuple):
    """What the lock of a run tells."""

    alive: bool
    """A process writes the run now."""
    pid: str
    """Of that process, or of one that was killed while it wrote; empty where the last one ended by itself."""


def lock(path: Path) -> IO[str]:
    """Take the lock of a run folder; whoever gets it hands it to `unlock`.

    Raises:
        StoreError: another process has it.
        OSError: the folder cannot be written.
    """
    file = (path / LOCK).open("a+")
    for left in reversed(range(TRIES)):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if left:
                time.sleep(0.02)
                continue
            file.seek(0)
            holder = file.read().strip()
            file.close()
            raise StoreError(f"process {holder} is writing the run in {path}: wait, or choose another --run") from None
        break
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def unlock(file: IO[str]) -> None:
    """Let others write, and leave word that this process ended by itself."""
    with contextlib.suppress(OSError), file:  # a disk that has become read-only keeps the pid
        file.truncate(0)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else writes the run within the block.

    Raises:
        StoreError: another process writes it, or the folder cannot be written.
    """
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
    """Who writes the run in a folder, or did last; works without write access."""
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
