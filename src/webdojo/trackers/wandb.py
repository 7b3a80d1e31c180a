"""Weights & Biases: its own variables say where to (`WANDB_MODE`, `WANDB_ENTITY`, `WANDB_API_KEY`)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from webdojo.trackers.tracker import Sample, TrackedRun, Tracker

logger = logging.getLogger("webdojo")


class Wandb(Tracker):
    """A run of Weights & Biases, with files under `wandb/` of the run folder."""

    package: ClassVar[str] = "wandb"
    _run: Any

    def __init__(self) -> None:
        self._phases: set[str] = set()

    def start(self, run: TrackedRun) -> str:
        import wandb

        # Without `silent` it asks the terminal for a key that is missing; with it, it raises.
        settings = wandb.Settings(silent=True, console="off")
        wandb.setup(settings=settings)
        self._run = wandb.init(
            project=run.project,
            name=run.name,
            id=run.id or None,
            resume="allow",
            dir=str(run.folder),
            config=dict(run.recipe),
            settings=settings,
        )
        logger.info("wandb: %s", self._run.url or f"offline; send it with: wandb sync {Path(self._run.dir).parent}")
        return str(self._run.id)

    def log_metrics(self, phase: str, step: int, metrics: Mapping[str, float], time_s: float) -> None:
        self._log(phase, step, dict(metrics))

    def log_samples(self, phase: str, step: int, samples: Sequence[Sample]) -> None:
        import wandb

        self._log(phase, step, {"samples": [wandb.Image(each.image, caption=each.caption) for each in samples]})

    def attach(self, file: Path) -> None:
        self._run.save(str(file), base_path=str(file.parent), policy="now")

    def finish(self, failed: bool) -> None:
        self._run.finish(exit_code=int(failed))

    def _log(self, phase: str, step: int, values: dict[str, Any]) -> None:
        """Log what a phase measured over its own steps; W&B's own step only ever grows, over all phases."""
        if phase not in self._phases:
            self._run.define_metric(f"{phase}/step", hidden=True)
            self._run.define_metric(f"{phase}/*", step_metric=f"{phase}/step")
            self._phases.add(phase)
        self._run.log({f"{phase}/{name}": value for name, value in values.items()} | {f"{phase}/step": step})
