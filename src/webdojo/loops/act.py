"""One task in a browser of this machine, by a model or an endpoint, shown step by step.

The first Ctrl-C, by which `asyncio.run` cancels `act`, ends the episode where the agent is asked next; what was done by
then is kept like any episode.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from webdojo.errors import ConfigError, EngineError, Failure, TaskError
from webdojo.loops.run_folder import ACT
from webdojo.policy.model.folder import check_model_path, model_folder
from webdojo.recipe import Recipe, dump_recipe
from webdojo.recipe_paths import whole_path
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.store.info import run_info
from webdojo.store.run import RunStore
from webdojo.types import Engine, Prompt, Response, Sampling, Task, Trajectory, Turn

logger = logging.getLogger("webdojo")


async def act(
    task: Task, recipe: Recipe, model: str, folder: Path, on_turn: Callable[[Turn], None], *, own: bool = False
) -> tuple[Trajectory | None, bool]:
    """Run one episode and store it in a new run folder; returns it, None if it never began, and whether Ctrl-C came.

    A task that is the recipe's `own` (`request.own_task`) may take as many turns as in its evaluation, and is judged;
    one that somebody made up is judged where the recipe's reward can do that.
    """
    recipe.engine.check(recipe.harness)
    check_model_path(model)
    from webdojo.browser.chromium import find_chromium
    from webdojo.browser.pool import BrowserPool
    from webdojo.loops.models import open_engine
    from webdojo.policy.model.auto_processor import load_processor
    from webdojo.rollout.episode import run_episode

    processor = load_processor(model_folder(model))
    harness = recipe.build_harness(processor)
    env, reward = recipe.env, recipe.reward_function if own else _reward(recipe, task)
    info = run_info(recipe.seed, find_chromium(recipe.browser))
    info |= {"model": recipe.engine.serves(model), "processor": whole_path(model)}
    async with AsyncExitStack() as stack:
        store = stack.enter_context(RunStore.create(folder, dump_recipe(recipe, whole_paths=True), info))
        await stack.enter_async_context(env)
        watched = Watched(await stack.enter_async_context(open_engine(recipe, store.images, model)))
        pool = await stack.enter_async_context(BrowserPool(recipe.browser, store.images, dict(env.hosts)))
        episode = asyncio.create_task(
            run_episode(
                task,
                env=env,
                pool=pool,
                harness=harness,
                actor=lambda task, session: watched,
                config=recipe.rollout,
                sampling=recipe.evaluate.sampling,
                max_steps=recipe.evaluate.horizon(task.difficulty) if own else recipe.evaluate.max_steps,
                reward=reward,
                seed=str(recipe.seed),
                on_turn=on_turn,
            )
        )
        try:
            trajectory: Trajectory | None = await asyncio.shield(episode)
        except asyncio.CancelledError:
            watched.stop()
            if not watched.answered:
                episode.cancel()
            await asyncio.wait([episode])
            trajectory = None if episode.cancelled() else episode.result()
        if trajectory is not None:
            if reward is not None:
                await (_score if own else _try_to_score)(trajectory, reward, store)
            store.add_trajectory(trajectory, ACT, 0)
        return trajectory, watched.stopped


def _reward(recipe: Recipe, task: Task) -> RewardFunction | None:
    """The recipe's reward, where it can score a task that consists of words alone."""
    if recipe.reward.knows_own_tasks_only and recipe.env.own_task(task.instruction, task.start_url) is None:
        return None
    try:
        function = recipe.reward_function
        function.check(task)
    except (ConfigError, TaskError):
        return None
    return function


async def _score(trajectory: Trajectory, function: RewardFunction, store: RunStore) -> None:
    async with Scorer(function, store.images, store.path) as scorer:
        await scorer.score(trajectory)


async def _try_to_score(trajectory: Trajectory, function: RewardFunction, store: RunStore) -> None:
    """Score an episode, unless the reward finds out only now that it cannot."""
    try:
        await _score(trajectory, function, store)
    except (ConfigError, TaskError):
        return
    if trajectory.failure == Failure.REWARD_FAILED and trajectory.reward is not None:
        logger.info("not scored: %s", trajectory.reward.reason)
        trajectory.reward, trajectory.failure, trajectory.error = None, "", ""
        trajectory.diagnostics = {}


class Watched:
    """An engine that can be stopped, which ends its episode, also in the middle of an answer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._asking: asyncio.Future[Response] | None = None
        self.answered = self.stopped = False

    def stop(self) -> None:
        self.stopped = True
        if self._asking is not None:
            self._asking.cancel()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        if self.stopped:
            raise EngineError("interrupted")
        self._asking = asyncio.ensure_future(self._engine.generate(prompt, sampling))
        try:
            await asyncio.wait([self._asking])
        finally:
            self._asking.cancel()
        if self._asking.cancelled():
            raise EngineError("interrupted")
        self.answered = True
        return self._asking.result()
