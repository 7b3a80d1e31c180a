"""What is compared of two data sets: everything but the clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webdojo.loops.collection.dataset import open_dataset
from webdojo.types import Trajectory

CLOCK = {"began": True, "seconds": True, "cut": True}
TURN_CLOCK: Any = {"began": True, "seconds": True, "response": {"seconds"}}


def content(folder: Path) -> list[dict[str, Any]]:
    """The trajectories of a data set, whose screenshots are there."""
    with open_dataset(folder) as dataset:
        trajectories = list(dataset.trajectories())
        for trajectory in trajectories:
            assert dataset.store.has_screenshots(trajectory)
    return [timeless(trajectory) for trajectory in trajectories]


def timeless(trajectory: Trajectory) -> dict[str, Any]:
    return trajectory.model_dump(mode="json", exclude={**CLOCK, "turns": {"__all__": TURN_CLOCK}})
