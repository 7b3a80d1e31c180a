"""Metrics of a run: a row in the store and a point on each curve of TensorBoard and of the trackers that the recipe
names; for people, a short line an iteration.

Invariant: what the store has of a step, the curves have too, also when the process is killed right after.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from statistics import fmean
from uuid import uuid4

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from webdojo.loops.tracking.trackers import Trackers
from webdojo.progress import duration, plural
from webdojo.store.files import writing
from webdojo.store.run import RunStore
from webdojo.types import Trajectory

RECENT = 5
"""Iterations whose mean time says how long those take that are left."""


class RunLog(AbstractContextManager["RunLog"]):
    """Writes metrics by phase and step; use it in a `with` block.

    TensorBoard's file has them when `write` returns; torch's writer would keep them for minutes. The `trackers` get
    them from the store, in their own time.
    """

    def __init__(self, store: RunStore, trackers: Trackers | None = None) -> None:
        self._store, self._trackers = store, trackers
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

    def write(self, phase: str, step: int, metrics: Mapping[str, float]) -> None:
        """Keep the metrics of a step."""
        values = [Summary.Value(tag=f"{phase}/{name}", simple_value=value) for name, value in metrics.items()]
        self._add(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))
        self._store.add_metrics(phase, step, metrics)
        if self._trackers is not None:
            self._trackers.wake()

    def show(self, phase: str, step: int, episodes: Sequence[Trajectory]) -> None:
        """Show a few episodes of an evaluation where somebody looks: TensorBoard has none."""
        if self._trackers is not None:
            self._trackers.show(phase, step, episodes)

    def _add(self, event: Event) -> None:
        with writing(self._path):
            self._records.write(event.SerializeToString())
            self._records.flush()


def iteration_line(rows: Sequence[Mapping[str, float]], iterations: int, evaluation_s: float) -> str:
    """The last of the iterations so far in a few words, with the time that is left until the end of the run.

    `evaluation_s` is how long the evaluation takes that comes after the last of all `iterations`.
    """
    last, step = rows[-1], int(rows[-1]["step"])
    each_s = fmean(row["seconds_total"] for row in rows[-RECENT:])
    invalid = f" ({last['invalid']:.0f} invalid)" if last["invalid"] else ""
    parts = [
        f"iteration {step}/{iterations}",
        f"reward {last['reward']:.3f}" if "reward" in last else "",
        f"success {last['success']:.1%}" if "success" in last else "",
        f"{plural(round(last['episodes']), 'episode')}{invalid}",
        duration(last["seconds_total"]),
        f"{duration((iterations - step) * each_s + evaluation_s)} left",
    ]
    return "  ".join(part for part in parts if part)
