"""The environments of sites that are there already: they serve nothing, and have no verdict (name a `reward`).

`web` is any site, on the open web or an application that runs somewhere, and has no tasks of its own (`tasks.path`
names a file of them). `webarena` has the tasks of a WebArena config file (Zhou et al. 2023) on sites that the user
hosts. A row names its sites by placeholders such as `__SHOPPING__`; its `eval` is carried over to `Task.evaluator`,
placeholders filled in, for a reward that finds it there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from webdojo.envs.env import Environment, Split
from webdojo.errors import TaskError
from webdojo.tasks.records import read_rows
from webdojo.types import Task

_PLACEHOLDER = re.compile(r"__[A-Z]+(?:_[A-Z]+)*__")
_AND = " |AND| "


class Web(Environment):
    """Any site that is there already."""

    name: str = "web"

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        raise TaskError("the environment 'web' has no tasks of its own: name a file of them, tasks.path=my-tasks.jsonl")


class WebArena(Environment):
    """WebArena's tasks, for training and evaluation alike."""

    name: str = "webarena"
    path: str = ""
    """A list of rows, such as WebArena's `test.raw.json`."""
    sites: dict[str, str] = {}
    """Address of each site by its placeholder: `{__SHOPPING__: http://localhost:7770}`. Tasks that need others are left
    out. Addresses that are not public stand in `browser.guard.private_hosts` too."""

    def tasks(self, split: Split, n: int, seed: int) -> Sequence[Task]:
        return load(self.path, self.sites)[:n]


class _Row(BaseModel):
    """What is read of a row; it has more."""

    task_id: int | str
    intent: str
    start_url: str
    sites: list[str]
    eval: dict[str, Any]
    storage_state: str | None = None
    intent_template_id: int | None = None
    require_reset: bool = False

    def needs(self) -> set[str]:
        """Placeholders of all sites that the task is about; some are named in `sites` only."""
        named = {f"__{site.upper()}__" for site in self.sites}
        return named | set(_PLACEHOLDER.findall(self.start_url)) | set(_PLACEHOLDER.findall(str(self.eval)))


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
    rows = read_rows(path, _Row, wrong=" is no WebArena task")
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
        evaluator={"type": "webarena", **_filled(row.eval, sites)},
        metadata={
            "sites": row.sites,
            "more_start_urls": more,
            "intent_template_id": row.intent_template_id,
            "require_reset": row.require_reset,
        },
    )


def _filled(value: Any, sites: Mapping[str, str]) -> Any:
    """A JSON value with every placeholder replaced by its address."""
    quoted = {placeholder: json.dumps(address.rstrip("/"))[1:-1] for placeholder, address in sites.items()}
    return json.loads(_PLACEHOLDER.sub(lambda found: quoted[found[0]], json.dumps(value)))
