"""More tasks on which success changes, for better or worse (Matiisen et al., teacher-student curriculum learning)."""

from __future__ import annotations

from pydantic import Field

from webdojo.tasks.samplers.outcomes import OutcomeSampler, successes
from webdojo.tasks.samplers.sampler import Stratum


class LearningProgress(OutcomeSampler):
    """Draws tasks in proportion to how far their success rate has moved between the older and the newer half of their
    last groups; those with too few groups as if it had moved all the way, so that each stratum is looked at first."""

    name: str = "learning_progress"
    window: int = Field(default=16, ge=2)
    """The groups of a stratum that count: the last ones, half of them older and half newer."""
    floor: float = Field(default=0.05, gt=0, le=1)
    """The progress that every stratum is taken to make at least, in success rate."""

    def weight(self, stratum: Stratum) -> float:
        last = stratum.groups[-self.window :]
        if len(last) < self.window:
            return 1.0
        older, newer = last[: self.window // 2], last[self.window // 2 :]
        return max(self.floor, abs(self.rate(successes(newer)) - self.rate(successes(older))))
