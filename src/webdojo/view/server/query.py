"""What a reader asks of the list of trajectories, as it stands in the address of the page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from webdojo.errors import ConfigError

FACETS = ("phase", "iteration", "kind", "website", "difficulty", "outcome", "termination")
"""Columns to filter by, several values each; their values are counted beside the list."""
EXACT = ("task", "group")
"""Columns to filter by, one value each, because every few trajectories have one of their own."""
SORTS = ("added", "reward", "steps", "tokens", "iteration", "difficulty", "task", "website", "termination")
NEWEST = "-added"


@dataclass(frozen=True)
class Query:
    """Filters and order of a list; the default is all, the newest first."""

    wanted: tuple[tuple[str, frozenset[str]], ...] = ()
    """Values by column of `FACETS` or `EXACT`; one of each must be there."""
    text: str = ""
    """Beginnings of words that must all be in what was seen, said or done."""
    version: int | None = None
    """The version of the weights that sampled the last response."""
    disagree: bool = False
    """Only those about which two judges disagree."""
    tag: str = ""
    """Only those to which the reader has given this tag."""
    sort: str = NEWEST
    """A name of `SORTS`; with `-` before it, the largest first."""


def parse_query(items: Iterable[tuple[str, str]]) -> Query:
    """Read the parameters of an address; empty ones and those of other things do not count.

    Raises:
        ConfigError: a value cannot be used.
    """
    wanted: dict[str, set[str]] = {}
    rest: dict[str, Any] = {}
    for name, value in items:
        if name in FACETS or name in EXACT:
            if value:
                wanted.setdefault(name, set()).add(value)
        elif name in ("q", "tag"):
            rest["text" if name == "q" else name] = value.strip()
        elif name == "disagree":
            rest[name] = value == "1"
        elif name == "version" and value:
            if not value.isdecimal():
                raise ConfigError(f"version={value!r} is no version: write a whole number")
            rest[name] = int(value)
        elif name == "sort" and value:
            if value.removeprefix("-") not in SORTS:
                raise ConfigError(f"sort={value!r} is no order: take one of {', '.join(SORTS)}, or -added and the like")
            rest[name] = value
    return Query(tuple((name, frozenset(values)) for name, values in sorted(wanted.items())), **rest)
