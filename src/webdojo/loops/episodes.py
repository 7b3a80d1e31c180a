"""The episodes of a run: in one environment, with one pool of browsers, one harness, one reward and one store.

An `EpisodeRunner` runs, scores and saves episodes for every phase of a run. Invariants: an episode is in the store
before anyone counts it, under its phase and iteration; a web, an engine or a reward that fails again and again ends the
run with an error instead of looking like an agent that fails.
"""

from __future__ import annotations

import logging
import time
from asyncio import to_thread
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from webdojo.agent.harness import Harness
from webdojo.browser.interface import Pool, Session
from webdojo.browser.network.blocklist import Blocklist
from webdojo.envs.env import Environment
from webdojo.errors import BrowserError, EngineError, Failure, RewardError, WebdojoError
from webdojo.loops.browsers import open_browsers
from webdojo.policy.model.processor import Processor
from webdojo.progress import Progress
from webdojo.recipe import Recipe
from webdojo.reward.reward import Scorer
from webdojo.rollout.episode import Actor, run_episode
from webdojo.rollout.groups import RunEpisode, run_each
from webdojo.rollout.sleep_clock import SleepClock
from webdojo.store.run import RunStore
from webdojo.tasks.config import TasksConfig
from webdojo.types import Sampling, Task, Termination, Trajectory

FAILURES_IN_A_ROW = 8
"""Where so many episodes, or as many as run at once, all fail for no fault of the agent, something is dead."""
ATTEMPTS = 3
"""How often an episode may run that loses its browser or its engine."""
MAX_INVALID = 1 / 3
"""A larger share of invalid episodes leaves nothing worth measuring."""

logger = logging.getLogger(__name__)

Horizon = Callable[[int], int]
"""Returns how many turns a task of a difficulty may take (`config.HorizonSection.horizon`)."""

RunAll = Callable[[RunEpisode, Sequence[Task]], Awaitable[list[Trajectory]]]
"""Runs an episode of each task, at most as many at once as there is room for."""


class Stored(NamedTuple):
    """What the store has where each task is to have one episode."""

    episodes: list[Trajectory]
    """The valid episodes."""
    left: list[Task]
    """The tasks that have none."""


@dataclass
class EpisodeRunner:
    """The parts that every episode of a run shares."""

    recipe: Recipe
    store: RunStore
    env: Environment
    pool: Pool[Session]
    harness: Harness
    scorer: Scorer
    blocklist: Blocklist | None = None
    """The web sites that keep failing."""
    _failed: defaultdict[str, list[Trajectory]] = field(default_factory=lambda: defaultdict(list))
    """By phase, the last episodes that failed for no fault of the agent, with no valid one among them."""

    @property
    def places(self) -> int:
        """How many browser sessions there may be at once, as far as it is known now."""
        return self.pool.places

    def blocked(self) -> Container[str]:
        """The hosts whose tasks are passed over now."""
        return self.blocklist.blocked() if self.blocklist is not None else ()

    async def rollout(
        self,
        task: Task,
        group: str,
        trajectory_id: str,
        *,
        actor: Actor[Session],
        sampling: Sampling,
        max_steps: int,
        seed: str = "",
        clock: SleepClock | None = None,
    ) -> Trajectory:
        """Run one episode, and up to `ATTEMPTS` times in all where it loses its browser or its engine.

        Args:
            seed: the seed of what the environment draws for the episode; empty takes the trajectory's id.
            clock: as in `run_episode`.
        """
        cut: list[str] = []
        while True:
            trajectory = await run_episode(
                task,
                env=self.env,
                pool=self.pool,
                harness=self.harness,
                actor=actor,
                config=self.recipe.rollout,
                sampling=sampling,
                max_steps=max_steps,
                seed=f"{self.recipe.seed}/{seed or trajectory_id}",
                group=group,
                trajectory_id=trajectory_id,
                clock=clock,
            )
            lost = trajectory.failure != "" and Failure(trajectory.failure).is_loss
            if not lost or len(cut) + 1 == ATTEMPTS:
                trajectory.cut = cut
                return trajectory
            cut.append(trajectory.failure)
            logger.info("episode %s was cut (%s) and runs again", trajectory.id, trajectory.failure)

    async def score(self, trajectory: Trajectory) -> None:
        """Give an episode its reward."""
        began = time.perf_counter()
        await self.scorer.score(trajectory)
        trajectory.seconds["reward"] = time.perf_counter() - began

    async def save(self, trajectory: Trajectory, phase: str, iteration: int) -> None:
        """Store an episode that has its reward.

        Args:
            iteration: the one in which the episode began.

        Raises:
            EngineError, BrowserError, RewardError: `FAILURES_IN_A_ROW` episodes of the phase, one after the other,
                failed for no fault of the agent.
        """
        began = time.perf_counter()
        await to_thread(self.store.add_trajectory, trajectory, phase, iteration)
        # Nobody can store how long storing takes: this stays in the memory of the iteration.
        trajectory.seconds["store"] = time.perf_counter() - began
        if self.blocklist is not None:
            self.blocklist.note(trajectory)
        failed = self._failed[phase]
        failed.append(trajectory)
        if _is_valid(trajectory):
            failed.clear()
        if len(failed) >= max(FAILURES_IN_A_ROW, self.recipe.rollout.concurrency):
            raise _infra_error(failed, f"{len(failed)} episodes one after the other in phase {phase!r}")

    async def run_tasks(
        self,
        tasks: Sequence[Task],
        actor: Actor[Session],
        phase: str,
        iteration: int,
        sampling: Sampling,
        horizon: Horizon,
        bar: Progress,
        run_all: RunAll | None = None,
        stored: Stored | None = None,
        clock: SleepClock | None = None,
    ) -> list[Trajectory]:
        """One episode of each task: those of this phase and iteration that are stored, and the others, which run now.

        Args:
            run_all: where they run; by default nothing else runs meanwhile, and `rollout.concurrency` run at once.
            stored: what `stored` returned a moment ago; None calls it.
            clock: as in `run_episode`.

        Raises:
            EngineError, BrowserError, RewardError: more than `MAX_INVALID` of them failed for no fault of the agent.
        """
        stored = stored or self.stored(tasks, phase, iteration)
        bar.advance(len(stored.episodes))
        begun: Counter[str] = Counter()
        self._failed[phase].clear()

        async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
            begun[task.id] += 1
            trajectory = await self.rollout(
                task,
                group,
                trajectory_id,
                actor=actor,
                sampling=sampling,
                max_steps=horizon(task.difficulty),
                # Ids are new each time, but every evaluation of the recipe meets a task with the same perturbations.
                seed=f"{task.id}/{begun[task.id]}",
                clock=clock,
            )
            await self.score(trajectory)
            await self.save(trajectory, phase, iteration)
            bar.advance(1)
            return trajectory

        if run_all is None:
            run_all = partial(run_each, concurrency=self.recipe.rollout.concurrency)
        done = [*stored.episodes, *await run_all(run, stored.left)]
        invalid = [trajectory for trajectory in done if not _is_valid(trajectory)]
        if len(invalid) > MAX_INVALID * len(done):
            raise _infra_error(invalid, f"{len(invalid)} of {len(done)} episodes of phase {phase!r}")
        return done

    def stored(self, tasks: Sequence[Task], phase: str, iteration: int) -> Stored:
        """What the store has of a phase and iteration, after it has forgotten episodes whose screenshots are lost."""
        open_tasks = Counter(task.id for task in tasks)
        found = Stored([], [])
        for episode in self.store.trajectories(phase, iteration):
            if _is_valid(episode) and open_tasks[episode.task.id]:
                if not self.store.has_screenshots(episode):
                    self.store.discard_broken(episode)
                    continue
                open_tasks[episode.task.id] -= 1
                found.episodes.append(episode)
        by_id = {task.id: task for task in tasks}
        found.left.extend(by_id[id] for id in open_tasks.elements())
        return found


def _is_valid(trajectory: Trajectory) -> bool:
    return trajectory.reward is not None and trajectory.reward.valid


def _infra_error(failed: Sequence[Trajectory], which: str) -> WebdojoError:
    """The error that tells the user which of web, engine and reward failed the episodes."""
    last = failed[-1]
    kind: type[WebdojoError] = EngineError if last.termination is Termination.ABORTED else BrowserError
    why = f"{last.termination}: {last.error}"
    if not last.termination.is_infra and last.reward is not None:
        kind, why = RewardError, last.reward.reason
    return kind(
        f"{which} failed for no fault of the agent, the last one by {why}; "
        "remove the cause; a run then goes on with --resume, which runs them again"
    )


@asynccontextmanager
async def open_episodes(recipe: Recipe, store: RunStore, processor: Processor) -> AsyncIterator[EpisodeRunner]:
    """Start the environment and browsers of a run, and stop them in every case.

    Raises:
        ConfigError: the environment has no verdict of its own and the recipe names no other reward.
    """
    env = recipe.env
    scorer = Scorer(recipe.reward.resolved(env.reward, env.name), store.images)
    with _blocklist(recipe.tasks) as blocklist:
        async with env, open_browsers(recipe, store.images) as pool:
            yield EpisodeRunner(recipe, store, env, pool, recipe.harness.build(processor), scorer, blocklist)


@contextmanager
def _blocklist(config: TasksConfig) -> Iterator[Blocklist | None]:
    """The blocklist that a recipe names, if it names one."""
    if not config.blocklist:
        yield None
        return
    with closing(Blocklist(Path(config.blocklist))) as blocklist:
        yield blocklist
