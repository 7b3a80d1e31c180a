"""The verdict of the embedded sites' own rules, on the final state of the episode's session.

An episode that failed after a perturbation that no agent can pass is invalid; what can be passed is the agent's own
affair. `Reward.facts` says how far an episode came, however it ended; it earns nothing.
"""

from __future__ import annotations

from typing import ClassVar

from webdojo.errors import TaskError
from webdojo.reward.reward import RewardFunction, unfinished
from webdojo.sites.perturbations.schedule import permanent_failure
from webdojo.sites.verdict import evaluate
from webdojo.types import ImageSource, Reward, Task, Trajectory


class Rules(RewardFunction):
    """1 where the evaluator of the task finds its goal reached, else 0."""

    name: str = "rules"

    scores_unfinished: ClassVar[bool] = True

    def check(self, task: Task) -> None:
        if not task.evaluator or "type" in task.evaluator:
            has = f"an evaluator of type {task.evaluator['type']!r}" if task.evaluator else "no evaluator"
            raise TaskError(f"task {task.id!r} has {has}, so rules cannot score it: name another reward")

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        self.check(trajectory.task)
        url = trajectory.final.url if trajectory.final is not None else ""
        verdict = evaluate(trajectory.task, trajectory.answer, url, trajectory.state)
        success = verdict.success and not unfinished(trajectory)
        if not success and (cause := permanent_failure(trajectory.state)):
            return Reward(value=0.0, success=False, valid=False, reason=f"the web failed: {cause}")
        names = [fact["says"] for fact in trajectory.task.evaluator["facts"]]
        return Reward(
            value=float(success), success=success, reason=verdict.reason, facts=list(verdict.facts), fact_names=names
        )
