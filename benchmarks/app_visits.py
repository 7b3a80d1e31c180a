"""Episodes on one application: played in a real Chromium, judged, and kept so that they can be judged again."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from sites import Agent, Played

from webdojo.browser.config import BrowserConfig
from webdojo.browser.pool import BrowserPool
from webdojo.browser.session import BrowserSession
from webdojo.envs.apps.application import DATABASE, DEFAULT_FOLDER, Home
from webdojo.envs.apps.env import Apps
from webdojo.envs.apps.inside import PAGES
from webdojo.envs.apps.registry import APPLICATIONS
from webdojo.envs.apps.script import PlanScript
from webdojo.envs.apps.verdict import evaluate, state_of
from webdojo.envs.env import Visit
from webdojo.errors import WebdojoError
from webdojo.progress import Progress
from webdojo.sites.verdict import Verdict
from webdojo.store.images import MemoryImages
from webdojo.types import Task

VIEWPORT = (1280, 1000)
MOST_STEPS = 80
POOL = 400
"""Tasks of a split that those of an episode, and the others of its world, are taken from."""


@dataclass(frozen=True)
class Left:
    """What an episode leaves behind, apart from its answer."""

    home: Home
    snapshot: Path
    folder: Path
    pages: Sequence[dict[str, Any]] = field(repr=False)

    def verdict(self, task: Task, answer: str | None) -> Verdict:
        """How a task is judged that ends here with an answer."""
        return evaluate(task, answer, state_of(task, self.home.changes(self.snapshot, self.folder), self.pages))

    def having_shown(self, pages: Sequence[dict[str, Any]]) -> Left:
        return replace(self, pages=pages)

    @property
    def databases(self) -> tuple[Path, Path]:
        """Before and after."""
        return self.snapshot / DATABASE, self.folder / DATABASE


@dataclass(frozen=True)
class Episode:
    """How one ended; `left` is None where the system failed."""

    task: Task
    answer: str | None
    success: bool
    steps: int
    reason: str
    left: Left | None


@dataclass(frozen=True)
class Tasks:
    """Tasks of one application over few worlds: those to be done, and all that were drawn."""

    chosen: Sequence[Task]
    pool: Sequence[Task]


def drawn(name: str, n: int, worlds: int, seed: int) -> Tasks:
    """`n` tasks that alternate between training and held-out worlds, and between templates."""
    env = Apps(applications=[name], train_seeds=worlds, heldout_seeds=worlds)
    splits = [list(env.tasks(split, max(POOL, n), seed)) for split in ("train", "eval")]  # type: ignore[arg-type]
    both = [task for task in chain(*zip_longest(*splits)) if task is not None]
    return Tasks(both[:n], both)


def home_of(name: str, folder: str) -> Home:
    """Where an application is installed.

    Raises:
        Missing: it is not.
    """
    home = Home(APPLICATIONS.get(name)(), Path(folder) if folder else DEFAULT_FOLDER)
    home.check()
    return home


async def by_plan(task: Task, session: BrowserSession) -> Played:
    """Do the task by the plan in its metadata."""
    script, played = PlanScript(task), Played(None, 0)
    while played.answer is None and played.steps < MOST_STEPS:
        step = await script.step(session)
        played.answer = (await session.act(step.calls)).answer
        played.steps += 1
    return played


class Stage:
    """An application that is being served, and a browser that can visit it."""

    def __init__(self, env: Apps, browsers: BrowserPool, slots: int, kept: Path) -> None:
        self.env, self._browsers, self._kept = env, browsers, kept
        self._slots = asyncio.Semaphore(slots)

    async def play(self, tasks: Collection[Task], agent: Agent, bar: Progress) -> list[Episode]:
        """One episode of each task, as many at once as there are slots."""

        async def one(task: Task) -> Episode:
            async with self._slots:
                episode = await self._episode(task, agent)
            bar.advance(1)
            return episode

        return await asyncio.gather(*(one(task) for task in tasks))

    async def _episode(self, task: Task, agent: Agent) -> Episode:
        played, visit = Played(None, 0), None
        try:
            visit = await self.env.visit(task)
            played = await self.act(task, visit, agent)
            left = await asyncio.to_thread(self._keep, visit)
            verdict = await asyncio.to_thread(left.verdict, task, played.answer)
            return Episode(task, played.answer, verdict.success, played.steps, verdict.reason, left)
        except WebdojoError as error:
            return Episode(task, played.answer, False, played.steps, str(error), None)
        finally:
            if visit is not None:
                await self.env.leave(visit)

    async def act(self, task: Task, visit: Visit, agent: Agent) -> Played:
        session = await self._browsers.open(visit.start_url, visit.headers, visit.storage_state)
        try:
            return await agent(task, session)
        finally:
            await session.close()

    def _keep(self, visit: Visit) -> Left:
        """A copy of what a visit has left, since its folder goes with it."""
        stay = self.env.front.stay(visit.id)
        folder = Path(mkdtemp(dir=self._kept))
        shutil.copytree(stay.folder, folder, ignore=shutil.ignore_patterns(PAGES), dirs_exist_ok=True)
        connection = sqlite3.connect(folder / DATABASE)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that one file has it all
        connection.close()
        return Left(stay.home, stay.snapshot, folder, list(stay.pages()))


@asynccontextmanager
async def stage(name: str, folder: str, worlds: int, slots: int, kept: Path) -> AsyncIterator[Stage]:
    """Serve an application, and start a browser."""
    env = Apps(applications=[name], folder=folder, train_seeds=worlds, heldout_seeds=worlds)
    async with env, BrowserPool(BrowserConfig(viewport_px=VIEWPORT), MemoryImages(capacity=8), env.hosts) as browsers:
        yield Stage(env, browsers, slots, kept)


async def prepare(env: Apps, tasks: Collection[Task]) -> None:
    """Make the data of all worlds that the tasks are of, and start the application."""
    for task in {task.website: task for task in tasks}.values():
        await env.leave(await env.visit(task))


async def reset_seconds(env: Apps, tasks: Sequence[Task], bar: Progress) -> list[float]:
    """How long each visit takes to begin, one after the other, where data is there and the application has started."""
    seconds = []
    for task in tasks:
        began = time.perf_counter()
        visit = await env.visit(task)
        seconds.append(time.perf_counter() - began)
        await env.leave(visit)
        bar.advance(1)
    return seconds
