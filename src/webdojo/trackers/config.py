"""The recipe's `tracking` section."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from webdojo.config import Section
from webdojo.errors import Missing
from webdojo.trackers.registry import TRACKERS


class TrackingConfig(Section):
    report_to: list[str] = []
    """Trackers that get the recipe, the metrics, sample episodes and the report, beside TensorBoard: `wandb`, `mlflow`,
    `trackio`, or one of your own."""
    project: str = Field(default="webdojo", min_length=1)
    """The tracker's project; MLflow calls it an experiment."""
    run_name: str = ""
    """The run's name there; empty is that of its folder."""

    @field_validator("report_to", mode="before")
    @classmethod
    def _one_or_many(cls, given: Any) -> Any:
        return [given] if isinstance(given, str) else given

    @field_validator("report_to")
    @classmethod
    def _there(cls, names: list[str]) -> list[str]:
        for name in names:
            TRACKERS.get(name)
        return names

    def missing(self) -> list[str]:
        """What has to be installed first."""
        found: list[str] = []
        for name in self.report_to:
            try:
                TRACKERS.get(name).check_setup()
            except Missing as error:
                found += error.things
        return found
