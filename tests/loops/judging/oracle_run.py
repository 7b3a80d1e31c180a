"""A run of real episodes on several kinds of sites: the oracle's, which do their tasks, and those of an agent that says
`done` at once, which do not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.codec import SmallCodec
from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.agent.script import Script
from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.dojo import Dojo
from webdojo.policy.scripted import ScriptedActor
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.reward.gate import Scorer
from webdojo.reward.rules import Rules
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.rollout.groups import run_each
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.oracle import Oracle
from webdojo.sites.taskgen import make_tasks
from webdojo.store.run import RunStore
from webdojo.types import Sampling, Task, ToolCall, Trajectory

RECIPE = "quickstart"
KINDS = ["shop", "wiki", "forum", "mail", "travel"]


@dataclass(frozen=True)
class Step:
    think: str
    calls: Sequence[ToolCall]


class Quitter:
    """Says `done` on the first screen."""

    async def step(self, session: Any) -> Step:
        return Step("It is done.", [ToolCall(name="done", arguments={"answer": "It is done."})])


def make_oracle_run(folder: Path, n: int, quitters: int, difficulties: Sequence[int] = (1, 2, 3)) -> None:
    """Store `n` of the oracle's episodes and some of the quitter's, of three iterations of training."""
    asyncio.run(_fill(folder, n, quitters, difficulties))


async def _fill(folder: Path, n: int, quitters: int, difficulties: Sequence[int]) -> None:
    seeds = range(HELDOUT_SEED, HELDOUT_SEED + 40)
    tasks = make_tasks(KINDS, seeds, n + quitters, 4, difficulties)
    harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), SmallCodec())
    env = Dojo(kinds=KINDS)
    number = {id(task): index for index, task in enumerate(tasks)}
    with RunStore.create(folder, dump_recipe(load_recipe(RECIPE)), {"seed": 0}) as store:
        async with env, BrowserPool(BrowserConfig(viewport_px=(800, 640)), store.images, dict(env.hosts)) as pool:
            scorer = Scorer(Rules(), store.images)

            def script(task: Task) -> Script:
                return Oracle(task) if number[id(task)] < n else Quitter()

            async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
                done = await run_episode(
                    task,
                    env=env,
                    pool=pool,
                    harness=harness,
                    actor=ScriptedActor(harness, script),
                    config=RolloutConfig(task_timeout_s=120),
                    sampling=Sampling(max_tokens=2048),
                    max_steps=40,
                    group=group,
                    trajectory_id=f"{task.kind}-{number[id(task)]}",
                )
                await scorer.score(done)
                return done

            for index, done in enumerate(await run_each(run, tasks, concurrency=4)):
                store.add_trajectory(done, "rl", index % 3 + 1)
