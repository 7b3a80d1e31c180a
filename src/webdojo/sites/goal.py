"""A goal: what should be true at the end, how to say it, and how the oracle gets there.

Goals are drawn per site by `catalog_goals.py`, those of the compact layout by `compact_goals.py`, put into words by
`instructions/`, checked by `verdict.py` and solved by `oracle/`. The plan is a list of sub-goals that can be checked
on any page, so the oracle can carry on from wherever it finds itself:

| sub-goal | holds when |
|---|---|
| `{"do": "visit", "path": p}` | the browser shows path p; `note` is then remembered in the next thought |
| `{"do": "search", "text": t}` | the browser shows the results for t |
| `{"do": "add", "item": slug}` | the site confirms that the product is in the cart |
| `{"do": "marker", "marker": slug}` | the map shows the card of this marker |
| `{"do": "form", "action": p, "at": p, "values": v, "lands": q}` | the browser shows q, where the form leads |
| `{"do": "menu", "item": h, "name": n, "action": p, "at": l, "lands": q}` | it shows q; h has a menu with p |
| `{"do": "drag", "card": c, "column": n, "at": p}` | the card stands in the column of that name |
| `{"do": "done", "answer": a, "because": b}` | never: it ends the episode |

`via` names a page with a link to the target of a sub-goal, and `site` its host, if that is not the task's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

Place = dict[str, Any]
"""A page of a site: `path`, and `query` with values in lower case and without page 1. Without `query`, any fits."""
Plan = list[dict[str, Any]]
Fact = dict[str, Any]
"""One thing that must be true, and its checks, as `verdict.py` reads it."""


@dataclass(frozen=True)
class Goal:
    """One goal on one site."""

    name: str
    """Key of `phrasing.PHRASINGS` if the goal has no `cores`."""
    key: str
    """Makes the task id unique among goals of the same name on one site."""
    fields: dict[str, str]
    """Values for the placeholders of the phrasing."""
    facts: tuple[Fact, ...]
    """What must be true; each is needed, and together they are enough."""
    plan: Plan
    state: dict[str, Any] = field(default_factory=dict)
    """All that a session changes on the site."""
    cores: tuple[str, ...] = ()
    """What it is about, in several wordings, for `instructions/phrasing.py`."""
    form: Literal["do", "ask"] = "do"
    """Whether the cores are imperatives or noun phrases."""
    asks: Literal["What is", "What are", "Who is"] = "What is"
    """How a question begins that ends in one of the noun phrases."""

    @property
    def difficulty(self) -> int:
        return len(self.facts)

    @property
    def evaluator(self) -> dict[str, Any]:
        """The evaluator of the task; `verdict.py` describes its form."""
        return {"facts": list(self.facts), **({"state": self.state} if self.state else {})}

    @property
    def rubric(self) -> list[str]:
        return [fact["says"] for fact in self.facts]


def visit(path: str, note: str = "", via: str = "") -> dict[str, str]:
    return {"do": "visit", "path": path, "note": note, **({"via": via} if via else {})}


def done(because: str, answer: str = "done") -> dict[str, str]:
    return {"do": "done", "because": because, "answer": answer}


def place(path: str, **query: str) -> Place:
    """A page as `verdict.py` compares it."""
    return {"path": path, "query": query}


def page_at(where: str) -> Place:
    """The page of an address, as `verdict.py` compares it."""
    parts = urlsplit(where)
    return place(parts.path, **dict(parse_qsl(parts.query)))


def any_view(path: str) -> Place:
    """A page with any filters, in any order, at any page number."""
    return {"path": path}


def fact(
    says: str,
    *,
    site: str = "",
    url: Place | None = None,
    visited: Iterable[Place] = (),
    within: Place | None = None,
    shows: str = "",
    followed: tuple[str, str] | None = None,
    seen: Iterable[str] = (),
    state: dict[str, Any] | None = None,
    first: dict[str, Any] | None = None,
    answer: dict[str, Any] | None = None,
    one_of: Iterable[dict[str, Any]] = (),
) -> Fact:
    """A fact with its checks; `one_of` are groups of checks of which one must hold, `site` is another host."""
    checks = {
        "site": site, "url": url, "within": within, "shows": shows, "visited": list(visited),
        "followed": list(followed or ()), "seen": list(seen), "first": first, "state": state, "answer": answer,
        "any": list(one_of),
    }  # fmt: skip
    return {"says": says, **{key: check for key, check in checks.items() if check}}
