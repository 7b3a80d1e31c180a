"""The reward `webarena_verified`: WebArena-Verified's own judgement of an answer and of the requests of an episode.

The library `webarena-verified` judges; it holds the tasks, by number, and asks no language model and no site. It fixes
the versions of many libraries, pydantic among them, so it may have to be installed in an environment of its own. An
answer is its JSON object (`task_type`, `status`, `retrieved_data`, `error_details`), which the agent must be told.
"""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Any

from webdojo.browser.interface import Session
from webdojo.errors import RewardError, TaskError
from webdojo.reward.function import RewardFunction
from webdojo.types import ImageSource, Reward, Task, Trajectory


class WebArenaVerified(RewardFunction):
    """1 where WebArena-Verified finds that a task was done; needs `browser.record_har`."""

    name: str = "webarena_verified"

    def check(self, task: Task) -> None:
        if task.evaluator.get("type") != "webarena_verified":
            raise TaskError(f"task {task.id!r} is none of WebArena-Verified: name another reward")
        if find_spec("webarena_verified") is None:
            raise TaskError(
                "the reward 'webarena_verified' needs the library of that name, which is not installed: "
                "pip install 'webdojo[webarena-verified]'"
            )

    async def evidence(self, trajectory: Trajectory, session: Session) -> dict[str, Any]:
        return {"har": await session.har()}

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        self.check(trajectory.task)
        if not trajectory.evidence.get("har"):
            raise RewardError("the episode has no record of its requests, which its session keeps")
        return await asyncio.to_thread(_judge, trajectory)


def _judge(trajectory: Trajectory) -> Reward:
    from webarena_verified.api import WebArenaVerified as Library
    from webarena_verified.types.config import EnvironmentConfig, WebArenaVerifiedConfig
    from webarena_verified.types.eval import EvalStatus

    evaluator = trajectory.task.evaluator
    sites = {placeholder: EnvironmentConfig(urls=[address]) for placeholder, address in evaluator["sites"].items()}
    result = Library(config=WebArenaVerifiedConfig(environments=sites)).evaluate_task(
        task_id=int(evaluator["task_id"]), agent_response=trajectory.answer, network_trace=trajectory.evidence["har"]
    )
    if result.status == EvalStatus.ERROR:
        raise RewardError(f"webarena-verified failed: {result.error_msg}")
    success = result.status == EvalStatus.SUCCESS
    return Reward(
        value=float(success),
        success=success,
        reason=f"webarena-verified: {result.status}",
        facts=[each.status == EvalStatus.SUCCESS for each in result.evaluators_results],
        fact_names=[each.evaluator_name for each in result.evaluators_results],
    )
