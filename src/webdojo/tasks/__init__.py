"""Task sets by name: `load("dojo:train")`, `load("miniwob")`, `load("webarena", path=…, sites=…)`, and more.

One file a source, listed in `SOURCES`. A source only reads files or draws tasks; it starts no server and no browser.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal, overload

from webdojo.errors import TaskError
from webdojo.tasks import miniwob, records, webarena
from webdojo.types import Task


@dataclass(frozen=True)
class Source:
    """Where tasks come from, and which options of `load` it needs and takes."""

    load: Callable[..., Iterable[Task]]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    splits: bool = False
    """The name goes on with a colon and a split: `dojo:train`."""


def _dojo(**options: object) -> Iterator[Task]:
    # By name, because the sites stand above the task sets and import them.
    stream: Callable[..., Iterator[Task]] = import_module("webdojo.sites.splits").stream
    return stream(**options)


SOURCES: dict[str, Source] = {
    "dojo": Source(_dojo, takes=("seed", "kinds", "difficulties", "layout"), splits=True),
    "miniwob": Source(miniwob.load, takes=("seeds",)),
    "records": Source(records.load, needs=("path",)),
    "webarena": Source(webarena.load, needs=("path", "sites")),
}
"""All sources by name."""


@overload
def load(
    name: Literal["miniwob", "records", "webarena"],
    *,
    path: str | Path | None = None,
    sites: Mapping[str, str] | None = None,
    seeds: Sequence[int] | None = None,
) -> list[Task]: ...
@overload
def load(
    name: str,
    *,
    path: str | Path | None = None,
    sites: Mapping[str, str] | None = None,
    seeds: Sequence[int] | None = None,
    seed: int | None = None,
    kinds: Sequence[str] | None = None,
    difficulties: Sequence[int] | None = None,
    layout: Literal["auto", "compact"] | None = None,
) -> Iterable[Task]: ...
def load(
    name: str,
    *,
    path: str | Path | None = None,
    sites: Mapping[str, str] | None = None,
    seeds: Sequence[int] | None = None,
    seed: int | None = None,
    kinds: Sequence[str] | None = None,
    difficulties: Sequence[int] | None = None,
    layout: Literal["auto", "compact"] | None = None,
) -> Iterable[Task]:
    """Load a task set.

    Args:
        name: `dojo:train` or another split of the embedded web (`sites.splits`), which is a stream without end;
            `miniwob` (MiniWoB++, pages of the package of that name), `webarena` (a WebArena config file), or `records`
            (our own `Task` records, as JSON or one a line), which are lists.
        path: of the file, for `webarena` and `records`.
        sites: for `webarena`, where you host its sites: `{"__SHOPPING__": "http://localhost:7770"}`.
        seeds: for `miniwob`, the instances of each task; 0 alone if absent.
        seed: for `dojo`, of the draws; 0 if absent.
        kinds: for `dojo`, draw from these kinds of sites only.
        difficulties: for `dojo`, draw tasks of these numbers of facts only.
        layout: for `dojo`, of the pages that the tasks are about; `auto` if absent.

    Raises:
        TaskError: unknown name, an option that the source lacks or does not take, or a file that it cannot read.
    """
    base, colon, split = name.partition(":")
    if base not in SOURCES:
        nearest = difflib.get_close_matches(base, SOURCES, n=1, cutoff=0.5)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"task sets: {', '.join(SOURCES)}"
        raise TaskError(f"unknown task set {name!r}; {hint}")
    source = SOURCES[base]
    if source.splits != bool(colon):
        raise TaskError(
            f"task set {base!r} needs a split, as in '{base}:train'"
            if source.splits
            else f"task set {base!r} has no splits; leave {colon + split!r} out"
        )
    options = {
        "path": path, "sites": sites, "seeds": seeds, "seed": seed, "kinds": kinds, "difficulties": difficulties,
        "layout": layout,
    }  # fmt: skip
    given = {key: value for key, value in options.items() if value is not None}
    for key in source.needs:
        if key not in given:
            raise TaskError(f"task set {name!r} needs {key}=…; see webdojo.tasks.load")
    for key in given:
        if key not in source.needs + source.takes:
            raise TaskError(f"task set {name!r} takes no {key}; leave it out")
    return source.load(split=split, **given) if source.splits else source.load(**given)
