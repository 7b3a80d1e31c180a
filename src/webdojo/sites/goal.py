"""A goal: what should be true at the end, how to say it, and how the oracle gets there.

Goals are drawn by the `goals.py` of a kind or by `catalog_goals.py`, put into words by `instructions/`, checked by
`verdict/` and solved by `oracle/`. The plan is a list of sub-goals that can be checked on any
page, so the oracle can carry on from wherever it finds itself:

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

from webdojo.sites.verdict import Place

Plan = list[dict[str, Any]]
Fact = dict[str, Any]
"""One thing that must be true, and its checks, as `verdict/verdict.py` reads it."""


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
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    """All that a session changes on further hosts."""
    cores: tuple[str, ...] = ()
    """What it is about, in several wordings, for `instructions/templates.py`."""
    form: Literal["do", "ask"] = "do"
    """Whether the cores are imperatives or noun phrases."""

    @property
    def difficulty(self) -> int:
        return len(self.facts)

    @property
    def evaluator(self) -> dict[str, Any]:
        """The evaluator of the task; `verdict/verdict.py` describes its form."""
        changes = {"state": self.state, "states": self.states}
        return {"facts": list(self.facts), **{key: change for key, change in changes.items() if change}}

    @property
    def rubric(self) -> list[str]:
        """The facts in words."""
        return [fact["says"] for fact in self.facts]


def visit(path: str, note: str = "", via: str = "") -> dict[str, str]:
    return {"do": "visit", "path": path, "note": note, **({"via": via} if via else {})}


def done(because: str, answer: str = "done") -> dict[str, str]:
    return {"do": "done", "because": because, "answer": answer}


def place(path: str, **query: str) -> Place:
    """A page as `verdict/verdict.py` compares it."""
    return {"path": path, "query": query}


def page_at(where: str) -> Place:
    """The page of an address, as `verdict/verdict.py` compares it."""
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
    seen: Iterable[str] = (),
    state: dict[str, Any] | None = None,
    answer: dict[str, Any] | None = None,
    one_of: Iterable[dict[str, Any]] = (),
) -> Fact:
    """A fact with its checks; `one_of` are groups of checks of which one must hold, `site` is another host."""
    checks = {
        "site": site, "url": url, "within": within, "visited": list(visited), "seen": list(seen), "state": state,
        "answer": answer, "any": list(one_of),
    }  # fmt: skip
    return {"says": says, **{key: check for key, check in checks.items() if check}}


def page_facts(name: str, path: str) -> tuple[Fact, Fact]:
    """The page of a thing was found, and is what the session ends on."""
    return (fact(f"The page of {name} was shown", visited=[place(path)]), end_fact(name, path))


def end_fact(name: str, path: str) -> Fact:
    """The page of a thing is what the session ends on."""
    return fact(f"The page of {name} is shown at the end", url=place(path))


def one_page_fact(what: str, paths: Iterable[str]) -> Fact:
    """One of some pages was found."""
    return fact(f"The page of {what} was shown", one_of=[{"visited": [place(path)]} for path in paths])


def narrowed_facts(nouns: str, choice: str, path: str, **query: str) -> tuple[Fact, Fact, Fact]:
    """A list was found and narrowed by a filter, and is what the session ends on."""
    return (
        fact(f"The list of {nouns} was shown", visited=[any_view(path)]),
        fact(f"The list of {nouns} was narrowed to {choice} and by nothing else", visited=[place(path, **query)]),
        fact(f"The list of {nouns} is shown so at the end", url=place(path, **query)),
    )


def search_goal(name: str) -> Goal:
    """Show the search results for a name."""
    plan = [{"do": "search", "text": name}, done(f"Results for {name}.")]
    shown = fact(f"The search results for {name} are shown", url=place("/search", q=name.lower()))
    return Goal("search", name, {"name": name}, (shown,), plan)


def open_result_goal(name: str, slug: str, path: str) -> Goal:
    """Search for a name and open its page."""
    facts = (
        fact(f"The search results for {name} were shown", visited=[place("/search", q=name.lower())]),
        fact(f"The page of {name} is shown at the end", url=place(path)),
    )
    plan = [{"do": "search", "text": name}, visit(path), done(f"This is {name}.")]
    return Goal("open_result", slug, {"name": name}, facts, plan)


def page_goal(nouns: str, slug: str, path: str, page: int) -> Goal:
    """Show a page of a list."""
    facts = (
        fact(f"The list of {nouns} was shown", visited=[any_view(path)]),
        fact(f"Its page {page} is shown at the end", url=place(path, page=str(page))),
    )
    plan = [visit(f"{path}?page={page}"), done(f"This is page {page} of {nouns}.")]
    return Goal("page", slug, {"nouns": nouns, "page": str(page)}, facts, plan)
