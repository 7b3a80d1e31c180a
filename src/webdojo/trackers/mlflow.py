"""MLflow: `MLFLOW_TRACKING_URI` says where to; without it, a local store."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from webdojo.trackers.tracker import Sample, TrackedRun, Tracker

PARAMS_AT_ONCE = 100
PARAM_CHARACTERS = 500
"""Bounds of MLflow's API."""

logger = logging.getLogger("webdojo")


class MLflow(Tracker):
    """A run of the experiment that the project names."""

    package: ClassVar[str] = "mlflow"
    _client: Any
    _id: str

    def start(self, run: TrackedRun) -> str:
        import mlflow
        from mlflow.entities import Param

        self._client = mlflow.MlflowClient()
        if run.id:
            self._id = run.id
            self._client.update_run(run.id, status="RUNNING")
        else:
            experiment = mlflow.set_experiment(run.project)
            self._id = self._client.create_run(experiment.experiment_id, run_name=run.name).info.run_id
            params = [Param(key, value[:PARAM_CHARACTERS]) for key, value in _flat(run.recipe)]
            for first in range(0, len(params), PARAMS_AT_ONCE):
                self._client.log_batch(self._id, params=params[first : first + PARAMS_AT_ONCE])
        # Parameters can never change, and a resumed run may have other ones.
        self._client.log_text(self._id, json.dumps(run.recipe, indent=2), "recipe.json")
        logger.info("mlflow: run %s at %s", self._id, self._client.tracking_uri)
        return self._id

    def log_metrics(self, phase: str, step: int, metrics: Mapping[str, float], time_s: float) -> None:
        from mlflow.entities import Metric

        at_ms = int(time_s * 1000)
        points = [Metric(_name(f"{phase}/{name}"), value, at_ms, step) for name, value in metrics.items()]
        self._client.log_batch(self._id, metrics=points)

    def log_samples(self, phase: str, step: int, samples: Sequence[Sample]) -> None:
        folder = f"samples/{phase}/{step:04d}"
        for number, sample in enumerate(samples, start=1):
            self._client.log_image(self._id, sample.image, artifact_file=f"{folder}/{number}.png")
        captions = "".join(f"{number}. {sample.caption}\n" for number, sample in enumerate(samples, start=1))
        self._client.log_text(self._id, captions, f"{folder}/captions.txt")

    def attach(self, file: Path) -> None:
        self._client.log_artifact(self._id, str(file))

    def finish(self, failed: bool) -> None:
        self._client.set_terminated(self._id, "FAILED" if failed else "FINISHED")


def _name(metric: str) -> str:
    """A metric's name of characters that MLflow takes."""
    return re.sub(r"[^\w\-. /]", "_", metric)


def _flat(section: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The keys of a recipe, dotted, with their values as text."""
    for key, value in section.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield _name(f"{prefix}{key}"), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
