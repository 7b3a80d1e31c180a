"""Tasks of webdojo for agents of BrowserGym and AgentLab: `browsergym/webdojo.train` and `browsergym/webdojo.eval`.

Importing this module registers both. BrowserGym has the browser, the observations and the actions; the sites, the
verdict and the run folder are ours. An agent answers by a message to the user, or by saying that it cannot be done,
which ends its episode. Its turns are stored with their screenshots and its actions as text, in BrowserGym's words.
"""

from __future__ import annotations

import atexit
import io
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

try:
    import gymnasium
    from browsergym.core.env import BrowserEnv
    from browsergym.core.task import AbstractBrowserTask
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.name} is not installed: pip install browsergym-core, in an environment of its own", name=error.name
    ) from None
from PIL import Image
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from webdojo.browser.chromium import find_chromium
from webdojo.browser.pool import host_flags
from webdojo.envs.env import Split, Visit
from webdojo.errors import BrowserError, ConfigError, StartError
from webdojo.interop.host import TaskHost
from webdojo.recipe import load_recipe
from webdojo.rollout.background import BackgroundLoop
from webdojo.rollout.episode import environment_errors, fail
from webdojo.rollout.stepped import outside_turn
from webdojo.types import Observation, Parsed, Reward, Tab, Task, Termination, Trajectory


class WebdojoTask(AbstractBrowserTask):
    """One episode in BrowserGym's browser."""

    def __init__(self, sites: Sites, seed: int | None, task: str = "") -> None:
        super().__init__(seed)
        self.task = sites.host.choose(task, seed)
        width, height = sites.host.recipe.browser.viewport_px
        self.viewport = {"width": width, "height": height}
        self.slow_mo = 0
        self.timeout = 1000 * sites.host.recipe.browser.start_timeout_s
        self.action = ""
        """What the agent has done since the last look, in BrowserGym's words."""
        self.trajectory: Trajectory | None = None
        self._sites, self._seed = sites, str(seed or 0)
        self._visit: Visit

    def setup(self, page: Page) -> tuple[str, dict[str, Any]]:
        """Begin a visit, and open the page that the task starts at.

        Raises:
            StartError: it cannot be opened, or the environment does not admit the episode.
            ConfigError: the task begins logged in, which BrowserGym's browser is not.
        """
        self._visit = self._sites.run(self._sites.begin(self.task, self._seed))
        try:
            page.context.set_extra_http_headers(self._visit.headers)
            page.goto(self._visit.start_url)
        except PlaywrightError as error:
            self._sites.run(self._sites.host.recipe.env.leave(self._visit))
            raise StartError(f"{self._visit.start_url} cannot be opened: {error}") from error
        self.trajectory = Trajectory(
            id=f"{self.task.id}-{uuid4().hex[:12]}",
            task=self.task,
            seed=self._seed,
            turns=[],
            termination=Termination.ABORTED,
            final=self._look(page),
            began=time.time(),
        )
        return self.task.instruction, {"task_id": self.task.id, "trajectory": self.trajectory.id}

    def validate(self, page: Page, chat_messages: Sequence[dict[str, Any]]) -> tuple[float, bool, str, dict[str, Any]]:
        """The verdict where the agent has answered or the environment has ended the episode, else 0."""
        trajectory = self.trajectory
        assert trajectory is not None and trajectory.final is not None, "validate comes after setup"
        if trajectory.reward is not None:
            return 0.0, True, "", {}
        trajectory.turns.append(outside_turn(trajectory.final, Parsed(), self.action))
        trajectory.final, trajectory.answer = self._look(page), answer_of(chat_messages)
        if trajectory.answer is None and not self._sites.run(self._sites.is_over(self._visit)):
            return 0.0, False, "", {}
        reward = self._end(Termination.COMPLETED)
        said = {"success": reward.success, "valid": reward.valid, "reason": reward.reason}
        return reward.value if reward.valid else 0.0, True, "", said

    def teardown(self) -> None:
        """End an episode that is under way: it is unfinished."""
        if self.trajectory is not None and self.trajectory.reward is None:
            self._end(Termination.STOPPED)

    def _end(self, termination: Termination) -> Reward:
        assert self.trajectory is not None, "there is an episode"
        self.trajectory.termination = termination
        return self._sites.run(self._sites.end(self.trajectory, self._visit))

    def _look(self, page: Page) -> Observation:
        picture, title = page.screenshot(type="png"), ""
        with suppress(PlaywrightError):  # the page is being left
            title = page.title()
        width, height = Image.open(io.BytesIO(picture)).size
        return Observation(
            screenshot=self._sites.run(self._sites.keep_image(picture, width, height)),
            url=page.url,
            title=title,
            tabs=[
                Tab(index=index, url=each.url, title="", active=each is page)
                for index, each in enumerate(page.context.pages)
            ],
            viewport_px=(width, height),
        )


def answer_of(chat_messages: Sequence[dict[str, Any]]) -> str | None:
    """What the agent has said since it was given its goal, the last if it was several things; None: nothing."""
    roles = [message["role"] for message in chat_messages]
    if "user" not in roles:
        return None
    said = [each for each in chat_messages[roles.index("user") :] if each["role"] in ("assistant", "infeasible")]
    return str(said[-1]["message"]) if said else None


class Sites:
    """The environment, the reward and the run folder of a process; its loop runs in a thread."""

    def __init__(self, recipe: str, overrides: Sequence[str], run: str, split: Split, tasks: int) -> None:
        self.host = TaskHost(
            load_recipe(recipe, list(overrides)),
            "browsergym",
            run=Path(run) if run else None,
            split=split,
            tasks=tasks,
        )
        self._loop = BackgroundLoop("webdojo-browsergym")
        self.run = self._loop.run
        self.run(self.host.__aenter__())
        self._folder = TemporaryDirectory(prefix="webdojo-browsergym-")
        self.chromium = Path(self._folder.name) / "chromium"
        """Starts Chromium with the addresses of our sites, where BrowserGym lets nobody add arguments."""
        command = [find_chromium(self.host.recipe.browser), *host_flags(self.host.recipe.env.hosts)]
        self.chromium.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        self.chromium.chmod(0o755)
        atexit.register(self.close)

    def close(self) -> None:
        self.run(self.host.__aexit__())
        self._loop.close()
        self._folder.cleanup()

    async def begin(self, task: Task, seed: str) -> Visit:
        if task.storage_state:
            raise ConfigError(f"task {task.id!r} begins logged in (storage_state), which BrowserGym's browser is not")
        env = self.host.recipe.env
        with environment_errors(env, StartError):
            await env.admit(task)
            return await env.visit(task, seed)

    async def is_over(self, visit: Visit) -> bool:
        with environment_errors(self.host.recipe.env):
            return await self.host.recipe.env.is_over(visit)

    async def keep_image(self, data: bytes, width: int, height: int) -> Any:
        return self.host.store.images.put(data, width, height, "image/png")

    async def end(self, trajectory: Trajectory, visit: Visit) -> Reward:
        """End a visit, and score and store its episode."""
        env = self.host.recipe.env
        try:
            with environment_errors(env):
                try:
                    trajectory.state = await env.state(visit)
                finally:
                    await env.leave(visit)
        except BrowserError as error:
            fail(trajectory, Termination.ENV_ERROR, error)
        trajectory.seconds = {"total": time.time() - trajectory.began}
        await self.host.scorer.score(trajectory)
        self.host.store.add_trajectory(trajectory, self.host.phase, 0)
        assert trajectory.reward is not None, "a scorer sets it"
        return trajectory.reward


class WebdojoBrowserEnv(BrowserEnv):
    """BrowserGym's environment, whose task learns what the agent has done."""

    def post_step(self, info: dict[str, Any], validate: bool = True) -> Any:
        self.task.action = self.last_action
        return super().post_step(info, validate)


@cache
def _sites(recipe: str, overrides: tuple[str, ...], run: str, split: Split, tasks: int) -> Sites:
    return Sites(recipe, overrides, run, split, tasks)


def make(
    split: Split,
    task_kwargs: dict[str, Any] | None = None,
    pw_chromium_kwargs: dict[str, Any] | None = None,
    **options: Any,
) -> WebdojoBrowserEnv:
    """The environment behind `gymnasium.make("browsergym/webdojo.eval", task_kwargs=…)`.

    Args:
        task_kwargs: `recipe` (its sections env, tasks and reward count, and the viewport), `overrides` of it, `run` (a
            folder that keeps the episodes), `tasks` (at most so many), and `task`, the id of one; without it, the seed
            of `reset` draws one.
        options: BrowserGym's own.
    """
    given = dict(task_kwargs or {})
    task = given.pop("task", "")
    known: dict[str, Any] = {"recipe": "quickstart", "overrides": (), "run": "", "tasks": 100}
    for key in given.keys() - known.keys():
        raise ConfigError(f"unknown task_kwargs {key!r}; there are task, {', '.join(known)}")
    asked = known | given
    sites = _sites(asked["recipe"], tuple(asked["overrides"]), str(asked["run"]), split, asked["tasks"])
    launch = {"executable_path": str(sites.chromium), **(pw_chromium_kwargs or {})}
    entry = partial(WebdojoTask, sites)
    return WebdojoBrowserEnv(entry, task_kwargs={"task": task}, pw_chromium_kwargs=launch, **options)


for _split in ("train", "eval"):
    gymnasium.register(id=f"browsergym/webdojo.{_split}", entry_point=partial(make, _split), nondeterministic=True)
