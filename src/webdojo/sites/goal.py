"""A goal: what should be true at the end, how to say it, and how the oracle gets there.

Goals are drawn per site by `shop/goals.py` and `wiki/goals.py`, worded by `phrasing.py`, checked by
`verdict.py` and solved by `oracle.py`. The plan is a list of sub-goals that can be checked on any
page, so the oracle can carry on from wherever it finds itself:

| sub-goal | holds when |
|---|---|
| `{"do": "visit", "path": p}` | the browser shows path p; `note` is then remembered in the next thought |
| `{"do": "search", "text": t}` | the browser shows the results for t |
| `{"do": "add", "item": slug}` | the site confirms that the product is in the cart |
| `{"do": "done", "answer": a, "because": b}` | never: it ends the episode |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Plan = list[dict[str, str]]


@dataclass(frozen=True)
class Goal:
    """One goal on one site."""

    name: str
    """Key of `phrasing.PHRASINGS`."""
    difficulty: int
    key: str
    """Tells goals of one name on one site apart, for the task id."""
    fields: dict[str, str]
    """Fills the phrasing."""
    evaluator: dict[str, Any]
    """See `verdict.py`."""
    plan: Plan


def visit(path: str, note: str = "") -> dict[str, str]:
    return {"do": "visit", "path": path, "note": note}


def done(because: str, answer: str = "done") -> dict[str, str]:
    return {"do": "done", "because": because, "answer": answer}


def place(path: str, **query: str) -> dict[str, Any]:
    """A page as `verdict.py` compares it."""
    return {"path": path, "query": query}


def search_goal(name: str, **also: Any) -> Goal:
    """Show the search results for a name; `also` is what else the evaluator of the goal checks."""
    plan = [{"do": "search", "text": name}, done(f"Results for {name}.")]
    return Goal("search", 1, name, {"name": name}, {"url": place("/search", q=name.lower()), **also}, plan)


def open_result_goal(name: str, slug: str, path: str, **also: Any) -> Goal:
    """Search for a name and open its page."""
    evaluator = {"url": place(path), "visited": [place("/search", q=name.lower())], **also}
    plan = [{"do": "search", "text": name}, visit(path), done(f"This is {name}.")]
    return Goal("open_result", 2, slug, {"name": name}, evaluator, plan)


def second_page_goal(nouns: str, slug: str, path: str, **also: Any) -> Goal:
    """Show page 2 of a list."""
    plan = [visit(f"{path}?page=2"), done(f"This is page 2 of {nouns}.")]
    evaluator = {"url": place(path, page="2"), **also}
    return Goal("page", 2, slug, {"nouns": nouns, "page": "2"}, evaluator, plan)
