"""The trackers by name."""

from __future__ import annotations

from webdojo.plugins import Registry, derived_from
from webdojo.trackers.mlflow import MLflow
from webdojo.trackers.tracker import Tracker
from webdojo.trackers.trackio import Trackio
from webdojo.trackers.wandb import Wandb

TRACKERS: Registry[type[Tracker]] = Registry(
    "webdojo.trackers", "tracker", *derived_from(Tracker), {"wandb": Wandb, "mlflow": MLflow, "trackio": Trackio}
)
"""What `tracking.report_to` of a recipe may name."""
