"""Trackio, local or on a Hugging Face Space: its own variables say where to (`TRACKIO_SPACE_ID`, `TRACKIO_DIR`)."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

from webdojo.trackers.tracker import Sample, TrackedRun, Tracker

logger = logging.getLogger("webdojo")


class Trackio(Tracker):
    """A run of the project. It goes on by its name, so a few letters are added that no other run has."""

    package: ClassVar[str] = "trackio"
    _run: Any

    def start(self, run: TrackedRun) -> str:
        import trackio

        name = run.id or f"{run.name}-{uuid4().hex[:6]}"
        with redirect_stdout(sys.stderr):  # standard output is the command's own
            self._run = trackio.init(
                run.project, name=name, config=dict(run.recipe), resume="allow" if run.id else "never", embed=False
            )
        logger.info("trackio: run %s; look at it with: trackio show --project %s", name, run.project)
        return name

    def log_metrics(self, phase: str, step: int, metrics: Mapping[str, float], time_s: float) -> None:
        self._run.log({f"{phase}/{name}": value for name, value in metrics.items()}, step=step)

    def log_samples(self, phase: str, step: int, samples: Sequence[Sample]) -> None:
        import trackio

        shown = {
            f"{phase}/sample_{number}": trackio.Image(sample.image, caption=sample.caption)
            for number, sample in enumerate(samples, start=1)
        }
        self._run.log(shown, step=step)

    def attach(self, file: Path) -> None:
        self._run.log_artifact(str(file), name=f"{self._run.name}-{file.stem}", type="report")

    def finish(self, failed: bool) -> None:
        with redirect_stdout(sys.stderr):
            self._run.finish()
