"""Judges an episode in an application by what it changed in the database, what it was shown, and what it answered.

The evaluator of a task is JSON: `type` (`apps`), `facts`, and `allowed`. Each fact `says` in a plain sentence what must
be true, and has one check:

| check | holds when |
|---|---|
| `change` | a change of the database fits this pattern |
| `shown` | all these texts were on one page, in its text or its fields, and not because the agent had sent them |
| `fetched` | scripts of pages were given all objects of one of these groups, as JSON |
| `answer` | the answer says the value (`sites/answers`); it may name `names`, and none of the `rivals` |

A task is done if every fact holds, the database has no change but those of the facts and those that fit a pattern of
`allowed`, and the agent said `done`, in whatever words where no answer is asked. A pattern of `allowed` lets one row be
added, or with `many` any number. A pattern names a `table` and a `kind`, and may name a `key` and `values`, which are
compared as the state of embedded sites is (`sites/verdict.py`);
`{"type": "html", "text": …}` is an HTML text that reads so, `{"type": "json", "values": …}` a JSON object with these. A
row that was changed must have changed in the columns of `values` alone; one that was added may have more. A group of
`fetched` has the beginning of a `path`, and `objects`: each must be in an answer from such a path, anywhere in it, and
may have more there. An address sends all that it has, in its path and its query, unless an earlier page linked to it,
and so does one that was redirected to it; what the instruction names may be sent. Answers to forms, and to what scripts
send to change something, show nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote, unquote, urljoin, urlsplit

from webdojo.envs.apps.changes import Change
from webdojo.errors import TaskError
from webdojo.reward.function import RewardFunction
from webdojo.types import ImageSource, Reward, Task, Trajectory

if TYPE_CHECKING:
    from webdojo.sites.verdict import Verdict

_CHECKS = ("change", "shown", "fetched", "answer")
_SILENT = ("script", "style", "template", "noscript", "head")


def evaluate(task: Task, answer: str | None, state: dict[str, Any]) -> Verdict:
    """Check a finished episode: the answer of `done` (None: never said), and `state_of` of its visit."""
    from webdojo.sites.answers.says import says
    from webdojo.sites.answers.subject import Subject
    from webdojo.sites.verdict import Verdict

    check(task)
    facts, free = task.evaluator["facts"], list(state["changes"])
    holds, reasons = [], []
    for fact in facts:
        reason = ""
        match fact:
            case {"change": pattern}:
                found = next((change for change in free if fits(change, pattern)), None)
                if found is None:
                    near = [each for each in free if each["table"] == pattern["table"]]
                    reason = f"the database has {near or 'no such change'!s:.200}"
                else:
                    free.remove(found)
            case {"shown": texts}:
                reason = "" if texts in state["shown"] else f"no page showed {', '.join(texts)} together"
            case {"fetched": groups}:
                reason = "" if groups in state["fetched"] else f"no page was given {groups[0]['objects']!s:.200}"
            case {"answer": wanted}:
                subject = Subject(names=tuple(fact.get("names", ())), rivals=tuple(fact.get("rivals", ())))
                right = says(wanted, answer or "", task.instruction, subject)
                reason = "" if right else f"answered {(answer or '')[:80]!r}"
        holds.append(not reason)
        reasons += [f"not so: {fact['says']} ({reason})"] if reason else []
    if answer is None:
        return Verdict(False, "the agent never said done", tuple(holds))
    if reasons:
        return Verdict(False, reasons[0], tuple(holds))
    patterns = list(task.evaluator["allowed"])
    for change in free:
        pattern = next((each for each in patterns if fits(change, each)), None)
        if pattern is None:
            reason = f"{change['table']} {change['key']} was {change['kind']}, which was not asked for"
            return Verdict(False, reason, tuple(holds))
        if change["kind"] == "added" and not pattern.get("many"):
            patterns.remove(pattern)
    return Verdict(True, "every fact holds", tuple(holds))


def check(task: Task) -> None:
    """Raise TaskError for a task that cannot be judged here."""
    evaluator = task.evaluator
    facts = evaluator.get("facts") or []
    if evaluator.get("type") != "apps" or "allowed" not in evaluator or not facts:
        raise TaskError(f"task {task.id!r} has no evaluator of the environment 'apps': name another reward")
    if not all("says" in fact and sum(key in fact for key in _CHECKS) == 1 for fact in facts):
        raise TaskError(f"task {task.id!r} has an evaluator that cannot be checked: {evaluator!r}")


def fits(change: Change, pattern: dict[str, Any]) -> bool:
    """Whether a change is of a pattern."""
    if (change["table"], change["kind"]) != (pattern["table"], pattern["kind"]):
        return False
    if any(change["key"].get(column) != value for column, value in pattern.get("key", {}).items()):
        return False
    wanted, has = pattern.get("values"), change.get("values", {})
    if wanted is None:
        return True
    if change["kind"] == "changed" and wanted.keys() != has.keys():
        return False
    return all(column in has and _holds(value, has[column]) for column, value in wanted.items())


def _holds(wanted: Any, value: Any) -> bool:
    from webdojo.sites.verdict import fits as fits_value

    match wanted:
        case {"type": "html", "text": text}:
            return bool(text_of(value) == text)
        case {"type": "json", "values": values}:
            return bool(json.loads(value).items() >= values.items())
    return fits_value(wanted, value)


def state_of(task: Task, changes: list[Change], pages: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What `evaluate` reads of a visit, as plain JSON.

    Returns:
        `changes` of the database; `shown` and `fetched`, what the task asks for by these checks and was served;
        `pages`, the `path`, `method` and `status` of every page and JSON answer that was served.
    """
    facts = task.evaluator.get("facts", [])
    wanted = [fact["shown"] for fact in facts if "shown" in fact]
    found: list[list[str]] = []
    asked = [fact["fetched"] for fact in facts if "fetched" in fact]
    missing = [[(group["path"], list(group["objects"])) for group in groups] for groups in asked]
    served = []
    earlier: list[dict[str, Any]] = []
    redirected: list[str] = []
    for page in pages:
        served.append({key: page[key] for key in ("path", "method", "status")})
        if 300 <= page["status"] < 400 and page["method"] == "GET":
            redirected.append(page["path"])
            continue
        if page["status"] != 200 or page["method"] != "GET":
            continue
        if "html" in page:
            text = text_of(page["html"]) if len(found) < len(wanted) else ""
            found += [
                texts
                for texts in wanted
                if texts not in found
                and all(_in(each, text) for each in texts)
                and not any(_echoes(path, texts, task.instruction, earlier) for path in [*redirected, page["path"]])
            ]
            earlier.append(page)
            redirected = []
            continue
        here = [left for groups in missing for path, left in groups if left and page["path"].startswith(path)]
        answer = json.loads(page["json"]) if here else None
        for left in here:
            left[:] = [each for each in left if not has(answer, each)]
    fetched = [wanted for wanted, groups in zip(asked, missing, strict=True) if not all(left for _, left in groups)]
    return {"changes": changes, "shown": found, "fetched": fetched, "pages": served}


def has(data: Any, wanted: Any) -> bool:
    """Whether something in JSON data fits what is wanted: an object by the keys that are wanted of it, a list by its
    items, anything else by being equal."""
    if _same(data, wanted):
        return True
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return any(has(each, wanted) for each in inner)


def _same(value: Any, wanted: Any) -> bool:
    match wanted:
        case dict():
            return isinstance(value, dict) and all(key in value and _same(value[key], wanted[key]) for key in wanted)
        case list():
            return isinstance(value, list) and all(any(_same(each, item) for each in value) for item in wanted)
    return type(value) is type(wanted) and bool(value == wanted)


def text_of(html: str) -> str:
    """The text of a page and the values of its fields, with single spaces."""
    reader = _Text()
    reader.feed(html)
    return " ".join(" ".join(reader.said).split())


def _in(text: str, page: str) -> bool:
    """Whether a text stands on a page, and not as a part of a longer word or number."""
    return bool(re.search(rf"(?<![\w.,]){re.escape(' '.join(text.split()))}(?![\w]|[.,]\d)", page))


def _echoes(path: str, texts: list[str], instruction: str, earlier: Iterable[dict[str, Any]]) -> bool:
    """Whether a page may show texts because the agent sent them: its address, or one that was redirected to it, has one
    that the instruction does not name, such as what was searched for, and the application has not given that address
    out itself, by a link on an earlier page whose own address has none of them."""
    address = _address(path)
    sent = [text for text in texts if _sends(address, text) and not _in(text, instruction)]
    return bool(sent) and not any(
        address in _links(each) for each in earlier if not any(_sends(_address(each["path"]), text) for text in sent)
    )


def _sends(address: str, text: str) -> bool:
    return _in(_spaced(text), address)


def _address(path: str) -> str:
    """A path with its query as what it says: decoded, and with spaces for underscores and plus signs. Applications may
    change capitals and the number of spaces of what they repeat."""
    return _spaced(unquote(path))


def _spaced(text: str) -> str:
    return " ".join(re.sub(r"[_+]", " ", text).split()).casefold()


def _links(page: dict[str, Any]) -> set[str]:
    """Where the links of a page lead."""
    reader = _Text()
    reader.feed(page["html"])
    parts = [urlsplit(urljoin(quote(page["path"], safe="/?=&%+:"), link)) for link in reader.links]
    return {_address(f"{part.path}?{part.query}" if part.query else part.path) for part in parts}


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.links: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        given = dict(attrs)
        if tag == "a":
            self.links.append(given.get("href") or "")
        if tag == "input" and given.get("type") not in ("hidden", "password", "checkbox", "radio"):
            self.said.append(given.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT and self._silent:
            self._silent -= 1

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.said.append(data)


class DatabaseReward(RewardFunction):
    """1 where every fact of a task holds in the database of its application, on its pages and in the answer, else 0."""

    name: str = "database"

    scores_unfinished: ClassVar[bool] = True

    def needs_answer(self, task: Task) -> bool:
        return False  # a fact about the answer says so itself

    def check(self, task: Task) -> None:
        check(task)

    async def score(self, trajectory: Trajectory, images: ImageSource) -> Reward:
        self.check(trajectory.task)
        state = trajectory.state.get(trajectory.task.website, {"changes": [], "shown": [], "fetched": []})
        return evaluate(trajectory.task, trajectory.answer, state).reward(trajectory)
