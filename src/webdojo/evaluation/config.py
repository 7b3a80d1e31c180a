"""Options of evaluation: the recipe's `evaluate` section."""

from __future__ import annotations

from pydantic import Field

from webdojo.rollout.config import HorizonSection
from webdojo.types import Sampling


class EvaluateConfig(HorizonSection):
    max_steps: int = Field(default=30, ge=1)
    """Turns before an episode ends unfinished."""
    tasks: int = Field(default=200, ge=1)
    """Held-out tasks, the same for every policy of a run."""
    every: int = Field(default=0, ge=0)
    """Iterations between evaluations during online training, whose episodes share the pool (`loops/evaluations.py`); 0
    evaluates before and after training only."""
    sampling: Sampling = Sampling(temperature=0.6, top_p=0.95, top_k=20, max_tokens=1024)
