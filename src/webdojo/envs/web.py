"""The environments of sites that are there already: they serve nothing.

`web` is any site, on the open web or an application that runs somewhere, and has neither tasks of its own (`tasks.path`
names a file of them) nor a verdict (name a `reward`). `webarena` has the tasks of a WebArena config file (Zhou et al.
2023) on sites that the user hosts, and WebArena's evaluators. A row names its sites by placeholders such as
`__SHOPPING__`; its `eval` is carried over to `Task.evaluator`, placeholders filled in.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, Field, field_validator

from webdojo.browser.network.address import host_of
from webdojo.envs.env import Environment, Split
from webdojo.envs.polite import Robots, is_own
from webdojo.errors import Failure, Missing, StartError, TaskError
from webdojo.pace import Pace
from webdojo.reward.webarena.reward import WebArenaReward
from webdojo.reward.webarena.spec import PLACEHOLDER, needs_grader, read_spec
from webdojo.tasks.records import read_rows
from webdojo.types import Task

_AND = " |AND| "


class Web(Environment):
    """Any site that is there already. It is polite to sites of others: episodes at one host begin at a limited rate,
    robots.txt is honoured, a site that turns robots away is left, and nobody logs in."""

    name: str = "web"
    episodes_per_minute: float = Field(default=30, ge=0)
    """Episodes that begin at one host, spread evenly; 0 is no limit. Hosts that are not public, your own, have none.
    What pages then load is bounded by `browser.guard.connections_per_second`."""
    robots_txt: bool = True
    """Begin no episode where the site's robots.txt forbids the start URL to programs. Hosts that are not public, your
    own, are not asked."""
    allow_login: bool = False
    """Take tasks with a `storage_state`, which act as somebody who has logged in."""

    is_there_already: ClassVar[bool] = True
    leaves_blocked_pages: ClassVar[bool] = True

    @cached_property
    def _paces(self) -> defaultdict[str, Pace]:
        return defaultdict(lambda: Pace(self.episodes_per_minute, 0))

    @cached_property
    def _robots(self) -> Robots:
        return Robots()

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        raise Missing(
            "the environment 'web' has no tasks of its own: name a file of them, tasks.path=my-tasks.jsonl to train "
            "on, tasks.eval_path=… to measure on; docs/your-own.md and docs/benchmarks.md say what is in it"
        )

    def check(self, task: Task) -> None:
        if task.storage_state and not self.allow_login:
            raise TaskError(
                f"task {task.id!r} begins logged in (storage_state), and agents log in nowhere on the web unless "
                "env.allow_login=true says that they may"
            )

    async def admit(self, task: Task) -> None:
        self.check(task)
        if self.robots_txt and not await self._robots.allows(task.start_url):
            raise StartError(f"robots.txt forbids {task.start_url} to programs (env.robots_txt)", Failure.ROBOTS_TXT)
        host = host_of(task.start_url)
        if not await is_own(host):
            await asyncio.sleep(self._paces[host].book(time.monotonic(), 0))


class WebArena(Environment):
    """WebArena's tasks."""

    is_there_already: ClassVar[bool] = True
    name: str = "webarena"
    path: str = ""
    """A list of rows, such as WebArena's `test.raw.json`, or WebArena-Verified's for the reward of that name."""
    eval_path: str = ""
    """The rows that policies are measured on; empty takes `path`, so that both are the same tasks."""
    sites: dict[str, str] = {}
    """Address of each site by its placeholder: `{__SHOPPING__: http://localhost:7770}`. Tasks that need others are left
    out. Addresses that are not public stand in `browser.guard.private_hosts` too."""

    graded: bool = True
    """Whether tasks are kept whose evaluators ask a language model."""

    @property
    def reward(self) -> WebArenaReward:
        return WebArenaReward()

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        path = self.path if split == "train" else self.eval_path or self.path
        if not path:
            raise Missing("no file of WebArena's tasks is named: env.path=test.raw.json (and env.eval_path)")
        if not self.sites:
            raise Missing(
                "no site of WebArena is named: host them, and give the address of each by its placeholder, "
                "'env.sites={__SHOPPING__: http://localhost:7770}' browser.guard.private_hosts=[localhost]"
            )
        tasks = load(path, self.sites)
        if not self.graded:
            tasks = [task for task in tasks if not _asks_model(task)]
        return tasks[:n]


class _Row(BaseModel):
    """What is read of a row; it has more."""

    task_id: int | str
    intent: str
    start_url: str = Field(validation_alias=AliasChoices("start_url", "start_urls"))
    sites: list[str]
    eval: dict[str, Any] | list[dict[str, Any]]
    """A list in the rows of WebArena-Verified, which the library of that name reads by `task_id` from its own data."""
    storage_state: str | None = None
    intent_template_id: int | None = None
    require_reset: bool = False

    @field_validator("start_url", mode="before")
    @classmethod
    def _joined(cls, given: Any) -> Any:
        return _AND.join(map(str, given)) if isinstance(given, list) else given

    def needs(self) -> set[str]:
        """Placeholders of all sites that the task is about; some are named in `sites` only."""
        named = {f"__{site.upper()}__" for site in self.sites}
        return named | set(PLACEHOLDER.findall(self.start_url)) | set(PLACEHOLDER.findall(str(self.eval)))


def load(path: str | Path, sites: Mapping[str, str]) -> list[Task]:
    """The tasks of a file whose sites are all hosted; those that need another site are left out.

    The file with a row's log-in is `storage_state` of its task, as it stands there: relative to the folder that
    webdojo runs in. Further start pages, which WebArena opens in tabs of their own, go to `metadata`
    (`more_start_urls`). Raises TaskError for what is wrong with the file or with `sites`.
    """
    for placeholder, address in sites.items():
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise TaskError(
                f"sites[{placeholder!r}] = {address!r} is no address; give one such as http://localhost:7770"
            )
    rows = list(read_rows(path, _Row, wrong=" is no WebArena task"))
    known = sorted({placeholder for row in rows for placeholder in row.needs()})
    for placeholder in sites:
        if placeholder not in known:
            raise TaskError(f"no task of {str(path)!r} is on {placeholder}; its sites are {', '.join(known)}")
    tasks = [_task(row, sites) for row in rows if row.needs() <= sites.keys()]
    if not tasks:
        given = ", ".join(sites) or "no site"
        raise TaskError(f"no task of {str(path)!r} is on {given} alone; its sites are {', '.join(known)}")
    return tasks


def _task(row: _Row, sites: Mapping[str, str]) -> Task:
    start_url, *more = _filled(row.start_url, sites).split(_AND)
    return Task(
        id=f"webarena:{row.task_id}",
        instruction=row.intent,
        start_url=start_url,
        website=urlsplit(start_url).hostname or "",
        storage_state=row.storage_state or "",
        evaluator={
            "sites": {placeholder: sites[placeholder].rstrip("/") for placeholder in sorted(row.needs())},
            **(
                {"type": "webarena", **_filled(row.eval, sites)}
                if isinstance(row.eval, dict)
                else {"type": "webarena_verified", "task_id": row.task_id}
            ),
        },
        metadata={
            "sites": row.sites,
            "more_start_urls": more,
            "intent_template_id": row.intent_template_id,
            "require_reset": row.require_reset,
        },
    )


def _asks_model(task: Task) -> bool:
    """Whether an evaluator of the task, of either dialect, asks a language model."""
    return task.evaluator["type"] == "webarena" and needs_grader(read_spec(task.evaluator, "webarena_lite"))


def _filled(value: Any, sites: Mapping[str, str]) -> Any:
    """A JSON value with every placeholder replaced by its address."""
    quoted = {placeholder: json.dumps(address.rstrip("/"))[1:-1] for placeholder, address in sites.items()}
    return json.loads(PLACEHOLDER.sub(lambda found: quoted[found[0]], json.dumps(value)))
