"""One attempt at each task: what an agent does is kept, the rest is told, and nothing is attempted twice."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.policy.chat.endpoint import Endpoint, replying
from webdojo.errors import TaskError
from webdojo.loops.construction.attempt import SOLVED_ON, attempt
from webdojo.loops.construction.writer import LeftOut
from webdojo.types import Task

SHOP = "http://shop-0.localhost/"
MINE = """
from webdojo.errors import TaskError
from webdojo.reward.function import RewardFunction
from webdojo.types import Reward


class Mine(RewardFunction):
    def check(self, task):
        if "unfit" in task.instruction:
            raise TaskError("nobody could judge that")

    async def score(self, trajectory, images):
        done = trajectory.answer == "yes"
        return Reward(value=float(done), success=done, reason="" if done else "it is not so")
"""


def agent(messages: list[dict[str, Any]]) -> str:
    """Does tasks about mugs."""
    answer = "yes" if "mug" in json.dumps(messages) else "no"
    return f'<think>so</think><tool_call>{{"name": "done", "arguments": {{"answer": "{answer}"}}}}</tool_call>'


def recipe(folder: Path, endpoint: Endpoint) -> str:
    (folder / "mine.py").write_text(MINE)
    (folder / "attempts.yaml").write_text(f"""
base: openwebrl-dojo
name: attempts
engine: {{name: chat, base_url: "{endpoint.url}", model: m}}
harness: {{tool_schemas: signature}}
browser: {{viewport_px: [320, 320]}}
reward: {{name: "{folder}/mine.py:Mine"}}
evaluate: {{max_steps: 2}}
""")
    return str(folder / "attempts.yaml")


def task(id: str, instruction: str, **metadata: Any) -> Task:
    return Task(
        id=id, instruction=instruction, start_url=SHOP, website="shop-0.localhost", kind="shop", metadata=metadata
    )


def test_what_the_agent_does_is_kept_with_the_day(tmp_path: Path) -> None:
    tasks = [task("a", "Find a mug.", x=1), task("b", "Find a hat."), task("c", "Find two mugs.")]
    with Endpoint(default=replying(agent)) as endpoint:
        name, left_out = recipe(tmp_path, endpoint), LeftOut()
        kept = attempt(name, tasks[:2], tmp_path, left_out)
        sent = len(endpoint.bodies)
        assert [each.id for each in kept] == ["a"]
        assert kept[0].metadata["x"] == 1
        assert date.fromisoformat(kept[0].metadata[SOLVED_ON]) <= date.today()
        assert kept[0].model_copy(update={"metadata": {"x": 1}}) == tasks[0]
        assert left_out.report() == {"attempt: not done": {"count": 1, "samples": ["b: it is not so"]}}

        again = attempt(name, tasks, tmp_path, LeftOut())
        assert [each.id for each in again] == ["a", "c"]
        assert len(endpoint.bodies) == sent + 1, "what was attempted was attempted again"


def test_what_the_reward_cannot_score_is_said_before_anything_runs(tmp_path: Path) -> None:
    with Endpoint(default=replying(agent)) as endpoint:
        with pytest.raises(TaskError, match="nobody could judge that"):
            attempt(recipe(tmp_path, endpoint), [task("a", "An unfit task.")], tmp_path, LeftOut())
        assert endpoint.bodies == []
