"""Metrics of a run: one structured line, one row in the store, one point on each TensorBoard curve.

Invariant: what the store has of a step, the curves have too, also when the process is killed right after.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from uuid import uuid4

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from webdojo.store.files import writing
from webdojo.store.run import RunStore

logger = logging.getLogger("webdojo")


class RunLog(AbstractContextManager["RunLog"]):
    """Writes metrics by phase and step; use it in a `with` block.

    TensorBoard's file has them when `write` returns; torch's writer would keep them for minutes.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{uuid4().hex[:8]}"
        self._path = store.path / "tensorboard" / name
        with writing(self._path):
            self._path.parent.mkdir(exist_ok=True)
            self._file = self._path.open("wb")
        self._records = RecordWriter(self._file)
        self._add(Event(wall_time=time.time(), file_version="brain.Event:2"))

    def __exit__(self, *error: object) -> None:
        with suppress(OSError):  # `write` has reported what could not be written
            self._file.close()

    def write(self, phase: str, step: int, metrics: Mapping[str, float], line: bool = True) -> None:
        """Keep the metrics of a step; `line` also prints them."""
        values = [Summary.Value(tag=f"{phase}/{name}", simple_value=value) for name, value in metrics.items()]
        self._add(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))
        self._store.add_metrics(phase, step, metrics)
        if line:
            logger.info("%s %d  %s", phase, step, "  ".join(f"{k}={v:.4g}" for k, v in metrics.items()))

    def _add(self, event: Event) -> None:
        with writing(self._path):
            self._records.write(event.SerializeToString())
            self._records.flush()
