"""Fewer tasks that are always or never solved, and now and then a look whether that still holds."""

from __future__ import annotations

from pydantic import Field

from webdojo.tasks.samplers.outcomes import OutcomeSampler, successes
from webdojo.tasks.samplers.sampler import Stratum


class SuccessWindow(OutcomeSampler):
    """Draws tasks whose success rate lies in a window, and others seldom."""

    name: str = "success_window"
    low: float = Field(default=0.2, ge=0, le=1)
    """Success rate below which tasks count as never solved."""
    high: float = Field(default=0.8, ge=0, le=1)
    """Success rate above which they count as always solved."""
    floor: float = Field(default=0.1, gt=0, le=1)
    """How often these are drawn beside the others, so that it is seen when they change."""

    def weight(self, stratum: Stratum) -> float:
        rate = self.rate(successes(stratum.groups[-self.window :]))
        return 1.0 if self.low <= rate <= self.high else self.floor
