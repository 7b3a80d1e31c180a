"""WebArena config files (Zhou et al. 2023) as tasks on sites that the user hosts.

A row names its sites by placeholders such as `__SHOPPING__`; `sites` says where those are. The row's
`eval` is carried over as data, placeholders filled in, for a judge: rules here do not score it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from webdojo.errors import TaskError
from webdojo.tasks.records import read_rows
from webdojo.types import Task

_PLACEHOLDER = re.compile(r"__[A-Z]+(?:_[A-Z]+)*__")
_AND = " |AND| "


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
    (`more_start_urls`).

    Args:
        path: a list of rows, such as WebArena's `test.raw.json`.
        sites: address of each site by its placeholder: `{"__SHOPPING__": "http://localhost:7770"}`.

    Raises:
        TaskError: a file that cannot be read, a row without one of its fields, an address that is none, a
            placeholder that no row knows, or no row left.
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
