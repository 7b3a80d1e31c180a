"""What every kind of site has in common: requests, replies, per-session state, and the registry.

A `Site` is immutable and shared by all sessions; it answers a `Request` with a `Page` or a
`Redirect` and touches nothing but the `Overlay` handed to it, which belongs to one session on one
host.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from webdojo.errors import TaskError
from webdojo.sites import COMPACT_KINDS, host_of
from webdojo.sites.actions import Action
from webdojo.sites.catalog import Collection, Entity
from webdojo.sites.compact import Row
from webdojo.sites.design.look import Look, make_look
from webdojo.sites.goal import Goal
from webdojo.sites.perturbations.schedule import PerturbationState
from webdojo.types import Task

T = TypeVar("T")
_EMBEDDED = 3


@dataclass
class Overlay:
    """What one session changed and saw on one host."""

    state: dict[str, Any] = field(default_factory=dict)
    """What it changed: JSON scalars by keys such as `cart/red-mug`; what has no key is unchanged."""
    visited: list[str] = field(default_factory=list)
    """Paths with query, in the order they were served."""
    seen: set[str] = field(default_factory=set)
    """Facts that served pages showed, as `slug.label`: what the session can know."""
    drafts: dict[str, dict[str, str]] = field(default_factory=dict)
    """Values of forms that are not sent yet, by path of the form; no task asks for them."""
    perturbations: PerturbationState | None = None
    """What has gone wrong for the session on this host; None: nothing can."""

    def snapshot(self) -> dict[str, Any]:
        """The JSON that evaluators read."""
        own = {"state": dict(self.state), "visited": list(self.visited), "seen": sorted(self.seen)}
        events = self.perturbations.events if self.perturbations is not None else []
        return {**own, "perturbations": list(events)} if events else own


@dataclass(frozen=True)
class Request:
    """One HTTP request, reduced to what sites look at. `values` is the query, or a POST's form."""

    method: str
    path: str
    values: dict[str, str]
    """Values by name; several values of one name, such as ticked boxes, are joined by `, `."""


@dataclass(frozen=True)
class Page:
    """A page before it is laid out: `name` picks the template, `data` fills it."""

    name: str
    title: str
    data: dict[str, Any] = field(default_factory=dict)
    shows: tuple[str, ...] = ()
    """Facts on the page, as `slug.label`."""
    status: int = 200


@dataclass(frozen=True)
class Redirect:
    """Sends the browser to another path of the same site after a change of state."""

    path: str


class Site(ABC):
    """One site: content and look of a (kind, seed)."""

    kind: str
    layout: str = ""
    """The layout that its tasks are about; empty: they are the same in all."""
    collections: dict[str, Collection]
    """What it is about, by slug; the first is the one that the site is about."""
    actions: tuple[Action, ...] = ()
    menu: tuple[Action, ...] = ()
    """Actions without fields that only the menu of a right click on a thing in a list offers."""
    goals: tuple[Callable[[Any, int, random.Random], Goal | None], ...] = ()
    """Makers of goals that only this kind has, as those in `catalog_goals.py`."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.host = host_of(self.kind, seed)
        self.look: Look = make_look(self.kind, seed)

    @classmethod
    def make(cls, seed: int, layout: str) -> Self:
        """The site of a seed as a layout shows it: most are the same in all."""
        return cls(seed)

    def own_goal(self, difficulty: int, rng: random.Random) -> Goal | None:
        """Draw a goal where the site has none of those that catalogue sites share; here it has them."""
        return None

    def corner(self, overlay: Overlay) -> tuple[str, str] | None:
        """Text and address of the link in the corner of every page; None: there is none."""
        return None

    @cached_property
    def main(self) -> Collection:
        return next(iter(self.collections.values()))

    def embedded(self) -> list[Entity]:
        """What the box shows that other sites embed."""
        return random.Random(f"{self.host}-embed").sample(self.main.entities, _EMBEDDED)

    @abstractmethod
    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        """Answer a request; changes only `overlay`."""

    @abstractmethod
    def compact(self, page: Page, overlay: Overlay) -> list[Row] | None:
        """Lay a page out on the grid of the compact layout; None: its template serves both layouts."""

    @abstractmethod
    def view(self, page: Page) -> dict[str, Any]:
        """What the full-size templates need besides the page's data."""

    @abstractmethod
    def paths(self) -> Iterator[str]:
        """Every page of the site that a GET request shows, home first, as path with query."""

    @abstractmethod
    def way_to(self, path: str) -> tuple[str, str]:
        """The page that links to `path` on the way from home, and what that link says."""

    @abstractmethod
    def reason(self, path: str) -> str:
        """Why the way leads through `way_to(path)`, if the names do not say it: `Red Mug is a Mug.`; else empty."""

    @property
    def per_page(self) -> int:
        """How many things one page of a list shows."""
        return self.look.per_page

    def pages(self, count: int) -> int:
        """How many pages a list of `count` things has; an empty list has one."""
        return max(1, -(-count // self.per_page))

    def paged(self, found: Sequence[T], values: dict[str, str]) -> tuple[list[T], int, int]:
        """The things on the page that a query asks for, that page (1 and up), and how many there are."""
        pages = self.pages(len(found))
        asked = values.get("page", "1")
        page = min(max(int(asked), 1), pages) if asked.isdecimal() else 1
        start = (page - 1) * self.per_page
        return list(found[start : start + self.per_page]), page, pages

    def url(self, path: str = "/") -> str:
        """Absolute URL of a path of this site."""
        return f"http://{self.host}{path}"


def check_layout(task: Task, layout: str) -> None:
    """Make sure that the pages of a layout are those that a task is about.

    Raises:
        TaskError: the task was drawn for the other layout of a site that is not the same in both.
    """
    drawn = task.metadata.get("layout", "compact")
    if task.kind in COMPACT_KINDS and "plan" in task.metadata and drawn != layout:
        raise TaskError(
            f"task {task.id!r} is about the {drawn!r} layout of its site, and this episode would show {layout!r}; "
            f"draw tasks with layout={layout!r}, or run them with layout={drawn!r}"
        )


def href(path: str, **query: object) -> str:
    """Path with query in canonical form: keys sorted, empty values and page 1 left out."""
    kept = {
        key: str(value) for key, value in sorted(query.items()) if value != "" and (key, str(value)) != ("page", "1")
    }
    return f"{path}?{urlencode(kept)}" if kept else path


def canonical(path: str) -> str:
    """A path with query as `href` writes it."""
    parts = urlsplit(path)
    return href(parts.path.rstrip("/") or "/", **dict(parse_qsl(parts.query)))
