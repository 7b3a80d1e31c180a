"""More tasks of the web sites on which the policy seldom succeeds (OpenWebVoyager §3.5, difficulty-guided sampling)."""

from __future__ import annotations

from pydantic import Field

from webdojo.tasks.samplers.outcomes import OutcomeSampler, Property, successes
from webdojo.tasks.samplers.sampler import Stratum


class DifficultyGuided(OutcomeSampler):
    """Draws the tasks of a web site more often while few of its groups have a member that succeeds."""

    name: str = "difficulty_guided"
    by: list[Property] = Field(default=["website"], min_length=1)
    """As of `success_window`."""
    below: float = Field(default=0.4, ge=0, le=1)
    """Share of groups with a success (S@G) below which a web site counts as difficult; the paper's 40 % of S@5."""
    times: float = Field(default=3.0, ge=1)
    """How many times as often tasks of difficult web sites are drawn."""

    def weight(self, stratum: Stratum) -> float:
        solved = [max(successes([group])) for group in stratum.groups[-self.window :]]
        return self.times if self.rate(solved) < self.below else 1.0
