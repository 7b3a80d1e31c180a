"""The episodes of a run, with one harness, one reward and one store, wherever they are rolled out.

Invariants: an episode is in the store before anyone counts it, under its phase and iteration; a web, an engine or a
reward that fails again and again ends the run with an error instead of looking like an agent that fails. A reward is
counted over the episodes in which it is asked, because the others, such as those that did not finish, need no verdict.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

from webdojo.agent.harness import Harness
from webdojo.browser.interface import Session
from webdojo.browser.network.blocklist import Blocklist
from webdojo.errors import (
    BrowserError,
    BudgetError,
    ConfigError,
    EngineError,
    EngineRefused,
    Failure,
    RewardError,
    WebdojoError,
)
from webdojo.evaluation.metrics import EvaluateConfig, run_order
from webdojo.gather import gather_or_cancel
from webdojo.loops.rollouts import EpisodeSpec, OpenRollouts, Rollouts, open_rollouts
from webdojo.policy.model.processor import Processor
from webdojo.progress import Progress, plural, progress
from webdojo.recipe import Recipe
from webdojo.reward.gate import Scorer
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.episode import Actor
from webdojo.rollout.groups import RunEpisode, run_each
from webdojo.sleep_clock import SleepClock
from webdojo.store.run import RunStore, TrajectoryRow
from webdojo.types import Sampling, Task, Termination, Trajectory

ENDS: dict[str, type[EngineError]] = {Failure.BUDGET_SPENT: BudgetError, Failure.ENGINE_REFUSED: EngineRefused}
"""Failures after which no episode can go better until the user has changed something."""
FAILURES_IN_A_ROW = 8
"""Where so many episodes, or as many as run at once, all fail for no fault of the agent, something is dead."""
ATTEMPTS = 3
"""How often an episode may run that loses its browser or its engine."""
MAX_INVALID = 1 / 3
"""A larger share of invalid demonstrations is an error, as is one of evaluations above `evaluate.max_invalid`."""
OF_SITE = ("blocked", "dead_page")
"""Causes of invalid verdicts (`Reward.cause`) that lie with the site."""

logger = logging.getLogger(__name__)


@dataclass
class EpisodeRunner:
    """The parts that every episode of a run shares."""

    recipe: Recipe
    store: RunStore
    rollouts: Rollouts
    harness: Harness
    scorer: Scorer
    blocklist: Blocklist | None = None
    _failed: defaultdict[str, list[Trajectory]] = field(default_factory=lambda: defaultdict(list))
    """By phase, the last episodes that failed for no fault of the agent, with no valid one among them."""
    _unjudged: defaultdict[str, list[Trajectory]] = field(default_factory=lambda: defaultdict(list))
    """By phase, the last episodes whose reward failed, with none among them that it has judged."""

    def blocked(self) -> Container[str]:
        """The hosts whose tasks are passed over now."""
        return self.blocklist.blocked() if self.blocklist is not None else ()

    def begin(self, phase: str) -> None:
        """Begin or go on with a phase: what failed in a row before does not count any more."""
        self._failed[phase].clear()
        self._unjudged[phase].clear()

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

        `seed` is that of what the environment draws; empty takes the trajectory's id. `clock` is as in `run_episode`.
        """
        spec = EpisodeSpec(task, group, trajectory_id, self.seed(seed or trajectory_id), sampling, max_steps)
        cut: list[str] = []
        while True:
            trajectory = await self.rollouts.run(spec, actor, clock)
            lost = trajectory.failure != "" and Failure(trajectory.failure).is_loss
            if not lost or len(cut) + 1 == ATTEMPTS:
                trajectory.cut = cut
                return trajectory
            cut.append(trajectory.failure)
            logger.info("episode %s was cut (%s) and runs again", trajectory.id, trajectory.failure)

    async def finish(
        self, trajectory: Trajectory, phase: str, iteration: int, *, sites_may_fail: bool = False, retry: bool = False
    ) -> None:
        """Score an episode and store it, under the iteration in which it began; raise where too many fail in a row.

        One that a spent budget or a refusal of the engine's endpoint has cut off is not stored, and raises that.

        With `sites_may_fail` those that a site has failed do not count; nor does the failure of a `retry`, because
        retries are chosen by having failed before. Where a verdict costs something, the episode is
        stored before too: what ends the run meanwhile loses none.
        """
        if (ends := ENDS.get(trajectory.failure)) is not None:
            kept = sum(self.store.count().values())
            then = f"{plural(kept, 'episode')} stay: then go on with --run {self.store.path} --resume"
            if not kept and trajectory.failure == Failure.ENGINE_REFUSED:
                then = "nothing was measured"
            raise ends(f"{trajectory.error}; {then}")
        if self.scorer.function.costs:
            await asyncio.to_thread(self.store.add_trajectory, trajectory, phase, iteration)
        judged = await self._score(trajectory) and trajectory.failure != Failure.REWARD_FAILED
        began = time.perf_counter()
        keep = self.store.replace_trajectory if self.scorer.function.costs else self.store.add_trajectory
        await asyncio.to_thread(keep, trajectory, phase, iteration)
        # Nobody can store how long storing takes: this stays in the memory of the iteration.
        trajectory.seconds["store"] = time.perf_counter() - began
        if self.blocklist is not None:
            self.blocklist.note(trajectory)
        failed, unjudged = self._failed[phase], self._unjudged[phase]
        if judged:
            unjudged.clear()
        if is_valid(trajectory):
            failed.clear()
            return
        if retry or (sites_may_fail and _is_of_site(trajectory)):
            return
        failed.append(trajectory)
        if trajectory.failure == Failure.REWARD_FAILED:
            unjudged.append(trajectory)
        row = max(failed, unjudged, key=len)
        if len(row) >= max(FAILURES_IN_A_ROW, self.recipe.rollout.concurrency):
            which = "to be judged " if row is unjudged else ""
            raise infra_error(row, f"{plural(len(row), 'episode')} {which}one after the other in phase {phase!r}")

    async def score_left(self) -> None:
        """Score the stored episodes that have no verdict, because the run ended while they were judged."""
        left = [row for row in self.store.rows() if row.reward is None]

        async def score(row: TrajectoryRow) -> None:
            trajectory = await asyncio.to_thread(self.store.trajectory, row.id)
            await self._score(trajectory)
            await asyncio.to_thread(self.store.replace_trajectory, trajectory, row.phase, row.iteration)
            bar.advance(1)

        if left:
            with progress("verdicts", len(left)) as bar:
                await gather_or_cancel(map(score, left))

    async def _score(self, trajectory: Trajectory) -> bool:
        """Score an episode; whether its reward was asked."""
        began = time.perf_counter()
        asked = await self.scorer.score(trajectory)
        trajectory.seconds["reward"] = time.perf_counter() - began
        return asked

    async def run_tasks(
        self,
        tasks: Sequence[Task],
        actor: Actor[Session],
        phase: str,
        iteration: int,
        config: RolloutConfig | EvaluateConfig,
        bar: Progress,
        run_all: Callable[[RunEpisode, Sequence[Task]], Awaitable[list[Trajectory]]] | None = None,
        clock: SleepClock | None = None,
        max_invalid: float = MAX_INVALID,
    ) -> list[Trajectory]:
        """One episode of each task: those of this phase and iteration that are stored, and the others, which run now.

        A task that is there several times has as many episodes, each with a seed of its own. They run by `run_all`; by
        default nothing else runs meanwhile, and `rollout.concurrency` run at once. Where all of them failed for no
        fault of the agent, or a larger share than `max_invalid`, it raises what failed them.
        """
        done, left = self.stored(tasks, phase, iteration)
        bar.found(len(done))
        invalid_before = {row.task_id for row in self.store.rows(phase, iteration) if row.valid is False}
        if again := len(invalid_before & {task.id for task in left}):
            logger.info("%s: running %s again, whose episodes were invalid", phase, plural(again, "task"))
        seeds = {trajectory.seed for trajectory in done}
        self.begin(phase)

        async def run(task: Task, group: str, trajectory_id: str) -> Trajectory:
            # Ids are new each time, but every evaluation of the recipe meets a task with the same perturbations.
            numbered = (f"{task.id}/{n}" for n in count(1))
            seed = next(each for each in numbered if self.seed(each) not in seeds)
            seeds.add(self.seed(seed))
            trajectory = await self.rollout(
                task,
                group,
                trajectory_id,
                actor=actor,
                sampling=config.sampling,
                max_steps=config.horizon(task.difficulty),
                seed=seed,
                clock=clock,
            )
            await self.finish(trajectory, phase, iteration, sites_may_fail=max_invalid == 1)
            bar.advance(1)
            return trajectory

        run_all = run_all or partial(run_each, concurrency=self.recipe.rollout.concurrency)
        done += await run_all(run, left)
        invalid = [trajectory for trajectory in done if not is_valid(trajectory)]
        if len(invalid) > max_invalid * len(done) or (invalid and len(invalid) == len(done)):
            raise infra_error(invalid, f"{len(invalid)} of {plural(len(done), 'episode')} of phase {phase!r}")
        return done

    def stored(self, tasks: Sequence[Task], phase: str, iteration: int) -> tuple[list[Trajectory], list[Task]]:
        """The valid stored episodes, one for each task, and the tasks that lack one; forgets what lost screenshots."""
        open_tasks = Counter(task.id for task in tasks)
        found = []
        for episode in sorted(self.store.trajectories(phase, iteration), key=run_order):
            if is_valid(episode) and open_tasks[episode.task.id]:
                if not self.store.has_screenshots(episode):
                    self.store.discard_broken(episode)
                    continue
                open_tasks[episode.task.id] -= 1
                found.append(episode)
        left = []
        for task in tasks:
            if open_tasks[task.id]:
                open_tasks[task.id] -= 1
                left.append(task)
        return found, left

    def seed(self, of: str) -> str:
        """The seed of what the environment draws, as trajectories keep it."""
        return f"{self.recipe.seed}/{of}"


def is_valid(trajectory: Trajectory) -> bool:
    """Whether it has a verdict that counts."""
    return trajectory.reward is not None and trajectory.reward.valid


def _is_of_site(trajectory: Trajectory) -> bool:
    """Whether the site failed an episode: it did not open, or a judge saw that it turned the agent away."""
    if trajectory.failure:
        return Failure(trajectory.failure).is_of_site
    return not is_valid(trajectory) and trajectory.reward is not None and trajectory.reward.cause in OF_SITE


def infra_error(failed: Sequence[Trajectory], which: str) -> WebdojoError:
    """The error that tells the user which of web, engine and reward failed the episodes; a ConfigError where all met a
    bug in the code of an environment or a reward."""
    last = failed[-1]
    kind: type[WebdojoError] = EngineError if last.termination is Termination.ABORTED else BrowserError
    why = f"{last.termination}: {last.error}"
    if not last.termination.is_infra and last.reward is not None:
        kind, why = RewardError, last.reward.reason
    if all(each.is_bug for each in failed):
        kind = ConfigError
    return kind(
        f"{which} failed for no fault of the agent, the last one by {why}; "
        "remove the cause, then go on with --resume, which runs them again"
    )


@asynccontextmanager
async def open_episodes(
    recipe: Recipe,
    store: RunStore,
    processor: Processor,
    *,
    by_person: bool = False,
    open_rollouts: OpenRollouts = open_rollouts,
) -> AsyncIterator[EpisodeRunner]:
    """Open what episodes need; nothing is stored yet, so who goes on with a run calls `score_left` first.

    `by_person` is as in `open_rollouts`.
    """
    config, blocklist = recipe.tasks, None
    async with AsyncExitStack() as stack:
        scorer = await stack.enter_async_context(Scorer(recipe.reward_function, store.images, store.path))
        if config.blocklist:
            blocklist = Blocklist(Path(config.blocklist))
            stack.enter_context(closing(blocklist))
        harness = recipe.build_harness(processor)
        opening = open_rollouts(recipe, store.images, harness, scorer.function, by_person=by_person)
        rollouts = await stack.enter_async_context(opening)
        yield EpisodeRunner(recipe, store, rollouts, harness, scorer, blocklist)
