"""The report of a curation as a page: what was left out, why, and what that looks like."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from webdojo.errors import StoreError
from webdojo.loops.collection.curate import Example, Reason, Report
from webdojo.loops.collection.dataset import Dataset, open_dataset
from webdojo.redact import redact
from webdojo.types import ImageSource, Trajectory
from webdojo.view.film import Frame, film
from webdojo.view.page import write_page

KEPT = 5
"""Trajectories of the new data set that are shown."""
MOST_SITES = 20


class Shown(NamedTuple):
    """One example, with its pictures."""

    why: str
    trajectory: Trajectory
    frames: list[Frame]
    images: ImageSource


def write_curation(report: Report, dataset: Path, path: Path) -> Path:
    """Write the report of the curation that has made a data set to `path`, and return that.

    Of data sets that are not there any more there are no pictures.
    """
    with ExitStack() as stack:
        sources: dict[str, Dataset | None] = {}

        def source(name: str) -> Dataset | None:
            if name not in sources:
                try:
                    sources[name] = stack.enter_context(open_dataset(Path(name)))
                except StoreError:
                    sources[name] = None
            return sources[name]

        def shown(reason: Reason) -> list[Shown]:
            found = ((each, source(each.dataset)) for each in reason.examples)
            return [_shown(each, there) for each, there in found if there is not None]

        new = stack.enter_context(open_dataset(dataset))
        kept = [redact(each, each.secrets) for each in map(new.store.trajectory, new.manifest.trajectories[:KEPT])]
        return write_page(
            path,
            "curation.html.j2",
            name=dataset.resolve().name,
            report=report,
            dropped=[(name, reason, shown(reason)) for name, reason in report.dropped.items()],
            steps=[(name, reason, shown(reason)) for name, reason in report.dropped_steps.items()],
            kept=[Shown("", each, film(each), new.images) for each in kept],
            sites=list(report.by_website.items())[:MOST_SITES],
        )


def _shown(example: Example, source: Dataset) -> Shown:
    trajectory = source.store.trajectory(example.id)
    trajectory = redact(trajectory, trajectory.secrets)
    if example.step is None:
        return Shown(example.why, trajectory, film(trajectory), source.images)
    whole = film(trajectory, most=len(trajectory.turns))
    return Shown(example.why, trajectory, whole[example.step : example.step + 2], source.images)
