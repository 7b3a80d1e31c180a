"""Splits of a task set by web site, none of which two parts share, and the file by which others find them again.

A site is what `tasks.site` says. Sites stand in an order that a seed and their names alone decide, so a site keeps its
place in a set that grows; each held-out part takes those that still fit into what is asked, and `train` has the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from webdojo.errors import TaskError
from webdojo.store.files import write_atomic
from webdojo.tasks.site import site_of
from webdojo.types import Record, Task
from webdojo.version import __version__

SCHEMA_VERSION = 1
TRAIN = "train"
"""The part that has what is not held out."""
Counted = Literal["task", "site"]


class Census(Record):
    """What a split depends on of a task set."""

    tasks: int
    sha256: str
    """Of what the tasks are, in whatever order, format and with whatever metadata they stand in a file."""
    by_site: dict[str, int] = Field(default_factory=dict, exclude=True)
    """Number of tasks of each site."""


class Part(Record):
    tasks: int
    sites: list[str]


class Split(Record):
    """A split as it stands in its file."""

    schema_version: int = SCHEMA_VERSION
    webdojo: str
    suffixes: str
    """The list of public suffixes that says what a site is."""
    of: Census
    seed: int
    by: Counted
    """What shares and counts are of."""
    held_out: dict[str, float | int]
    """What was asked of each part."""
    parts: dict[str, Part]

    @property
    def part_of(self) -> dict[str, str]:
        """The part of each site."""
        return {site: name for name, part in self.parts.items() for site in part.sites}


def census(tasks: Iterable[Task]) -> Census:
    """Count a task set and name it by a hash; of each task it keeps 32 bytes."""
    sites: Counter[str] = Counter()
    hashes = []
    for task in tasks:
        sites[site_of(task.website)] += 1
        row = task.model_dump(mode="json", exclude={"metadata"})
        hashes.append(hashlib.sha256(json.dumps(row, sort_keys=True).encode()).digest())
    return Census(tasks=len(hashes), sha256=hashlib.sha256(b"".join(sorted(hashes))).hexdigest(), by_site=dict(sites))


def split(of: Census, held_out: Mapping[str, float | int], seed: int, by: Counted = "task") -> Split:
    """Hold sites out.

    Args:
        held_out: by the name of each part, a share (below 1) or a number of tasks or sites. A part has at most so many;
            it has fewer where every site that is left is too large. Small parts choose first.

    Raises:
        TaskError: a part, or `train`, would have no site.
    """
    left = sorted(of.by_site, key=lambda site: hashlib.sha256(f"{seed}/{site}".encode()).digest())
    size = {site: of.by_site[site] if by == "task" else 1 for site in left}
    total = sum(size.values())
    room = {name: round(asked * total) if asked < 1 else int(asked) for name, asked in held_out.items()}
    parts: dict[str, list[str]] = {name: [] for name in (TRAIN, *held_out)}
    for name in sorted(room, key=lambda name: room[name]):
        most, taken = room[name], parts[name]
        for site in left:
            if size[site] <= most:
                taken.append(site)
                most -= size[site]
        if not taken:
            least = (
                f"the smallest of {len(left)} has {min(size[site] for site in left)} {by}s" if left else "none is left"
            )
            raise TaskError(
                f"no site fits into the part {name!r} of {held_out[name]:g} ({by}s): {least}; hold out another size"
            )
        left = [site for site in left if site not in set(taken)]
    if not left:
        raise TaskError(f"nothing is left to train on: {', '.join(held_out)} take all {total} {by}s; hold out less")
    parts[TRAIN] = left
    return Split(
        webdojo=__version__,
        suffixes=f"publicsuffixlist {version('publicsuffixlist')}",
        of=of,
        seed=seed,
        by=by,
        held_out=dict(held_out),
        parts={
            name: Part(tasks=sum(of.by_site[site] for site in sites), sites=sorted(sites))
            for name, sites in parts.items()
        },
    )


def write_split(made: Split, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, f"{made.model_dump_json(indent=1)}\n".encode())


def read_split(path: Path) -> Split:
    """A split from its file; a TaskError says what is wrong with it, also where two parts share a site."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        known = data.get("schema_version", SCHEMA_VERSION)
        if known != SCHEMA_VERSION:
            raise TaskError(
                f"split {str(path)!r} has schema_version {known!r}, and webdojo {__version__} reads {SCHEMA_VERSION}: "
                "update webdojo"
            )
        read = Split.model_validate(data)
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"split {str(path)!r} cannot be read: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise TaskError(f"{str(path)!r} is no split: {field}: {first['msg'].lower()}") from None
    except (json.JSONDecodeError, AttributeError) as error:
        raise TaskError(f"{str(path)!r} is no split: {error}") from None
    times = Counter(site for part in read.parts.values() for site in part.sites)
    if shared := [site for site, count in times.items() if count > 1]:
        raise TaskError(f"split {str(path)!r} has {shared[0]} more than once: no two parts may share a site")
    return read


def check(made: Split, of: Census, path: Path) -> None:
    """Raise TaskError where a split, read from `path`, is not of this task set."""
    part_of = made.part_of
    if unknown := sorted(of.by_site.keys() - part_of.keys()):
        raise TaskError(f"split {str(path)!r} does not fit: {_some(unknown)} of the set in no part")
    if missing := sorted(part_of.keys() - of.by_site.keys()):
        raise TaskError(f"split {str(path)!r} does not fit: the set has no task on {_some(missing)}")
    if made.of.sha256 != of.sha256:
        raise TaskError(
            f"split {str(path)!r} does not fit: it is of {made.of.tasks} tasks with sha256 {made.of.sha256[:12]}…, and "
            f"these {of.tasks} have {of.sha256[:12]}…"
        )
    for name, part in made.parts.items():
        if (has := sum(of.by_site[site] for site in part.sites)) != part.tasks:
            raise TaskError(
                f"split {str(path)!r} does not fit: {name} says {part.tasks} tasks, and its sites have {has}"
            )


def in_part(tasks: Iterable[Task], made: Split, name: str) -> Iterator[Task]:
    """The tasks of one part, in their order; a TaskError for a part that there is not, or a site in no part."""
    if name not in made.parts:
        raise TaskError(f"the split has no part {name!r}; it has {', '.join(made.parts)}")
    part_of = made.part_of
    for task in tasks:
        site = site_of(task.website)
        if site not in part_of:
            raise TaskError(f"the split is of another set: {site} of task {task.id!r} is in none of its parts")
        if part_of[site] == name:
            yield task


def _some(sites: list[str]) -> str:
    more = len(sites) - 3
    return f"{', '.join(sites[:3])}{f' and {more} more' if more > 0 else ''}"
