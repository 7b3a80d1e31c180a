"""Tasks in proportion to how often their groups teach: those in which some members succeed and others fail."""

from __future__ import annotations

from webdojo.tasks.samplers.outcomes import OutcomeSampler
from webdojo.tasks.samplers.sampler import Stratum


class MixedOutcomes(OutcomeSampler):
    """Draws tasks in proportion to the share of their groups whose members do not all have the same reward."""

    name: str = "mixed_outcomes"

    def weight(self, stratum: Stratum) -> float:
        return self.rate([float(max(group) > min(group)) for group in stratum.groups[-self.window :]])
