"""The episodes of a run: in one environment, with one pool of browsers, one harness, one reward and one store.

An `EpisodeRunner` runs, scores and stores episodes for every phase of a run. Invariants: an episode is in the store
before anyone counts it, under its phase and iteration; a web, an engine or a reward that fails again and again ends the
run with an error instead of looking like an agent that fails.
"""

from __future__ import annotations

import logging
import time
from asyncio import to_thread
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
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
from webdojo.policy.processor import Processor
from webdojo.progress import Progress
from webdojo.recipe import Recipe
from webdojo.reward.reward import Scorer
from webdojo.rollout.episode import Actor, run_episode
from webdojo.rollout.groups import RunEpisode, finished_groups
from webdojo.rollout.rest import Rest
from webdojo.store.run import RunStore
from webdojo.tasks.config import TasksConfig
from webdojo.types import Sampling, Task, Termination, Trajectory

FAILURES_IN_A_ROW = 8
"""So many episodes, or as many as run at once, that all fail for no fault of the agent: something is dead."""
ATTEMPTS = 3
"""At an episode that loses its browser or its engine."""
MAX_INVALID = 1 / 3
"""A larger share of invalid episodes leaves nothing worth measuring."""

logger = logging.getLogger(__name__)

Horizon = Callable[[int], int]
"""Turns that a task of a difficulty may take (`config.HorizonSection.horizon`)."""

RunAll = Callable[[RunEpisode, Sequence[Task]], Awaitable[list[Trajectory]]]
"""Runs an episode of each task, at most so many at once as there is room for."""


class Stored(NamedTuple):
    """What there is of one episode a task."""

    episodes: list[Trajectory]
    """Valid ones."""
    left: list[Task]
    """Tasks that have none."""


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
    """Takes note of web sites that keep failing."""
    rest: Rest = field(default_factory=Rest)
    """Of the engine that its episodes ask."""

    @property
    def places(self) -> int:
        """Browser sessions that there may be at once, as far as it is known now."""
        return self.pool.places

    def blocked(self) -> Container[str]:
        """The hosts whose tasks are passed over now."""
        return self.blocklist.blocked() if self.blocklist is not None else ()

    def for_phase(
        self,
        actor: Actor[Session],
        phase: str,
        iteration: Callable[[], int],
        sampling: Sampling,
        horizon: Horizon,
        on_episode: Callable[[Trajectory], None] = lambda trajectory: None,
        visit_seed: Callable[[Task, str], str] = lambda task, trajectory_id: trajectory_id,
    ) -> RunEpisode:
        """A function that runs one episode of a phase, scores it, stores it and reports it.

        An episode belongs to the iteration that it begins in. One that loses its browser or its engine runs again, up
        to `ATTEMPTS` times in all. The function raises EngineError or BrowserError where `FAILURES_IN_A_ROW` episodes
        one after the other failed for no fault of the agent.

        Args:
            visit_seed: seed of what the environment draws for an episode, by task and id; by default the id.
        """
        failed: list[Trajectory] = []
        limit = max(FAILURES_IN_A_ROW, self.recipe.rollout.concurrency)

        async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
            begun_in = iteration()
            attempt = partial(
                run_episode,
                task,
                env=self.env,
                pool=self.pool,
                harness=self.harness,
                actor=actor,
                config=self.recipe.rollout,
                sampling=sampling,
                max_steps=horizon(task.difficulty),
                seed=f"{self.recipe.seed}/{visit_seed(task, trajectory_id)}",
                group=group,
                trajectory_id=trajectory_id,
                rest=self.rest,
            )
            trajectory = await _to_its_end(attempt)
            judging = time.perf_counter()
            await self.scorer.score(trajectory)
            storing = time.perf_counter()
            trajectory.seconds["reward"] = storing - judging
            await to_thread(self.store.add_trajectory, trajectory, phase, begun_in)
            # Nobody can store how long storing takes: this stays in the memory of the iteration.
            trajectory.seconds["store"] = time.perf_counter() - storing
            if self.blocklist is not None:
                self.blocklist.note(trajectory)
            on_episode(trajectory)
            if _is_valid(trajectory):
                failed.clear()
            else:
                failed.append(trajectory)
            if len(failed) >= limit:
                raise _infra_error(failed, f"{len(failed)} episodes one after the other in phase {phase!r}")
            return trajectory

        return run

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
    ) -> list[Trajectory]:
        """One episode of each task: those of this phase and iteration that are stored, and the others, which run now.

        Args:
            run_all: where they run; by default nothing else runs meanwhile, and `rollout.concurrency` at once.
            stored: what `stored` told a moment ago; None asks it.

        Raises:
            EngineError, BrowserError: more than `MAX_INVALID` of the episodes failed for no fault of the agent.
        """
        stored = stored or self.stored(tasks, phase, iteration)
        bar.advance(len(stored.episodes))
        begun: Counter[str] = Counter()

        def seed(task: Task, trajectory_id: str) -> str:
            """Every evaluation meets a task with the same perturbations, in every run of the recipe; ids are new."""
            begun[task.id] += 1
            return f"{task.id}/{begun[task.id]}"

        run = self.for_phase(
            actor, phase, lambda: iteration, sampling, horizon, lambda trajectory: bar.advance(1), seed
        )
        done = [*stored.episodes, *await (run_all or self._run_all)(run, stored.left)]
        invalid = [trajectory for trajectory in done if not _is_valid(trajectory)]
        if len(invalid) > MAX_INVALID * len(done):
            raise _infra_error(invalid, f"{len(invalid)} of {len(done)} episodes of phase {phase!r}")
        return done

    def stored(self, tasks: Sequence[Task], phase: str, iteration: int) -> Stored:
        """What the store has of a phase and iteration; episodes whose screenshots are lost are forgotten."""
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

    async def _run_all(self, run: RunEpisode, tasks: Sequence[Task]) -> list[Trajectory]:
        groups = finished_groups(run, iter(tasks), group_size=1, concurrency=self.recipe.rollout.concurrency)
        async with aclosing(groups):
            return [trajectory async for group in groups for trajectory in group.trajectories]


def _is_valid(trajectory: Trajectory) -> bool:
    return trajectory.reward is not None and trajectory.reward.valid


async def _to_its_end(attempt: Callable[[], Awaitable[Trajectory]]) -> Trajectory:
    """An episode, begun anew where what it ran on was lost."""
    cut: list[str] = []
    while True:
        trajectory = await attempt()
        lost = trajectory.failure != "" and Failure(trajectory.failure).is_loss
        if not lost or len(cut) + 1 == ATTEMPTS:
            trajectory.cut = cut
            return trajectory
        cut.append(trajectory.failure)
        logger.info("episode %s was cut (%s) and runs again", trajectory.id, trajectory.failure)


def _infra_error(failed: Sequence[Trajectory], which: str) -> WebdojoError:
    """What to tell the user about episodes that the web, the engine or the reward failed."""
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
    with closing(Blocklist(Path(config.blocklist), config.blocklist_failures, config.blocklist_hours)) as blocklist:
        yield blocklist
