"""An application in a real Chromium: its host, its log-in, the oracle that does tasks, and agents that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.envs.apps.notes import installed
from tests.envs.apps.playing import followed, play
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.script import PlanScript
from webdojo.errors import TaskError
from webdojo.store.images import MemoryImages


async def test_the_oracle_does_tasks_and_others_do_not(tmp_path: Path) -> None:
    installed(tmp_path)
    env = Apps(applications=["tests.envs.apps.notes:Notes"], folder=str(tmp_path), train_seeds=1)
    tasks = env.tasks("train", 20, 0)
    write = next(task for task in tasks if task.metadata["template"] == "write")
    other = next(
        task
        for task in tasks
        if task.metadata["template"] == "write" and task.evaluator["facts"] != write.evaluator["facts"]
    )
    read = next(task for task in tasks if task.metadata["template"] == "read")
    async with env, BrowserPool(BrowserConfig(), MemoryImages(), env.hosts) as pool:
        for task in (write, read):
            verdict, near, log = await play(task, env, pool, other)
            assert verdict.success, log
            assert not near[0].success, log
        idle = followed(write, [{"do": "done", "answer": "Done"}])
        assert not (await play(idle, env, pool))[0].success
        both = followed(write, [*write.metadata["plan"][:-1], *other.metadata["plan"]])
        spoiled, _, log = await play(both, env, pool)
        assert "which was not asked for" in spoiled.reason, log
        lost = followed(write, [{"do": "click", "text": "Nowhere"}, *write.metadata["plan"]])
        assert not (await play(lost, env, pool))[0].success


def test_a_task_without_a_plan_has_no_script() -> None:
    task = Apps(applications=["tests.envs.apps.notes:Notes"]).tasks("train", 1, 0)[0]
    with pytest.raises(TaskError, match="has no plan in its metadata"):
        PlanScript(task.model_copy(update={"metadata": {}}))
