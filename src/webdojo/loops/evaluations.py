"""Evaluation during online training: fixed tasks, each time by one version of the weights, in the slots of its pool.

Every `evaluate.every`-th version that serves is measured on the held-out tasks of the recipe. Their episodes go
before those that train, so browsers and engine are shared and stay busy. Invariants: the version does not move on,
and no checkpoint of the next one is written, before an evaluation is complete and its figures are stored, so each
token of it is of its version, and a run that is killed meanwhile completes it from the episodes that it has stored;
and what trains is drawn as it would be without.

The first and the last version are the pipeline's to measure, which does so with or without training in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from webdojo.evaluate.metrics import success
from webdojo.loops import figures
from webdojo.loops.episodes import EpisodeRunner
from webdojo.loops.log import RunLog
from webdojo.progress import Progress
from webdojo.rollout.pool import RolloutPool
from webdojo.store.run import RunStore
from webdojo.types import Engine, Task

PHASE = "eval_rl"
"""Of the episodes of every version, by iteration, and of their figures, by step; step 0 is the warm start."""


class Evaluations:
    """Measures versions as they serve; use it in an `async with` block inside that of the pool.

    Args:
        engine: samples for the pool too.
        tasks: the same ones each time.
    """

    def __init__(
        self, runner: EpisodeRunner, engine: Engine, tasks: Sequence[Task], pool: RolloutPool, log: RunLog
    ) -> None:
        self._runner = runner
        self._engine = engine
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
        """The engine serves `version` from now on: measure it, if it is its turn and it is not measured yet."""
        recipe = self._runner.recipe
        every, last = recipe.evaluate.every, recipe.train.iterations
        if every and version % every == 0 and 0 < version < last and not self._is_measured(version):
            self._running = asyncio.create_task(self._measure(version))

    @property
    def running(self) -> bool:
        """Whether one has begun that `end` was not called for."""
        return self._running is not None

    async def end(self) -> None:
        """Wait until the evaluation that runs, if one does, is complete.

        Raises:
            EngineError, BrowserError: too many of its episodes failed for no fault of the agent.
        """
        if self._running is not None:
            await self._running
            self._running = None

    def _is_measured(self, version: int) -> bool:
        return any(row["step"] == version and row["n"] == len(self._tasks) for row in self._runner.store.metrics(PHASE))

    async def _measure(self, version: int) -> None:
        config, now = self._runner.recipe.evaluate, asyncio.get_running_loop().time
        begun = now()
        episodes = await self._runner.run_tasks(
            self._tasks,
            lambda task, session: self._engine,
            PHASE,
            version,
            config.sampling,
            config.horizon,
            Progress(PHASE, len(self._tasks)),
            self._pool.evaluate,
        )
        found = success(episodes).model_dump(mode="json")
        self._log.write(PHASE, version, figures.of_evaluation(found) | {"seconds": now() - begun})


def told(store: RunStore) -> list[dict[str, Any]]:
    """Success on the held-out tasks by version so far, as in `result.json`."""
    return [
        {
            "iteration": int(row["step"]),
            "n": int(row["n"]),
            "rate": row["success"],
            "ci95": [row["ci95_low"], row["ci95_high"]],
        }
        for row in store.metrics(PHASE)
    ]
