"""A ratio of difficulties, whatever ratio the list of tasks has."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated

from pydantic import Field

from webdojo.tasks.samplers.sampler import Sampler, Stratum
from webdojo.types import Task


class DifficultyRatio(Sampler):
    """Draws difficulties in a ratio (WebGym §5.3), over the whole run; `train.stages` changes it on the way."""

    name: str = "difficulty_ratio"
    ratio: dict[Annotated[int, Field(ge=1)], Annotated[float, Field(gt=0)]] = Field(default={})
    """By difficulty, such as `{1: 25, 2: 25, 3: 25, 4: 5, 5: 5, 6: 5}`; 1 where not named."""

    def key(self, task: Task) -> Hashable:
        return task.difficulty

    def weight(self, stratum: Stratum) -> float:
        return self.ratio.get(stratum.tasks[0].difficulty, 1.0) / len(stratum.tasks)
