"""Writing files so that a reader sees the old content or the new, never a part.

The bytes go to a temporary name in the same folder, are flushed, and take their final name by one
rename. Temporary names are unique, so two writers of one file do not mix their bytes.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from webdojo.errors import StoreFailure


def write_atomic(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write `data` to `path` in one visible step; see `replacing`.

    Raises:
        StoreFailure: the disk refuses it.
    """
    with writing(path), replacing(path, durable=durable) as file:
        file.write(data)


def write_error(path: Path, why: str | None) -> StoreFailure:
    """The error for a file that the disk refuses to write."""
    return StoreFailure(f"cannot write {path} ({why}): free space or make it writable")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says when the disk refuses to write `path` into a `StoreFailure`."""
    try:
        yield
    except OSError as error:
        raise write_error(path, error.strerror) from None


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends; if the block fails, `path` stays as it was.

    Args:
        durable: flush to the disk before the rename, so that the file also survives a power cut;
            without it, it survives any death of the process.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)


def sync(path: Path) -> None:
    """Flush a file, or the names inside a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
