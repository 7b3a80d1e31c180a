"""Where episodes happen: one browser pool, one site server, one harness, one store.

An `Arena` runs, scores and stores episodes for every phase of a run. Invariant: an episode is in the
store before anyone counts it, under its phase and iteration.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from webdojo.agent.openwebrl import OpenWebRLHarness
from webdojo.browser.pool import BrowserPool
from webdojo.config import Recipe
from webdojo.policy.processor import Processor
from webdojo.progress import Progress
from webdojo.reward.rules import score
from webdojo.rollout.episode import Actor, run_episode
from webdojo.rollout.groups import RunEpisode, finished_groups
from webdojo.sites.server import SiteServer
from webdojo.store.run import RunStore
from webdojo.types import Sampling, Task, Trajectory


@dataclass
class Arena:
    """The parts that every episode of a run shares."""

    recipe: Recipe
    store: RunStore
    pool: BrowserPool
    server: SiteServer
    harness: OpenWebRLHarness

    def runner(
        self, actor: Actor, phase: str, iteration: int, sampling: Sampling, max_steps: int, bar: Progress
    ) -> RunEpisode:
        """A function that runs one episode of a phase, scores it, stores it and counts it on `bar`."""

        async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
            trajectory = await run_episode(
                task,
                pool=self.pool,
                harness=self.harness,
                actor=actor,
                config=self.recipe.rollout,
                sampling=sampling,
                max_steps=max_steps,
                server=self.server,
                layout=self.recipe.tasks.layout,
                group=group,
                trajectory_id=trajectory_id,
            )
            trajectory.reward = score(trajectory)
            self.store.add_trajectory(trajectory, phase, iteration)
            bar.advance(1)
            return trajectory

        return run

    async def run_tasks(
        self, tasks: Sequence[Task], actor: Actor, phase: str, sampling: Sampling, max_steps: int, bar: Progress
    ) -> list[Trajectory]:
        """One episode of each task; those that the store already has of this phase are not run again."""
        done = self.store.trajectories(phase)
        seen = {trajectory.task.id for trajectory in done}
        bar.advance(len(done))
        groups = finished_groups(
            self.runner(actor, phase, 0, sampling, max_steps, bar),
            iter([task for task in tasks if task.id not in seen]),
            group_size=1,
            concurrency=self.recipe.rollout.concurrency,
        )
        async with aclosing(groups):
            async for group in groups:
                done += group.trajectories
        return done


@asynccontextmanager
async def open_arena(recipe: Recipe, store: RunStore, processor: Processor) -> AsyncIterator[Arena]:
    """Start sites and browser for a run, and stop them in every case."""
    with SiteServer() as server:
        async with BrowserPool(recipe.browser, store.images, server.chromium_args()) as pool:
            yield Arena(recipe, store, pool, server, OpenWebRLHarness(recipe.harness, processor))
