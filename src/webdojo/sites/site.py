"""What sites are asked and answer, the state of a session, and how addresses are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from webdojo.errors import TaskError
from webdojo.sites import layout_of
from webdojo.sites.catalog import fact_name
from webdojo.sites.perturbations.schedule import PerturbationState
from webdojo.types import Task


@dataclass
class Overlay:
    """What one session changed and saw on one host."""

    state: dict[str, Any] = field(default_factory=dict)
    """What it changed: JSON scalars by keys such as `cart/red-mug`; what has no key is unchanged."""
    visited: list[str] = field(default_factory=list)
    """Paths with query, in the order they were served."""
    seen: set[str] = field(default_factory=set)
    """Facts that served pages showed, as `slug.label`: what the session can know."""
    came: dict[str, str] = field(default_factory=dict)
    """By path with query, the path of the other page of this host whose link or form led there last."""
    followed: set[tuple[str, str]] = field(default_factory=set)
    """Every such path, with the path and query that it led to."""
    drafts: dict[str, dict[str, str]] = field(default_factory=dict)
    """Values of forms that are not sent yet, by path of the form; no task asks for them."""
    perturbations: PerturbationState | None = None
    """What has gone wrong for the session on this host; None: nothing can."""

    def snapshot(self) -> dict[str, Any]:
        """The JSON that evaluators read."""
        own: dict[str, Any] = {"state": dict(self.state), "visited": list(self.visited), "seen": sorted(self.seen)}
        own["followed"] = [list(each) for each in sorted(self.followed)]
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
    """Facts on the page besides those on its cards, as `slug.label`."""
    status: int = 200

    @property
    def facts(self) -> Iterator[str]:
        """All facts that are on screen."""
        yield from self.shows
        for block in self.data.get("blocks", ()):
            for card in block.all_cards:
                yield fact_name(card.slug)
                yield from (fact_name(card.slug, label) for label, _ in card.facts)


@dataclass(frozen=True)
class Redirect:
    """Sends the browser to another path of the same site after a change of state."""

    path: str


def check_layout(task: Task, layout: str) -> None:
    """Make sure that the pages of a layout are those that a task is about."""
    drawn = task.metadata.get("layout", "compact")
    if "plan" in task.metadata and layout_of(task.kind, drawn) != layout_of(task.kind, layout):
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
