"""The verdict on tasks of the embedded web, from the final state of its sites."""

from __future__ import annotations

from typing import ClassVar

from webdojo.errors import TaskError
from webdojo.reward.function import RewardFunction, invalid
from webdojo.types import ImageSource, Reward, Task, Trajectory


class Rules(RewardFunction):
    """1 where the evaluator of a task of the embedded sites finds its goal reached in the final state, else 0.

    An episode that failed after a perturbation that no agent can pass is invalid; what can be passed is the agent's own
    affair. `Reward.facts` says how far an episode came, however it ended; it earns nothing.
    """

    name: str = "rules"

    scores_unfinished: ClassVar[bool] = True

    def needs_answer(self, task: Task) -> bool:
        return False  # a fact about the answer says so itself

    def check(self, task: Task) -> None:
        if not task.evaluator or "type" in task.evaluator:
            has = f"an evaluator of type {task.evaluator['type']!r}" if task.evaluator else "no evaluator"
            raise TaskError(f"task {task.id!r} has {has}, so rules cannot score it: name another reward")

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        from webdojo.sites.perturbations.schedule import permanent_failure
        from webdojo.sites.verdict import evaluate  # it brings every kind of site, and a recipe names its reward

        self.check(trajectory.task)
        url = trajectory.final.url if trajectory.final is not None else ""
        reward = evaluate(trajectory.task, trajectory.answer, url, trajectory.state).reward(trajectory)
        if not reward.success and (cause := permanent_failure(trajectory.state)):
            return invalid("web_failed", f"the web failed: {cause}")
        return reward
