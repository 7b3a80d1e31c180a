"""Episodes for policies that are somebody else's: environment, browsers, reward and run folder behind one door.

An adapter begins episodes, passes calls on, and reports steps in its project's words. Invariants: every episode that
has begun is scored as in our own loop and stored in the run folder exactly once, whether it ended, was given up or was
left idle; and none outlives the host.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self
from uuid import uuid4

from webdojo.agent import toolcall
from webdojo.browser.interface import Pool, Session
from webdojo.envs.env import Split
from webdojo.envs.task_sets import task_named
from webdojo.errors import BrowserError, ConfigError, Failure, TaskError
from webdojo.loops.rollouts import open_browsers
from webdojo.loops.run_folder import check_unchanged
from webdojo.recipe import Recipe, dump_recipe
from webdojo.reward.gate import Scorer
from webdojo.rollout.stepped import SteppedEpisode
from webdojo.store.info import run_info
from webdojo.store.run import DATABASE, RunStore
from webdojo.types import Feedback, Observation, Parsed, Reward, Task, Termination, ToolCall, Trajectory, View


@dataclass(frozen=True)
class Step:
    """What a policy learns after a reset or a turn."""

    observation: Observation
    feedback: list[Feedback]
    error: str = ""
    """Why the turn could not be read, or what failed."""
    termination: Termination | None = None
    """Why the episode is over; None while it goes on."""
    reward: Reward | None = None
    """The verdict, when the episode is over."""

    @property
    def terminated(self) -> bool:
        """Whether the agent or the environment has ended the episode."""
        return self.termination in (Termination.COMPLETED, Termination.FORMAT_ERROR)

    @property
    def truncated(self) -> bool:
        """Whether it ended by its limit of steps, or because the web or the system failed."""
        return self.termination is not None and not self.terminated


class HostedEpisode:
    """One episode of a host, by one caller; its turns follow one another, whoever calls at once."""

    def __init__(self, host: EpisodeHost, episode: SteppedEpisode) -> None:
        self.used = time.monotonic()
        """When it was last asked for something."""
        self.busy = asyncio.Lock()
        self._host, self._episode = host, episode

    @property
    def trajectory(self) -> Trajectory:
        return self._episode.trajectory

    @property
    def over(self) -> bool:
        return self._episode.over

    def step(self, feedback: Sequence[Feedback] = (), error: str = "") -> Step:
        """What the episode shows now."""
        trajectory = self.trajectory
        termination = trajectory.termination if self.over else None
        return Step(self._episode.seen, list(feedback), error or trajectory.error, termination, trajectory.reward)

    async def act(self, calls: Sequence[ToolCall] = (), text: str = "", error: str = "") -> Step:
        """Carry out one turn: these calls, or else those that the model's `text` holds in the harness's form.

        `error` says why a turn of native calls could not be read, or not to its end.

        Raises:
            ConfigError: the episode is over.
        """
        async with self.busy:
            if self.over:
                raise ConfigError(f"the episode is over ({self.trajectory.termination}): reset begins another one")
            native = Parsed(calls=list(calls), error=error or None)
            parsed = native if calls or error else toolcall.parse(text)
            feedback = await self._episode.act(parsed, text)
            self.used = time.monotonic()
            self._keep()
            return self.step(feedback, parsed.error or "")

    async def stop(self) -> None:
        """End it as unfinished, where its agent does not go on."""
        async with self.busy:
            await self._episode.stop()
            self._keep()

    async def give_up(self, why: str) -> None:
        """End it as invalid, where its caller is gone."""
        async with self.busy:
            await self._episode.abandon(BrowserError(why, Failure.CALLER_LOST))
            self._keep()

    def _keep(self) -> None:
        if self.over:
            self._host.keep(self)


class TaskHost:
    """Tasks, their environment, reward and run folder, whoever has the browser; an async context manager.

    Args:
        recipe: its sections `env`, `tasks` and `reward` count.
        phase: the name under which the episodes are stored.
        run: the run folder, new or of an earlier host with this recipe; None keeps the episodes as long as it runs.
        split: which tasks of the environment.
        tasks: at most so many.

    Raises:
        ConfigError, TaskError: what the recipe has wrong, when it starts.
    """

    def __init__(
        self, recipe: Recipe, phase: str, *, run: Path | None = None, split: Split = "train", tasks: int = 100
    ) -> None:
        if not isinstance(tasks, int) or tasks < 1:
            raise ConfigError(f"tasks = {tasks!r} must be a number of tasks, 1 or more")
        self.recipe, self.phase = recipe, phase
        self.tasks = {task.id: task for task in recipe.draw(split, tasks)}
        self.store: RunStore
        self.scorer: Scorer
        self._run = run
        self._reward = recipe.reward_function
        self._reward.check_setup()
        for task in self.tasks.values():
            self.check(task)
        self._random = random.Random(f"{recipe.seed}/{phase}")
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await self._start(stack)
            self._closing = stack.pop_all()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._closing.aclose()

    async def _start(self, stack: AsyncExitStack) -> None:
        folder = self._run or Path(stack.enter_context(TemporaryDirectory(prefix="webdojo-"))) / "run"
        self.store = stack.enter_context(self._open(folder))
        await stack.enter_async_context(self.recipe.env)
        self.scorer = await stack.enter_async_context(Scorer(self._reward, self.store.images, folder))

    def _open(self, folder: Path) -> RunStore:
        if (folder / DATABASE).exists():
            check_unchanged(folder, self.recipe)
            return RunStore.open(folder)
        return RunStore.create(folder, dump_recipe(self.recipe, whole_paths=True), run_info(self.recipe.seed))

    def choose(self, task: str = "", seed: int | None = None) -> Task:
        """The task of that id; without one, the one that the seed draws, or any."""
        if not task:
            draw = self._random if seed is None else random.Random(f"{seed}/task")
            return draw.choice(list(self.tasks.values()))
        return task_named(task, self.tasks)

    def check(self, task: Task) -> None:
        """Raise a TaskError where a task cannot be done or judged here."""
        self.recipe.env.check(task)
        self._reward.check(task)


class EpisodeHost(TaskHost):
    """Runs episodes in browsers of its own.

    Args:
        recipe: its sections `browser` and `rollout` count, too.
        view: what else of a page the agent sees, besides the screenshot.
        idle_timeout_s: episodes that nobody asks for so long are given up, as invalid; 0 has no limit.
    """

    def __init__(
        self,
        recipe: Recipe,
        phase: str,
        *,
        run: Path | None = None,
        split: Split = "train",
        tasks: int = 100,
        view: View | None = None,
        idle_timeout_s: float = 600,
    ) -> None:
        super().__init__(recipe, phase, run=run, split=split, tasks=tasks)
        self.view = view
        self.episodes: set[HostedEpisode] = set()
        """Those that are under way."""
        self._idle_timeout_s = idle_timeout_s
        self._pool: Pool[Session]

    async def _start(self, stack: AsyncExitStack) -> None:
        await super()._start(stack)
        self._pool = await stack.enter_async_context(open_browsers(self.recipe, self.store.images))
        stack.push_async_callback(self._end_all)
        reaper = asyncio.create_task(self._reap())
        stack.callback(reaper.cancel)

    async def begin(self, task: Task, *, seed: int | None = None, id: str = "", group: str = "") -> HostedEpisode:
        """Begin an episode.

        Args:
            task: any that the environment has.
            seed: of what the environment draws, such as perturbations; None draws one.
            id: of its trajectory, if it is to have a certain one.
            group: shared by the episodes that are compared with one another.

        Raises:
            StartError: the start URL cannot be reached, or the environment fails.
            BrowserError: no browser can be had.
            ConfigError: the id is taken.
        """
        self.check(task)
        if id and (any(each.trajectory.id == id for each in self.episodes) or self.store.has_trajectory(id)):
            raise ConfigError(f"there is an episode {id!r} already: every episode needs its own id")
        rollout = self.recipe.rollout
        episode = await SteppedEpisode.begin(
            task,
            env=self.recipe.env,
            pool=self._pool,
            scorer=self.scorer,
            max_steps=rollout.horizon(task.difficulty),
            max_format_errors=self.recipe.harness.max_format_errors,
            view=self.view,
            seed=str(self._random.getrandbits(32) if seed is None else seed),
            id=id or f"{task.id}-{uuid4().hex[:12]}",
            group=group,
        )
        hosted = HostedEpisode(self, episode)
        self.episodes.add(hosted)
        return hosted

    def keep(self, hosted: HostedEpisode) -> None:
        """Store an episode that is over."""
        if hosted in self.episodes:
            self.episodes.remove(hosted)
            self.store.add_trajectory(hosted.trajectory, self.phase, 0)

    async def _end_all(self) -> None:
        await asyncio.gather(*(each.give_up("the host was stopped") for each in list(self.episodes)))

    async def _reap(self) -> None:
        """Give up episodes that nobody asks for any more."""
        limit = self._idle_timeout_s
        while limit:
            await asyncio.sleep(min(limit / 4, 30))
            now = time.monotonic()
            for each in [each for each in self.episodes if now - each.used > limit and not each.busy.locked()]:
                with contextlib.suppress(ConfigError, TaskError):  # of its reward; the others still have to be ended
                    await each.give_up(f"nobody has asked for it for {limit:g} s")
