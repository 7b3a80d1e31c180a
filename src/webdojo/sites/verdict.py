"""Judges an embedded task on the real final state: URL, cart, facts seen, answer.

The evaluator of a task is JSON; every key that it has must hold, and the agent must have said
`done`:

| key | holds when |
|---|---|
| `url` | the last page is `path` of the task's site, with exactly the values of `query`, and was served |
| `visited` | each of these pages (`path` and `query`) was served to the session |
| `cart` | the cart holds exactly these amounts by slug: nothing missing, nothing more |
| `seen` | pages that show each of these facts were served to the session |
| `answer` | the answer says the one right value, and nothing else that could be a value |

An answer may wrap its value in words of the question and a few fillers (`The Size is Large.`); any
other word, a second number, or the question echoed makes it wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webdojo.errors import TaskError
from webdojo.types import Task

_FILLERS = "a an the is are it its it's of in at for to and has costs cost price value answer dollars usd"
_FILLER = frozenset(re.split(" ", _FILLERS))
_TOKEN = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?|[^\W\d_]+(?:'[^\W\d_]+)?")

Place = dict[str, Any]
"""A page of a site: `path`, and `query` with values in lower case and without page 1."""


@dataclass(frozen=True)
class Verdict:
    """Whether a task was done, and the first thing that was wrong where it was not."""

    success: bool
    reason: str


def number(value: int | float) -> dict[str, Any]:
    """Evaluator of an answer that is a number."""
    return {"type": "number", "value": value}


def text(value: str) -> dict[str, Any]:
    """Evaluator of an answer that is a word or a name."""
    return {"type": "text", "value": value}


def evaluate(task: Task, answer: str | None, final_url: str, state: dict[str, Any]) -> Verdict:
    """Check a finished episode.

    Args:
        task: its `evaluator` says what must hold.
        answer: argument of `done`, or None where the agent never said it.
        final_url: URL of the active tab at the end.
        state: `SiteServer.state` of the session.

    Raises:
        TaskError: the evaluator is empty or has a key that this module does not know.
    """
    unknown = set(task.evaluator) - {"url", "visited", "cart", "seen", "answer"}
    if unknown or not task.evaluator:
        raise TaskError(f"task {task.id!r} has an evaluator that cannot be checked: {task.evaluator!r}")
    if answer is None:
        return Verdict(False, "the agent never said done")
    here = state.get(task.website, {"cart": {}, "seen": [], "visited": []})
    for key, wanted in task.evaluator.items():
        reason = {
            "url": lambda w: _check_url(w, task.website, final_url, here["visited"]),
            "visited": lambda w: _check_visited(w, here["visited"]),
            "cart": lambda w: _check_cart(w, here["cart"]),
            "seen": lambda w: _check_seen(w, here["seen"]),
            "answer": lambda w: _check_answer(w, answer, task.instruction),
        }[key](wanted)
        if reason:
            return Verdict(False, reason)
    return Verdict(True, "every check holds")


def _check_url(wanted: Place, host: str, url: str, visited: list[str]) -> str:
    parts = urlsplit(url)
    if (parts.scheme, parts.netloc) != ("http", host):  # another port or scheme is not served by the site
        return f"ended on {url}, not on http://{host}"
    place = _place(url)
    if place["path"] != wanted["path"]:
        return f"ended on {place['path']}, not on {wanted['path']}"
    if place["query"] != wanted["query"]:
        return f"ended with query {place['query']}, not {wanted['query']}"
    # It need not be the last page served: switching to another tab asks the site for nothing.
    return _check_visited([wanted], visited)


def _check_visited(wanted: list[Place], visited: list[str]) -> str:
    served = [_place(path) for path in visited]
    missing = [place for place in wanted if place not in served]
    return f"was never served {missing[0]['path']} with query {missing[0]['query']}" if missing else ""


def _place(url: str) -> Place:
    parts = urlsplit(url)
    query = {key: " ".join(value.lower().split()) for key, value in parse_qsl(parts.query)}
    if query.get("page") == "1":
        del query["page"]
    return {"path": parts.path.rstrip("/") or "/", "query": query}


def _check_cart(wanted: dict[str, int], cart: dict[str, int]) -> str:
    return "" if cart == wanted else f"cart holds {cart}, not {wanted}"


def _check_seen(wanted: list[str], seen: list[str]) -> str:
    missing = [fact for fact in wanted if fact not in seen]
    return f"never saw {', '.join(missing)}" if missing else ""


def _check_answer(wanted: dict[str, Any], answer: str, question: str) -> str:
    said = _tokens(answer)
    values = _tokens(str(wanted["value"]))
    rest = [token for token in said if token not in _FILLER and token not in _tokens(question)]
    if wanted["type"] == "number":
        right = len(set(rest)) == 1 and _is_number(rest[0], float(wanted["value"]))
    else:
        right = " ".join(values) in " ".join(said) and set(rest) == set(values) - set(_tokens(question)) - _FILLER
    return "" if right else f"answered {answer[:80]!r}, not {wanted['value']!r}"


def _tokens(sentence: str) -> list[str]:
    """Words in lower case and numbers without thousands separators."""
    return [token.rstrip(",").replace(",", "") for token in _TOKEN.findall(sentence.lower())]


def _is_number(token: str, value: float) -> bool:
    try:
        return float(token) == value
    except ValueError:
        return False
