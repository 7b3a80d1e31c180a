"""No more tasks of a site than a cap, however many of them the list has."""

from __future__ import annotations

from collections.abc import Hashable

from pydantic import Field

from webdojo.tasks.samplers.sampler import Sampler, Stratum
from webdojo.types import Task


class SiteCap(Sampler):
    """Draws the tasks of a web site with more than `most` of them as often as if it had `most`."""

    name: str = "site_cap"
    most: int = Field(default=50, ge=1)
    """Tasks of a web site for which it is drawn, on average over a pass through the tasks."""

    def key(self, task: Task) -> Hashable:
        return task.website

    def weight(self, stratum: Stratum) -> float:
        return min(1.0, self.most / len(stratum.tasks))
