"""The environment `apps` (see the package's docstring)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr

from webdojo.agent.script import ScriptMaker
from webdojo.browser.config import BrowserConfig, StorageState
from webdojo.envs.apps.application import DEFAULT_FOLDER, Application, Home
from webdojo.envs.apps.changes import Change
from webdojo.envs.apps.goal import Template
from webdojo.envs.apps.registry import APPLICATIONS
from webdojo.envs.apps.verdict import DatabaseReward, state_of
from webdojo.envs.env import Environment, Split, Visit
from webdojo.errors import ConfigError, TaskError
from webdojo.reward.function import RewardFunction
from webdojo.sites import HELDOUT_SEED
from webdojo.types import Task

if TYPE_CHECKING:
    from webdojo.envs.apps.serving import Front

_TRIES = 50
"""Draws in a row that give a task which is there already, until there are taken to be no more."""


class Apps(Environment):
    """Real web applications, a fresh copy for every episode."""

    name: str = "apps"
    applications: list[str] = Field(default=["oscar"], min_length=1)
    """Which ones (`webdojo apps list`); your own is named `./file.py:Name` or `package.module:Name`."""
    templates: list[str] = []
    """Names of templates whose tasks are drawn; empty takes all."""
    train_seeds: int = Field(default=20, ge=1)
    """Worlds that train; their seeds count up from 0."""
    heldout_seeds: int = Field(default=10, ge=1)
    """Worlds that policies are measured on; their seeds count up from `sites.HELDOUT_SEED`."""
    folder: str = ""
    """Where applications are installed, and keep their data; empty takes `~/.cache/webdojo/apps`."""

    _front: Any = PrivateAttr(default=None)

    @cached_property
    def _applications(self) -> dict[str, Application]:
        found = [APPLICATIONS.get(name)() for name in self.applications]
        return {application.name: application for application in found}

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        """`n` tasks; applications alternate, and templates alternate within one. There are fewer where worlds have no
        more."""
        return list(islice(self._drawn(split, seed), n))

    def samples(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        return list(islice(self._drawn(split, seed), min(n, 100)))

    def difficulty_levels(self) -> Collection[int]:
        return sorted({task.difficulty for task in self.samples("train", 100, 0)})

    def _drawn(self, split: Split, seed: int) -> Iterator[Task]:
        heldout = split == "eval"
        seeds = range(HELDOUT_SEED, HELDOUT_SEED + self.heldout_seeds) if heldout else range(self.train_seeds)
        return self._of_worlds(seeds, heldout, random.Random(f"apps-{split}-{seed}"))

    def of_world(self, seed: int) -> Iterator[Task]:
        """All tasks of one world, whose phrasings are held out where its seed is."""
        return self._of_worlds([seed], seed >= HELDOUT_SEED, random.Random(f"apps-world-{seed}"))

    def _of_worlds(self, seeds: Sequence[int], heldout: bool, rng: random.Random) -> Iterator[Task]:
        turns = {application: self._templates(application) for application in self._applications.values()}
        if unknown := set(self.templates).difference(each.name for templates in turns.values() for each in templates):
            known = ", ".join(name for application in turns for name in application.templates)
            raise TaskError(f"no application has a template {min(unknown)!r} (env.templates); there are {known}")
        worlds: dict[tuple[str, int], dict[str, Any]] = {}
        ids: set[str] = set()
        misses = at = 0
        while misses < _TRIES:
            application = list(turns)[at % len(turns)]
            templates = turns[application]
            template = templates[at // len(turns) % len(templates)] if templates else None
            at += 1
            if template is None:
                misses += 1
                continue
            number = rng.choice(seeds)
            for each in {application.name, template.beside} - {""}:
                if (each, number) not in worlds:
                    worlds[each, number] = self._applications[each].world(number)
            world = worlds[application.name, number]
            if template.beside:
                world = world | {"beside": worlds[template.beside, number]}
            task = template.task(application.name, application.host(number), number, world, rng, heldout)
            misses = misses + 1 if task.id in ids else 0
            if task.id not in ids:
                ids.add(task.id)
                yield task

    def _templates(self, application: Application) -> list[Template]:
        """Those that are drawn: what `templates` names, and what needs no application that is not there."""
        named = [each for name, each in application.templates.items() if name in (self.templates or [name])]
        alone = [each for each in named if each.beside and each.beside not in self._applications]
        if alone and self.templates:
            raise TaskError(
                f"the template {alone[0].name!r} (env.templates) needs the application {alone[0].beside!r} as well: "
                "name it in env.applications"
            )
        return [each for each in named if each not in alone]

    @property
    def reward(self) -> RewardFunction:
        return DatabaseReward()

    @property
    def oracle(self) -> ScriptMaker:
        from webdojo.envs.apps.script import PlanScript

        return lambda task, view, noise, seed: PlanScript(task)

    def check(self, task: Task) -> None:
        self._home(task)[0].check()
        for name in _beside(task):
            if name not in self._applications:
                raise TaskError(f"task {task.id!r} needs the application {name!r} as well: name it in env.applications")
            self._home_of(name).check()

    def kind_of(self, url: str) -> str:
        host = urlsplit(url).hostname or ""
        return self._place(url, url)[0] if any(host.startswith(f"{name}-") for name in self._applications) else ""

    def _place(self, url: str, named_by: str) -> tuple[str, int]:
        """The application and the seed of an address; raises TaskError if it is of none."""
        parts = urlsplit(url)
        name, _, seed = (parts.hostname or "").removesuffix(".localhost").rpartition("-")
        if parts.scheme != "http" or parts.port or name not in self._applications or not seed.isdecimal():
            hosts = ", ".join(f"http://{name}-17.localhost" for name in self._applications)
            raise TaskError(f"{named_by} begins at {url}, which is no application's; those are at {hosts}")
        return name, int(seed)

    def _home(self, task: Task) -> tuple[Home, int]:
        """Where the application of a task is installed, and the seed of its world."""
        name, seed = self._place(task.start_url, f"task {task.id!r}")
        return self._home_of(name), seed

    def _home_of(self, name: str) -> Home:
        return Home(self._applications[name], Path(self.folder) if self.folder else DEFAULT_FOLDER)

    def check_browser(self, config: BrowserConfig) -> None:
        if config.servers:
            raise ConfigError(
                "the environment 'apps' serves browsers of this machine alone: leave browser.servers empty"
            )

    @property
    def front(self) -> Front:
        assert self._front is not None, "the environment has not started"
        found: Front = self._front
        return found

    async def start(self) -> None:
        """Take a port; applications start when they are first visited."""
        from webdojo.envs.apps.serving import Front

        self._front = Front().__enter__()

    async def close(self) -> None:
        front, self._front = self.front, None
        await asyncio.to_thread(front.__exit__)

    @property
    def hosts(self) -> Mapping[str, str]:
        return {f"{name}-*.localhost:80": self.front.address for name in self._applications}

    async def visit(self, task: Task, seed: str = "") -> Visit:
        from webdojo.envs.apps.serving import VISIT_HEADER

        home, number = self._home(task)
        visit = self.plain_visit(task)
        visit.headers = {VISIT_HEADER: visit.id}
        begins: StorageState = {"cookies": [], "origins": []}
        roles = {home.application.name: task.metadata.get("role", ""), **_beside(task)}
        try:
            for id, (name, role) in zip(_visits(visit), roles.items(), strict=True):
                home = self._home_of(name)
                stay = await asyncio.to_thread(self.front.open, id, home, number)
                begins["cookies"] += home.storage_state(stay.snapshot, role, home.application.host(number))["cookies"]
        except BaseException:
            await asyncio.shield(self.leave(visit))
            raise
        if visit.storage_state is None:
            visit.storage_state = begins
        return visit

    async def state(self, visit: Visit) -> dict[str, Any]:
        """What the visit changed in the databases, and what it was shown, by the host of the task
        (`verdict.state_of`).

        Raises:
            SiteError: the application has crashed.
        """

        def read() -> dict[str, Any]:
            return state_of(visit.task, *self.left_by(visit))

        return {visit.task.website: await asyncio.to_thread(read)}

    def left_by(self, visit: Visit) -> tuple[list[Change], Iterator[dict[str, Any]]]:
        """What a visit has changed in the databases, and the pages that it was served (`inside.PAGES`)."""
        stays = [self.front.stay(id) for id in _visits(visit)]
        changed = [change for stay in stays for change in stay.home.changes(stay.snapshot, stay.folder)]
        return changed, chain.from_iterable(stay.pages() for stay in stays)

    async def is_over(self, visit: Visit) -> bool:
        for id in _visits(visit):
            await asyncio.to_thread(self.front.stay, id)  # raises where its application has crashed
        return False

    async def leave(self, visit: Visit) -> None:
        for id in _visits(visit):
            await asyncio.to_thread(self.front.end, id)


def _beside(task: Task) -> dict[str, str]:
    """The other applications that a task needs, and who has logged in to each."""
    found: dict[str, str] = task.metadata.get("beside", {})
    return found


def _visits(visit: Visit) -> list[str]:
    """The visits of an episode to its application and to others, as `Front` names them."""
    return [visit.id, *(f"{visit.id}/{name}" for name in _beside(visit.task))]
