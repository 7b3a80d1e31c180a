"""Task sets by name: `load("miniwob")`, `load("webarena", path=…, sites=…)`, `load("records", path=…)`.

One file a source, listed in `SOURCES`. A source only reads files; it starts no server and no browser.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from webdojo.errors import TaskError
from webdojo.tasks import miniwob, records, webarena
from webdojo.types import Task


@dataclass(frozen=True)
class Source:
    """Where tasks come from, and which options of `load` it needs and takes."""

    load: Callable[..., list[Task]]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


SOURCES: dict[str, Source] = {
    "miniwob": Source(miniwob.load, takes=("seeds",)),
    "records": Source(records.load, needs=("path",)),
    "webarena": Source(webarena.load, needs=("path", "sites")),
}
"""All sources by name."""


def load(
    name: str,
    *,
    path: str | Path | None = None,
    sites: Mapping[str, str] | None = None,
    seeds: Sequence[int] | None = None,
) -> list[Task]:
    """Load a task set.

    Args:
        name: `miniwob` (MiniWoB++, pages of the package of that name), `webarena` (a WebArena config file), or
            `records` (our own `Task` records, as JSON or one a line).
        path: of the file, for `webarena` and `records`.
        sites: for `webarena`, where you host its sites: `{"__SHOPPING__": "http://localhost:7770"}`.
        seeds: for `miniwob`, the instances of each task; 0 alone if absent.

    Raises:
        TaskError: unknown name, an option that the source lacks or does not take, or a file that it cannot read.
    """
    if name not in SOURCES:
        nearest = difflib.get_close_matches(name, SOURCES, n=1, cutoff=0.5)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"task sets: {', '.join(SOURCES)}"
        raise TaskError(f"unknown task set {name!r}; {hint}")
    source = SOURCES[name]
    options = {"path": path, "sites": sites, "seeds": seeds}
    given = {key: value for key, value in options.items() if value is not None}
    for key in source.needs:
        if key not in given:
            raise TaskError(f"task set {name!r} needs {key}=…; see webdojo.tasks.load")
    for key in given:
        if key not in source.needs + source.takes:
            raise TaskError(f"task set {name!r} takes no {key}; leave it out")
    return source.load(**given)
