"""A run of real episodes on the embedded web, for judges to look at.

A third of them is the oracle's, a third that of an oracle that errs and may give up, and a third is chance.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sites import random_click, random_line

from webdojo.agent.openwebrl import OpenWebRLConfig, OpenWebRLHarness
from webdojo.agent.script import Script, ScriptStep
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.envs.dojo import Dojo
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.policy.scripted import ScriptedActor
from webdojo.progress import progress
from webdojo.recipe import dump_recipe, load_recipe
from webdojo.reward.gate import Scorer
from webdojo.reward.judges.deepshop import PARTS
from webdojo.reward.rules import Rules
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import run_episode
from webdojo.rollout.groups import run_each
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.kinds import KINDS
from webdojo.sites.oracle import Oracle
from webdojo.sites.taskgen import make_tasks
from webdojo.store.run import RunStore
from webdojo.tasks.rubric import RUBRIC
from webdojo.types import Sampling, Task, ToolCall, Trajectory

FACTS = range(2, 9)
"""Facts of a task, each number as often as the others."""
VIEWPORT_PX = (1280, 1000)
"""OpenWebRL's."""
MOST_STEPS = 40
SESSIONS = 4
WRONG_TURNS, GIVES_UP = 0.2, 0.06
"""Chances at each step of the oracle that errs: of a wrong turn, from which it comes back, and of claiming the end."""
CLICKS = (2, 12)
"""Least and most clicks of the agent that acts by chance."""


@dataclass(frozen=True)
class Said:
    """A turn."""

    think: str
    calls: Sequence[ToolCall]


def done(answer: str) -> Said:
    return Said("That is all.", [ToolCall(name="done", arguments={"answer": answer})])


class ErringOracle:
    """Takes wrong turns, and at some time may give up and claim that all is done."""

    def __init__(self, task: Task, seed: int) -> None:
        self._oracle = Oracle(task, noise=WRONG_TURNS, seed=seed)
        self._rng = random.Random(f"gives up {task.id} {seed}")

    async def step(self, session: BrowserSession) -> ScriptStep:
        if self._rng.random() < GIVES_UP:
            return done("done")
        return await self._oracle.step(session)


class Chance:
    """Clicks at random, then answers with a line of the page."""

    def __init__(self, task: Task, seed: int) -> None:
        self._rng = random.Random(f"chance {task.id} {seed}")
        self._left = self._rng.randint(*CLICKS)

    async def step(self, session: BrowserSession) -> ScriptStep:
        if not self._left:
            return done(await random_line(session, self._rng))
        self._left -= 1
        return Said("I try this.", [await random_click(session, self._rng)])


AGENTS: dict[str, Callable[[Task, int], Script]] = {
    "oracle": lambda task, seed: Oracle(task),
    "erring_oracle": ErringOracle,
    "chance": Chance,
}
"""They take turns, a task each; the id of an episode begins with the name."""


def agent_of(trajectory: Trajectory) -> str:
    return trajectory.id.partition(":")[0]


def make_run(folder: Path, n: int, seed: int) -> None:
    """Store one episode of each of `n` tasks, with the rewards of the rules."""
    tasks = make_tasks(list(KINDS), range(HELDOUT_SEED, HELDOUT_SEED + 40), n, seed, FACTS)
    asyncio.run(_fill(folder, tasks, seed))


def with_rubric(trajectory: Trajectory) -> Trajectory:
    """The episode as judges read it: the facts of its task are the rubric of WebGym's judge and, the first three of
    them, the parts of DeepShop's query."""
    task = trajectory.task
    facts = task.metadata["rubric"]
    evaluator = {RUBRIC: facts, **dict(zip(PARTS, facts, strict=False))}
    return trajectory.model_copy(update={"task": task.model_copy(update={"evaluator": evaluator})})


async def _fill(folder: Path, tasks: list[Task], seed: int) -> None:
    recipe = load_recipe("quickstart", [f"browser.viewport_px={list(VIEWPORT_PX)}", f"seed={seed}"])
    harness = OpenWebRLHarness(OpenWebRLConfig(tool_schemas="signature"), Processor.load(model_folder("tiny")))
    agents = {id(task): list(AGENTS)[number % len(AGENTS)] for number, task in enumerate(tasks)}
    with (
        RunStore.create(folder, dump_recipe(recipe), {"seed": seed}) as store,
        progress("episodes", len(tasks)) as bar,
    ):
        scorer = Scorer(Rules(), store.images)
        async with Dojo() as env, BrowserPool(recipe.browser, store.images, dict(env.hosts)) as pool:

            async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
                agent = agents[id(task)]
                trajectory = await run_episode(
                    task,
                    env=env,
                    pool=pool,
                    harness=harness,
                    actor=ScriptedActor(harness, lambda task: AGENTS[agent](task, seed)),
                    config=RolloutConfig(),
                    sampling=Sampling(max_tokens=2048),
                    max_steps=MOST_STEPS,
                    group=group,
                    trajectory_id=f"{agent}:{trajectory_id}",
                )
                await scorer.score(trajectory)
                bar.advance()
                return trajectory

            for trajectory in await run_each(run, tasks, SESSIONS):
                store.add_trajectory(trajectory, "rl", 1)
