"""Judges an embedded task on the real final state: pages, what was on screen, what was changed, the answer.

The evaluator of a task is JSON:

| key | is |
|---|---|
| `facts` | what must be true, one by one; each `says` it in a plain sentence and has at least one check |
| `state` | all that the session may have changed on the task's site; nothing if absent |
| `states` | the same for further hosts, by host; on hosts named nowhere nothing may be changed |

A task is done if every fact holds, nothing else was changed on any host, and the agent said `done`; where no answer is
asked, the words that it closes with do not count. A verdict asks what was achieved and whether it was found out here,
not by which route: what is needed may have been on screen in any list, page, search, filter or order. The checks of a
fact must all hold, on its `site` or else on the task's:

| check | holds when |
|---|---|
| `url` | the last page is this place, and was served |
| `within` | the last page is this place, perhaps with further values in its query |
| `shows` | the last page is this list, or one that shows the same things by fewer filters |
| `visited` | each of these places was served to the session |
| `followed` | the first of these pages led to the second, with the fields that it names after `?`, which may be empty |
| `seen` | each of these facts was on screen (`catalog.py`) |
| `listed` | each thing of this list was on screen, in a list by these filters, or by fewer and what these tell |
| `counted` | the number of things in this list was on screen, or that of each value of a further filter |
| `ordered` | each of `things` was on screen in one list, in the order of `label`, by the filters of `of` likewise |
| `first` | it was on screen that `thing` is first by `label` in the list `of`, by its filters or by fewer |
| `last` | the last page served whose path begins with the first of these is the second |
| `searched` | a search that would have found this name was made, and all that it found was on screen |
| `state` | these keys of the changed state have these values |
| `answer` | the answer says the value (`answers/`); with `thing`, `attribute` and `of` it also says of what |
| `any` | of these groups of checks one holds |

The order and the page number of a list count only where a place names them. A value of the state is a scalar (texts
are compared without regard to white space), or says what a text must be: `{"type": "text"}` and `{"type": "contains"}`
(each of `values`) ignore capitals, too; `{"type": "among"}` is one of `values`, `{"type": "any"}` is anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from webdojo.errors import TaskError
from webdojo.sites.answers.reading import texts_of, within
from webdojo.sites.answers.says import says
from webdojo.sites.goal import Place
from webdojo.sites.kinds import site_of
from webdojo.sites.on_screen import (
    shows,
    was_counted,
    was_first,
    was_followed,
    was_listed,
    was_ordered,
    was_searched,
)
from webdojo.sites.subject import subject_of
from webdojo.types import Reward, Task, Termination, Trajectory

_EVALUATOR = frozenset(("facts", "state", "states"))
_ON_PAGES = frozenset(("url", "within", "shows", "visited", "followed", "last", "searched"))
_CHECKS = _ON_PAGES | frozenset(("seen", "listed", "counted", "ordered", "first", "state", "answer", "any"))
_VIEW = ("sort", "page")
"""Keys of a list's query that change neither what the list is about nor what is in it."""


@dataclass(frozen=True)
class Verdict:
    """Whether a task was done, the first thing that was wrong if it was not, and which facts hold."""

    success: bool
    reason: str
    facts: tuple[bool, ...]
    """Whether each fact holds, in the order of the evaluator. They are for analysis and earn no reward."""

    def reward(self, trajectory: Trajectory) -> Reward:
        """What the episode earns: 1 where its task was done and it has come to its own end, else 0."""
        success = self.success and trajectory.termination is Termination.COMPLETED
        names = [fact["says"] for fact in trajectory.task.evaluator["facts"]]
        return Reward(
            value=float(success), success=success, reason=self.reason, facts=list(self.facts), fact_names=names
        )


def evaluate(task: Task, answer: str | None, final_url: str, state: dict[str, Any]) -> Verdict:
    """Check a finished episode: the answer of `done` (None: never said), the active tab, and `SiteServer.state`."""
    checks = _checks(task)
    facts = task.evaluator["facts"]

    def wrong(checks: dict[str, Any], host: str) -> str:
        """The first check that does not hold, in words; empty if all do."""
        here = state.get(host, {})
        changed, visited, seen = here.get("state", {}), here.get("visited", []), here.get("seen", [])
        for key, wanted in checks.items():
            match key:
                case "url":
                    reason = _wrong_url(wanted, host, final_url, visited)
                case "within":
                    reason = "" if _is_within(wanted, final_url) else f"ended on {final_url}"
                case "shows":
                    parts = urlsplit(final_url)
                    served = not _never_served([_place(parts.path, parts.query)], visited)
                    same = served and _on(host, final_url) and shows(site_of(task, host), wanted, final_url)
                    reason = "" if same else f"ended on {final_url}, not on {wanted}"
                case "visited":
                    reason = _never_served(wanted, visited)
                case "followed":
                    done = any(was_followed(*wanted, *each) for each in here.get("followed", []))
                    reason = "" if done else f"did not go from {wanted[0]} to {wanted[1]}"
                case "seen":
                    missing = ", ".join(fact for fact in wanted if fact not in seen)
                    reason = missing and f"never saw {missing}"
                case "listed":
                    known = was_listed(site_of(task, host), wanted, seen)
                    reason = "" if known else f"never saw all of {wanted}"
                case "counted":
                    known = was_counted(site_of(task, host), wanted, seen)
                    reason = "" if known else f"never saw the number of {wanted}"
                case "ordered":
                    known = was_ordered(site_of(task, host), wanted, seen)
                    reason = "" if known else f"never saw {wanted['things']} in the order of {wanted['label']}"
                case "first":
                    known = was_first(site_of(task, host), wanted, seen)
                    reason = "" if known else f"never saw that {wanted['thing']} is first by {wanted['label']}"
                case "last":
                    last = next((path for path in reversed(visited) if path.startswith(wanted[0])), "")
                    reason = "" if last == wanted[1] else f"ended with {last}, not with {wanted[1]}"
                case "searched":
                    known = was_searched(site_of(task, host), wanted, visited, seen)
                    reason = "" if known else f"never searched for {wanted}"
                case "state":
                    reason = _wrong_change({key: changed[key] for key in wanted if key in changed}, wanted)
                case "answer":
                    subject = subject_of(wanted, site_of(task, host))
                    right = says(wanted, answer or "", task.instruction, subject)
                    reason = "" if right else f"answered {(answer or '')[:80]!r}"
                case _:
                    reasons = [wrong(group, host) for group in wanted]
                    reason = reasons[0] if all(reasons) else ""
            if reason:
                return reason
        return ""

    reasons = [wrong(each, fact.get("site", task.website)) for fact, each in zip(facts, checks, strict=True)]
    holds = tuple(not reason for reason in reasons)
    if answer is None:
        return Verdict(False, "the agent never said done", holds)
    for fact, reason in zip(facts, reasons, strict=True):
        if reason:
            return Verdict(False, f"not so: {fact['says']} ({reason})", holds)
    unasked = _unasked(task, state)
    return Verdict(not unasked, unasked or "every fact holds", holds)


def _checks(task: Task) -> list[dict[str, Any]]:
    """The checks of each fact of a task whose evaluator can be checked."""
    facts = task.evaluator.get("facts") or []
    checks = [{key: wanted for key, wanted in fact.items() if key not in ("says", "site")} for fact in facts]
    groups = [group for fact in checks for group in (fact, *fact.get("any", ()))]
    if not (
        facts
        and task.evaluator.keys() <= _EVALUATOR
        and task.website not in task.evaluator.get("states", {})
        and all("says" in fact for fact in facts)
        and all(group and group.keys() <= _CHECKS and all(group.values()) for group in groups)
    ):
        raise TaskError(f"task {task.id!r} has an evaluator that cannot be checked: {task.evaluator!r}")
    return checks


def _on(host: str, url: str) -> bool:
    """Whether an address is on a host; another port or scheme is not served by the site."""
    parts = urlsplit(url)
    return (parts.scheme, parts.netloc) == ("http", host)


def _wrong_url(wanted: Place, host: str, url: str, visited: list[str]) -> str:
    if not _on(host, url):
        return f"ended on {url}, not on http://{host}"
    parts = urlsplit(url)
    if not _is_at(wanted, f"{parts.path}?{parts.query}"):
        return f"ended on {url}"
    # It need not be the last page served: switching to another tab asks the site for nothing.
    return _never_served([wanted], visited)


def _never_served(wanted: list[Place], visited: list[str]) -> str:
    missing = (place for place in wanted if not any(_is_at(place, path) for path in visited))
    return next((f"was never served {_shown(place)}" for place in missing), "")


def _shown(place: Place) -> str:
    query = urlencode(place.get("query", {}))
    return f"{place['path']}?{query}" if query else str(place["path"])


def _is_within(wanted: Place, url: str) -> bool:
    parts = urlsplit(url)
    place = _place(parts.path, parts.query)
    return place["path"] == wanted["path"].strip("/") and wanted["query"].items() <= place["query"].items()


def _is_at(wanted: Place, path_with_query: str) -> bool:
    path, _, query = path_with_query.partition("?")
    place = _place(path, query)
    named: dict[str, str] = wanted["query"] if "query" in wanted else place["query"]
    found = {key: value for key, value in place["query"].items() if key in named or key not in _VIEW}
    return place["path"] == wanted["path"].strip("/") and named == found


def _place(path: str, query: str) -> Place:
    return {"path": path.strip("/"), "query": {key: " ".join(value.lower().split()) for key, value in parse_qsl(query)}}


def _unasked(task: Task, state: dict[str, Any]) -> str:
    """A change on any host that was not asked for, in words; empty if there is none."""
    wanted = {task.website: task.evaluator.get("state", {}), **task.evaluator.get("states", {})}
    for host in dict.fromkeys((*wanted, *state)):
        reason = _wrong_change(state.get(host, {}).get("state", {}), wanted.get(host, {}))
        if reason:
            return f"on {host}, {reason}"
    return ""


def _wrong_change(changed: dict[str, Any], wanted: dict[str, Any]) -> str:
    for key, value in wanted.items():
        if key not in changed:
            return f"{key} was not changed"
        if not fits(value, changed[key]):
            return f"{key} is {changed[key]!r:.80}"
    extra = changed.keys() - wanted.keys()
    return f"{min(extra)} was changed, which was not asked for" if extra else ""


def fits(wanted: Any, value: Any) -> bool:
    """Whether a value of the state is the one that is wanted."""
    match wanted:
        case {"type": "any"}:
            return True
        case {"type": "among", "values": values}:
            return any(fits(each, value) for each in values)
        case {"type": "text", "value": str(text)}:
            return isinstance(value, str) and _collapsed(value).casefold() == _collapsed(text).casefold()
        case {"type": "contains", "values": [_, *_] as phrases}:
            return isinstance(value, str) and all(within(texts_of(phrase), texts_of(value)) for phrase in phrases)
        case dict():
            raise TaskError(f"a value of the state cannot be checked against {wanted!r}")
    if isinstance(wanted, str) and isinstance(value, str):
        return _collapsed(wanted) == _collapsed(value)
    return isinstance(wanted, bool) == isinstance(value, bool) and bool(wanted == value)


def _collapsed(text: str) -> str:
    return " ".join(text.split())
