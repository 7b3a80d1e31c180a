"""Evaluation during online training: fixed tasks, each time by one version of the weights, in the slots of its pool.

Every `evaluate.every`-th version that serves is measured on the held-out tasks of the recipe. Their episodes go
before those that train, so browsers and engine are shared and stay busy. Invariants: the version does not move on,
and no checkpoint of the next one is written, before an evaluation is complete and its metrics are stored, so all of
its tokens are of its version, and a run that is killed meanwhile completes it from the episodes that it has stored;
and what trains is drawn as it would be without evaluations.

The pipeline measures the first and the last version, with or without training in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from webdojo.evaluation import success
from webdojo.loops.episodes import EpisodeRunner
from webdojo.loops.log import RunLog
from webdojo.loops.metrics import evaluation_metrics
from webdojo.loops.run_folder import EVALUATION
from webdojo.progress import Progress
from webdojo.rollout.pool import RolloutPool
from webdojo.rollout.scheduler import Scheduler
from webdojo.store.run import RunStore
from webdojo.types import Task


class Evaluations:
    """Measures versions as they serve; use it in an `async with` block inside that of the pool.

    Args:
        scheduler: the scheduler of `pool`, whose engine and clock these episodes share.
        tasks: the tasks of every evaluation.
    """

    def __init__(
        self, runner: EpisodeRunner, scheduler: Scheduler, tasks: Sequence[Task], pool: RolloutPool, log: RunLog
    ) -> None:
        self._runner = runner
        self._scheduler = scheduler
        self._tasks = tasks
        self._pool = pool
        self._log = log
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def begin(self, version: int) -> None:
        """Begin to measure `version`, which serves now, if it is its turn and it is not measured yet."""
        recipe = self._runner.recipe
        every, last = recipe.evaluate.every, recipe.train.iterations
        if every and version % every == 0 and 0 < version < last and not self._is_measured(version):
            self._running = asyncio.create_task(self._measure(version))

    @property
    def running(self) -> bool:
        """Whether an evaluation has begun for which `end` was not called."""
        return self._running is not None

    async def end(self) -> None:
        """Wait until the evaluation that runs, if there is one, is complete.

        Raises:
            EngineError, BrowserError: too many of its episodes failed for no fault of the agent.
        """
        if self._running is not None:
            await self._running
            self._running = None

    def _is_measured(self, version: int) -> bool:
        rows = self._runner.store.metrics(EVALUATION)
        return any(row["step"] == version and row["n"] == len(self._tasks) for row in rows)

    async def _measure(self, version: int) -> None:
        config, now = self._runner.recipe.evaluate, asyncio.get_running_loop().time
        begun = now()
        episodes = await self._runner.run_tasks(
            self._tasks,
            lambda task, session: self._scheduler.engine,
            EVALUATION,
            version,
            config.sampling,
            config.horizon,
            Progress(EVALUATION, len(self._tasks)),
            self._pool.evaluate,
            clock=self._scheduler.clock,
        )
        found = success(episodes).model_dump(mode="json")
        self._log.write(EVALUATION, version, evaluation_metrics(found) | {"seconds": now() - begun})


def stored_evaluations(store: RunStore) -> list[dict[str, Any]]:
    """Success on the held-out tasks by version so far, as in `result.json`."""
    return [
        {
            "iteration": int(row["step"]),
            "n": int(row["n"]),
            "rate": row["success"],
            "ci95": [row["ci95_low"], row["ci95_high"]],
        }
        for row in store.metrics(EVALUATION)
    ]
