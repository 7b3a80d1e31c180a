"""`webdojo/Browser-v0`: one task an episode, one tool call a step, in a real Chromium.

The reward is 0 until the episode is over, and then that of the reward function. An episode is over when the agent
calls `done` or the environment ends it (`terminated`), after `max_steps` steps, or when the web or the browser fails
(`truncated`). The browser starts at the first `reset`, and `close` leaves no process behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from copy import deepcopy
from typing import Any, ClassVar, Literal, TypeVar

import gymnasium
import numpy as np

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.envs.dojo import Dojo
from webdojo.envs.env import Environment
from webdojo.envs.task_sets import task_named
from webdojo.errors import ConfigError, TaskError
from webdojo.gym.spaces import ACTION_SPACE, observation_space, observe, pixels, to_call
from webdojo.reward.function import RewardFunction
from webdojo.reward.gate import Scorer
from webdojo.reward.registry import EnvironmentReward
from webdojo.rollout.background import BackgroundLoop
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.stepped import SteppedEpisode
from webdojo.store.images import MemoryImages
from webdojo.types import (
    Feedback,
    ImageSource,
    Parsed,
    Task,
    Termination,
)

Result = tuple[dict[str, Any], dict[str, Any]]
T = TypeVar("T")


class BrowserEnv(gymnasium.Env[dict[str, Any], dict[str, Any]]):
    """A browser that an agent drives by screenshots and 13 tools.

    Action: a dict of `spaces.ACTION_SPACE`; `to_action` makes one of a `ToolCall`. A call that cannot be
    carried out is answered by feedback.

    Observation: a dict of `screenshot` (uint8, height × width × RGB), `url`, `title`, `tabs`, `instruction` and
    `feedback` (texts); see `spaces.TEXTS`.

    Info: `task_id`; `observation`, the `Observation` record; after a step `call`, the `ToolCall`, and `feedback`, the
    `Feedback` record; when the episode is over `termination` (a `Termination`: why), `success` and `trajectory`, the
    whole `Trajectory` with its `Reward`, and `error`, empty unless the browser failed.

    Args:
        tasks: the tasks to draw from; absent: the first 100 training tasks of `env` (`webdojo.load_tasks` has others).
        env: where episodes happen, such as `Dojo(layout="compact", perturbations=2)`; absent: `Dojo()`. At
            each `reset` it draws its perturbations, the same for the same seed.
        reward: scores a finished episode; absent: the environment's own verdict.
        max_steps: steps before the episode is truncated.
        viewport_px: width and height; absent: that of `browser`.
        browser: the recipe's browser section; there is one Chromium, whatever its `browsers` says.
        render_mode: with `rgb_array`, `render` returns the last screenshot.

    Raises:
        ConfigError, SiteError, TaskError: an argument is wrong, or a task needs another environment or reward.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 1}  # type: ignore[misc]

    def __init__(
        self,
        tasks: Sequence[Task] | None = None,
        env: Environment | None = None,
        reward: RewardFunction | None = None,
        max_steps: int = RolloutConfig().max_steps,
        viewport_px: tuple[int, int] | None = None,
        browser: BrowserConfig | None = None,
        render_mode: Literal["rgb_array"] | None = None,
    ) -> None:
        _check_types(tasks, env, reward, browser)
        browser = browser or BrowserConfig()
        if browser.servers:
            raise ConfigError("the environment runs a browser of its own: leave out browser.servers")
        size = _size(browser.viewport_px if viewport_px is None else viewport_px)
        self._config = browser.model_copy(update={"viewport_px": size, "browsers": 1})  # there is one session only
        self._env = (env or Dojo()).model_copy()  # a copy, so that the caller can use its own elsewhere
        self._reward = (reward or EnvironmentReward()).resolved(self._env.reward, self._env.name).model_copy()
        if tasks is None:
            tasks = self._env.tasks("train", 100, 0)
        self._tasks = {task.id: task for task in tasks}
        if not self._tasks:
            raise TaskError("the environment got no tasks: give it a list of at least one")
        if not isinstance(max_steps, int) or max_steps < 1:
            raise ConfigError(f"max_steps = {max_steps!r} must be a number, 1 or more")
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode {render_mode!r} is unknown; it is 'rgb_array' or None")
        for task in self._tasks.values():
            self._check(task)
        self.render_mode = render_mode
        self.action_space = deepcopy(ACTION_SPACE)  # a space has a random state of its own
        self.observation_space = observation_space(self._config.viewport_px)
        self._max_steps = max_steps
        self._images = MemoryImages()
        self._scorer = Scorer(self._reward, self._images)
        self._loop: BackgroundLoop | None = None
        """Where the environment and the pool run between `reset` and `close`."""
        self._pool: BrowserPool
        self._closing = AsyncExitStack()
        self._episode: SteppedEpisode | None = None
        self._picture = b""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Result:
        """Begin an episode.

        Args:
            seed: the same seed draws the same task and the same perturbations.
            options: `{"task": …}` names the task: its id, or a `Task`.

        Raises:
            StartError: the start URL cannot be reached.
            BrowserError: no browser can be started.
            ConfigError, TaskError: an unknown option or task.
        """
        super().reset(seed=seed)
        task = self._choose(options or {})
        loop = self._loop or self._start()
        loop.run(self._leave())
        self._images.clear()
        seed_of_visit = str(self.np_random.integers(2**32))
        episode = self._episode = loop.run(self._begin(task, seed_of_visit))
        return self._observation(episode, ""), {"task_id": task.id, "observation": episode.seen}

    def step(self, action: dict[str, Any]) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one call.

        Raises:
            ActionError: the action lies outside the action space.
            gymnasium.error.ResetNeeded: no episode has begun, or it is over.
        """
        loop, episode = self._loop, self._episode
        if loop is None or episode is None:
            why = "no episode has begun" if loop is None else "the episode is over"
            raise gymnasium.error.ResetNeeded(f"{why}: call reset() to begin one")
        call = to_call(action)
        loop.run(episode.act(Parsed(calls=[call])))
        trajectory = episode.trajectory
        feedback = next(iter(trajectory.turns[-1].feedback), Feedback(ok=False, text=trajectory.error))
        observation = self._observation(episode, feedback.text)
        info = {"task_id": trajectory.task.id, "observation": episode.seen, "call": call, "feedback": feedback}
        if not episode.over:
            return observation, 0.0, False, False, info
        self._episode = None
        assert trajectory.reward is not None, "a scorer sets it"
        reward = trajectory.reward
        over = {"termination": trajectory.termination, "error": trajectory.error, "success": reward.success}
        done = trajectory.termination is Termination.COMPLETED
        return observation, reward.value, done, not done, {**info, **over, "trajectory": trajectory}

    @property
    def images(self) -> ImageSource:
        """The screenshots of the current or the last episode by their hash, for judges."""
        return self._images

    def render(self) -> np.ndarray[Any, np.dtype[np.uint8]] | None:  # type: ignore[override]
        """The last screenshot, height × width × RGB; None without a `render_mode`."""
        return pixels(self._picture) if self.render_mode and self._picture else None

    def close(self) -> None:
        """End the browser and the sites. Closing twice is allowed, and `reset` starts them again."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.run(self._leave())
            loop.run(self._closing.aclose())
            loop.close()

    def _choose(self, options: dict[str, Any]) -> Task:
        for key in options.keys() - {"task"}:
            raise ConfigError(f"unknown option {key!r} of reset; options are: task")
        wanted = options.get("task")
        if wanted is None:
            return list(self._tasks.values())[int(self.np_random.integers(len(self._tasks)))]
        if isinstance(wanted, Task):
            self._check(wanted)
            return wanted
        return task_named(wanted, self._tasks)

    def _start(self) -> BackgroundLoop:
        self._loop = loop = BackgroundLoop("webdojo-gym")
        try:
            loop.run(self._closing.enter_async_context(self._env))
            loop.run(self._closing.enter_async_context(self._scorer))
            pool = BrowserPool(self._config, self._images, dict(self._env.hosts))
            self._pool = loop.run(self._closing.enter_async_context(pool))
        except BaseException:
            self.close()
            raise
        return loop

    def _check(self, task: Task) -> None:
        self._env.check(task)
        self._reward.check(task)

    async def _begin(self, task: Task, seed: str) -> SteppedEpisode:
        return await SteppedEpisode.begin(
            task, env=self._env, pool=self._pool, scorer=self._scorer, max_steps=self._max_steps, seed=seed
        )

    async def _leave(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None:
            await episode.leave()

    def _observation(self, episode: SteppedEpisode, feedback: str) -> dict[str, Any]:
        self._picture = self._images.get(episode.seen.screenshot)
        return observe(episode.seen, self._picture, episode.trajectory.task.instruction, feedback)


def _check_types(tasks: object, env: object, reward: object, browser: object) -> None:
    """Raise a ConfigError where an argument is of another type, such as a recipe's name for an environment."""
    for name, given, wanted, example in (
        ("env", env, Environment, "webdojo.envs.dojo.Dojo()"),
        ("reward", reward, RewardFunction, "webdojo.reward.rules.Rules(), or be left out"),
        ("browser", browser, BrowserConfig, "webdojo.browser.config.BrowserConfig()"),
    ):
        if given is not None and not isinstance(given, wanted):
            raise ConfigError(f"{name} = {given!r} must be an instance of {wanted.__name__}, such as {example}")
    if tasks is None:
        return
    if isinstance(tasks, str) or not isinstance(tasks, Sequence) or not all(isinstance(each, Task) for each in tasks):
        raise ConfigError(
            f"tasks = {tasks!r:.80} must be a list of Task records, such as Dojo().tasks('eval', 50, seed=0); "
            "reset(options={'task': id}) names one of them"
        )


def _size(viewport_px: object) -> tuple[int, int]:
    """A viewport's width and height, once they are such."""
    match viewport_px:
        case (int(width), int(height)) if width > 0 and height > 0:
            return width, height
    raise ConfigError(f"viewport_px = {viewport_px!r} must be width and height in pixels, such as (640, 480)")
