"""Metrics of a run: one structured line, one row in the store, one point on each TensorBoard curve.

Invariant: what the store has of a step, the curves have too, also when the process is killed right after.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from webdojo.store.files import write_error
from webdojo.store.run import RunStore

logger = logging.getLogger("webdojo")


class RunLog:
    """Writes metrics by phase and step; use it in a `with` block."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._board = Board(store.path / "tensorboard")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._board.close()

    def write(self, phase: str, step: int, metrics: Mapping[str, float], line: bool = True) -> None:
        """Keep the metrics of a step; `line` also prints them."""
        self._board.add({f"{phase}/{name}": value for name, value in metrics.items()}, step)
        self._store.add_metrics(phase, step, metrics)
        if line:
            logger.info("%s %d  %s", phase, step, "  ".join(f"{k}={v:.4g}" for k, v in metrics.items()))


class Board:
    """Writes a new event file for TensorBoard.

    What `add` was given is in the file when `add` returns, also if the process dies then; torch's writer would keep it
    for minutes, in a thread whose errors nobody can catch.
    """

    def __init__(self, folder: Path) -> None:
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{uuid4().hex[:8]}"
        self._path = folder / name
        with self._writing():
            folder.mkdir(exist_ok=True)
            self._file = self._path.open("wb")
        self._records = RecordWriter(self._file)
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))

    def add(self, scalars: Mapping[str, float], step: int) -> None:
        """One point on each curve.

        Raises:
            StoreFailure: the disk refuses.
        """
        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def close(self) -> None:
        """Close the file; `add` has reported what could not be written."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, event: Event) -> None:
        with self._writing():
            self._records.write(event.SerializeToString())
            self._records.flush()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise write_error(self._path, error.strerror) from None
