"""Where episodes happen: one browser pool, one site server, one harness, one store.

An `Arena` runs, scores and stores episodes for every phase of a run. Invariants: an episode is in the
store before anyone counts it, under its phase and iteration; a web or an engine that fails again and
again ends the run with an error instead of looking like an agent that fails.
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
from webdojo.agent.harnesses import make_harness
from webdojo.browser.blocklist import Blocklist
from webdojo.browser.interface import Pool, Session
from webdojo.config import Recipe, TasksConfig
from webdojo.errors import BrowserError, EngineError, Failure, WebdojoError
from webdojo.loops.browsers import open_browsers
from webdojo.policy.model.processor import Processor
from webdojo.progress import Progress
from webdojo.reward.rules import score
from webdojo.rollout.episode import Actor, run_episode
from webdojo.rollout.groups import RunEpisode, finished_groups
from webdojo.rollout.rest import Rest
from webdojo.sites.server import SiteServer
from webdojo.sites.weather.forecast import Weather
from webdojo.store.run import RunStore
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
class Arena:
    """The parts that every episode of a run shares."""

    recipe: Recipe
    store: RunStore
    pool: Pool[Session]
    server: SiteServer
    harness: Harness
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

    def runner(
        self,
        actor: Actor[Session],
        phase: str,
        iteration: Callable[[], int],
        sampling: Sampling,
        horizon: Horizon,
        on_episode: Callable[[Trajectory], None] = lambda trajectory: None,
        weather_seed: Callable[[Task, str], str] = lambda task, trajectory_id: trajectory_id,
    ) -> RunEpisode:
        """A function that runs one episode of a phase, scores it, stores it and reports it.

        An episode belongs to the iteration that it begins in. One that loses its browser or its engine runs again, up
        to `ATTEMPTS` times in all. The function raises EngineError or BrowserError where `FAILURES_IN_A_ROW` episodes
        one after the other failed for no fault of the agent.

        Args:
            weather_seed: of an episode, by task and id, within the recipe's; by default its id.
        """
        failed: list[Trajectory] = []
        tasks = self.recipe.tasks
        limit = max(FAILURES_IN_A_ROW, self.recipe.rollout.concurrency)

        async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
            begun_in = iteration()
            seed = f"{self.recipe.seed}/{weather_seed(task, trajectory_id)}"
            attempt = partial(
                run_episode,
                task,
                pool=self.pool,
                harness=self.harness,
                actor=actor,
                config=self.recipe.rollout,
                sampling=sampling,
                max_steps=horizon(task.difficulty),
                server=self.server,
                layout=tasks.layout,
                weather=Weather(tasks.weather, seed, tasks.weather_impassable),
                group=group,
                trajectory_id=trajectory_id,
                rest=self.rest,
            )
            trajectory = await _to_its_end(attempt)
            judging = time.perf_counter()
            trajectory.reward = score(trajectory)
            storing = time.perf_counter()
            trajectory.seconds["reward"] = storing - judging
            await to_thread(self.store.add_trajectory, trajectory, phase, begun_in)
            # Nobody can store how long storing takes: this stays in the memory of the iteration.
            trajectory.seconds["store"] = time.perf_counter() - storing
            if self.blocklist is not None:
                self.blocklist.note(trajectory)
            on_episode(trajectory)
            if trajectory.reward.valid:
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
            """Every evaluation meets a task in the same weather, in every run of the recipe; ids are new each time."""
            begun[task.id] += 1
            return f"{task.id}/{begun[task.id]}"

        run = self.runner(actor, phase, lambda: iteration, sampling, horizon, lambda trajectory: bar.advance(1), seed)
        done = [*stored.episodes, *await (run_all or self._run_all)(run, stored.left)]
        invalid = [t for t in done if t.reward is not None and not t.reward.valid]
        if len(invalid) > MAX_INVALID * len(done):
            raise _infra_error(invalid, f"{len(invalid)} of {len(done)} episodes of phase {phase!r}")
        return done

    def stored(self, tasks: Sequence[Task], phase: str, iteration: int) -> Stored:
        """What the store has of a phase and iteration; episodes whose screenshots are lost are forgotten."""
        open_tasks = Counter(task.id for task in tasks)
        found = Stored([], [])
        for episode in self.store.trajectories(phase, iteration):
            if episode.reward is not None and episode.reward.valid and open_tasks[episode.task.id]:
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
    """What to tell the user about episodes that the web or the engine failed."""
    last = failed[-1]
    kind = EngineError if last.termination is Termination.ABORTED else BrowserError
    return kind(
        f"{which} failed for no fault of the agent, the last one by {last.termination}: {last.error}; "
        "remove the cause; a run then goes on with --resume, which runs them again"
    )


@asynccontextmanager
async def open_arena(recipe: Recipe, store: RunStore, processor: Processor) -> AsyncIterator[Arena]:
    """Start sites and browsers for a run, and stop them in every case."""
    site_server = SiteServer(recipe.browser.sites_port, host=recipe.browser.sites_host)
    with site_server as server, _blocklist(recipe.tasks) as blocklist:
        async with open_browsers(recipe, store.images, server) as pool:
            yield Arena(recipe, store, pool, server, make_harness(recipe.harness, processor), blocklist)


@contextmanager
def _blocklist(config: TasksConfig) -> Iterator[Blocklist | None]:
    """The blocklist that a recipe names, if it names one."""
    if not config.blocklist:
        yield None
        return
    with closing(Blocklist(Path(config.blocklist), config.blocklist_failures, config.blocklist_hours)) as blocklist:
        yield blocklist
