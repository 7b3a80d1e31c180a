"""Evaluation during online training: fixed tasks, each time by one version of the weights, in the slots of its pool.

Every `evaluate.every`-th version that serves is measured on the held-out tasks of the recipe; their episodes go before
those that train. Invariants: the version does not move on, and no checkpoint of the next one is written, before an
evaluation is complete and its metrics are stored, so all of its tokens are of its version, and a run that is killed
meanwhile completes it from the episodes that it has stored; and what trains is drawn as it would be without
evaluations.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from webdojo.evaluation.metrics import success
from webdojo.loops.episodes import EpisodeRunner
from webdojo.loops.log import RunLog
from webdojo.loops.metrics import evaluation_metrics
from webdojo.loops.run_folder import EVALUATION
from webdojo.progress import Progress
from webdojo.rollout.pool import RolloutPool
from webdojo.rollout.scheduler import Scheduler
from webdojo.types import Task

logger = logging.getLogger("webdojo")


@dataclass
class Evaluations(AbstractAsyncContextManager["Evaluations"]):
    """Measures versions as they serve; use it in an `async with` block inside that of the pool."""

    runner: EpisodeRunner
    scheduler: Scheduler
    """The scheduler of `pool`, whose engine and clock these episodes share."""
    tasks: Sequence[Task]
    """Each as often as it is measured."""
    pool: RolloutPool
    log: RunLog
    running: asyncio.Task[None] | None = None
    """The evaluation that has begun and for which `end` was not called."""

    async def __aexit__(self, *error: object) -> None:
        if self.running is not None:
            self.running.cancel()
            await asyncio.gather(self.running, return_exceptions=True)

    def begin(self, version: int) -> None:
        """Begin to measure `version`, which serves now, if it is its turn and it is not measured yet."""
        recipe = self.runner.recipe
        every, last = recipe.evaluate.every, recipe.train.iterations
        if every and version % every == 0 and 0 < version < last:
            rows = self.runner.store.metrics(EVALUATION)
            if not any(row["step"] == version and row["n"] == len(self.tasks) for row in rows):
                self.running = asyncio.create_task(self._measure(version))

    async def end(self) -> None:
        if self.running is not None:
            await self.running
            self.running = None

    async def _measure(self, version: int) -> None:
        now = asyncio.get_running_loop().time
        begun = now()
        episodes = await self.runner.run_tasks(
            self.tasks,
            lambda task, session: self.scheduler.engine,
            EVALUATION,
            version,
            self.runner.recipe.evaluate,
            Progress(EVALUATION, len(self.tasks)),
            self.pool.evaluate,
            clock=self.scheduler.clock,
            max_invalid=self.runner.recipe.evaluate.max_invalid,
        )
        measured = success(episodes)
        found = measured.model_dump(mode="json")
        self.log.write(EVALUATION, version, evaluation_metrics(found) | {"seconds": now() - begun})
        self.log.show(EVALUATION, version, episodes)
        percents = [100 * share for share in (measured.rate, *measured.ci95)]
        logger.info("evaluation of iteration %d  success %.1f%% (%.1f .. %.1f)", version, *percents)
