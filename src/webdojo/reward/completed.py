"""The verdict of whoever did the task."""

from __future__ import annotations

from webdojo.reward.function import RewardFunction
from webdojo.types import ImageSource, Reward, Task, Trajectory


class Completed(RewardFunction):
    """1 for every episode that its agent has ended by `done`: for people who demonstrate what nobody else can judge."""

    name: str = "completed"

    def needs_answer(self, task: Task) -> bool:
        return False

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        return Reward(value=1.0, success=True, reason="ended by whoever did it")
