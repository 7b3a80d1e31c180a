"""What is wrong with the tasks of a set, by rules on their text and address.

A rule looks at what the text commands: the verb at the beginning of a clause. So `Buy a ticket` buys for real, and
`How much does it cost to buy a ticket?` does not. Rules are written to be right when they speak, not to find all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from ipaddress import ip_address
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from webdojo.tasks.dates import past_dates, plans_ahead
from webdojo.types import FrozenRecord, Task

Rule = Literal[
    "empty",
    "non_http",
    "duplicate",
    "past_dated",
    "log_in",
    "unsafe",
    "leaking",
    "dead",
    "blocked",
    "robots_txt",
    "unclear",
]
"""`dead`, `blocked` and `robots_txt` are found by asking the site, `unclear` by asking a model
(`loops.reading.lint`)."""
RULES: tuple[Rule, ...] = get_args(Rule)
BY_TEXT = RULES[: RULES.index("dead")]
"""What `lint` finds."""
Level = Literal["error", "warning"]


class Finding(FrozenRecord):
    """One thing that is wrong with one task."""

    row: int
    """Which of the set it is, from 1."""
    id: str
    rule: Rule
    level: Level
    """An `error` makes the task useless or harmful; a `warning` may not."""
    why: str


def lint(tasks: Iterable[Task], today: date) -> Iterator[Finding]:
    """What the rules find, in the order of the tasks; of the set it keeps a line for each task, to know duplicates."""
    seen: dict[tuple[str, str], int] = {}
    for row, task in enumerate(tasks, 1):
        same = _words(task.instruction), _page(task.start_url)
        first = seen.setdefault(same, row)
        if first != row:
            yield Finding(
                row=row,
                id=task.id,
                rule="duplicate",
                level="error",
                why=f"the words and the page of row {first}",
            )
        for rule, why in _of_one(task, today):
            yield Finding(row=row, id=task.id, rule=rule, level="error", why=why)


def _of_one(task: Task, today: date) -> Iterator[tuple[Rule, str]]:
    text = task.instruction
    if len(_words(text).split()) < 2:
        yield "empty", f"{text!r} says nothing to do"
    if why := _not_http(task.start_url):
        yield "non_http", why
    if (passed := past_dates(text, today)) and plans_ahead(text):
        yield "past_dated", f"plans for {passed[0].isoformat()}, which has passed"
    own = _is_own(task)
    if not own and not task.storage_state and (found := _commanded(text, _LOG_IN) or _owned(text)):
        yield "log_in", f"{_said(found)!r} needs somebody who has logged in, and the task has no storage_state"
    if not own and (found := _commanded(text, _UNSAFE)):
        yield "unsafe", f"{_said(found)!r} would be done for real"
    if answer := _leaked(task):
        yield "leaking", f"the text holds its reference answer {answer!r}"


def _words(text: str) -> str:
    """Text by its words alone, in small letters."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _page(url: str) -> str:
    """An address without what does not tell pages apart."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}?{parts.query}"


def _not_http(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, scheme = parts.hostname, parts.scheme
    except ValueError as error:
        return f"{url!r} is no address: {error}"
    if scheme not in ("http", "https"):
        return f"{url!r} is no http or https address"
    return "" if host else f"{url!r} names no host"


def _is_own(task: Task) -> bool:
    """Whether the site is the user's own, where nothing is for real and whoever serves it may log the agent in: on a
    host that is not public, or hosted for WebArena."""
    if task.kind or "sites" in task.evaluator:
        return True
    try:
        host = urlsplit(f"//{task.website}").hostname or ""
        return host.endswith("localhost") or ip_address(host).is_private
    except ValueError:  # a name
        return False


# --- what a text commands ---------------------------------------------------------------------

_CLAUSE = re.compile(
    r"(?:^|[.;:!?]\s+|,\s*|\b(?:and|then)\s+)"
    r"(?:(?:and|then|please|also|finally|next|lastly|just|now|try to|help me(?: to)?|go ahead and|"
    r"i(?:'d| would)? (?:want|need|like) to|(?:can|could) you)\s+)*",
    re.IGNORECASE,
)
_A = r"(?:a|an|the|this|that|it|my|me|us|him|her|them|your|one|two|three|some|\d+)"
_THING = rf"{_A}(?:\s+[\w'’-]+){{0,5}}?\s+"
_UNSAFE = re.compile(
    "|".join(
        (
            rf"(?:buy|purchase|order|preorder|pre-order)\s+{_A}\b",
            r"place (?:an|the|my|your) order",
            r"pay (?:for|my|the|with)\b|check ?out (?:with|using)\b|proceed to (?:payment|pay)\b|donate\b",
            r"(?:complete|finish|finalize|make) (?:the|a|my|your) "
            r"(?:purchase|payment|checkout|booking|reservation|order)",
            rf"(?:book|reserve)\s+(?:{_A}|tickets?|rooms?|flights?)\b",
            r"rent\s+(?:a|an|the|one|two)\b",
            rf"send\s+(?:{_THING})?(?:e-?mail|message|text|sms|letter|request|invitation|inquiry|enquiry)s?\b",
            r"e-?mail\s+(?:me|him|her|them|it|this)\b|(?:contact|message)\s+(?:a|the|this|my)\b",
            rf"(?:post|write|leave|submit|publish|add)\s+(?:{_THING})?"
            r"(?:comments?|reviews?|repl(?:y|ies)|tweets?)\b(?! section)",
            r"post\s+(?:a|an|my|this|it)\b",
            rf"submit\s+(?:{_THING})?(?:applications?|requests?|claims?|complaints?|tickets?|petitions?|feedback|reports?)\b",
            r"file\s+(?:a|an|my)\s+(?:[\w-]+\s+)?(?:complaint|claim|report|return)\b",
            r"share\s+(?:it|this|that|them|the|a|an)\b[^.,;]*\b(?:on|via|to) "
            r"(?:facebook|twitter|x|instagram|linkedin|whatsapp|reddit)\b",
            r"(?:up|down)vote\b|(?:subscribe to|unsubscribe from|unfollow)\s+\w",
            r"follow (?!(?:the|these|its|their|each|all) (?:[\w-]+ )?"
            r"(?:code|links?|steps?|instructions?|directions?|recipe|guide))\w",
            r"sign ?up\b|register (?:for|as|an|a|with|on|myself)\b|create (?:an?|my) (?:new )?(?:user )?account\b",
            r"apply (?:for|to) (?:a|an|the|this|that|my)\b(?! filter)",
            rf"(?:schedule|make|request)\s+(?:{_THING})?appointments?\b",
            r"(?:delete|deactivate|close|erase) (?:my|the|an?|all|this|that|every)\b",
            r"cancel (?:my|the|an?|this|that|all)\b",
            r"transfer (?:\$|\d|money|funds)",
        )
    ),
    re.IGNORECASE,
)
_LOG_IN = re.compile(r"(?:log|sign)[ -]?in(?:to)?\b", re.IGNORECASE)
_OWN = re.compile(
    r"\b(?:(?:after|while|once|when) (?:logged|signed) in|"
    r"my (?:account|profile|orders?|order history|purchases?|inbox|messages|subscriptions?|bookings?|"
    r"reservations?|followed \w+|(?:watch|wish|want)[ -]?list|saved \w+|likes(?: list)?|library|playlists?|"
    r"notifications|transactions|(?:un)?read \w+|repositories|settings))\b",
    re.IGNORECASE,
)


_WISH = re.compile(r"\bi(?:'d| would)? (?:want|need|like) to", re.IGNORECASE)
_ASKED = re.compile(r"\b(?:how|whether|if)\b[^.;!?]*$", re.IGNORECASE)


def _commanded(text: str, what: re.Pattern[str]) -> re.Match[str] | None:
    """Where a clause of a text begins with a pattern. A wish before a question (`I want to buy a car. What does it
    cost?`) is none."""
    for clause in _CLAUSE.finditer(text):
        if (found := what.match(text, clause.end())) and not ("?" in text and _WISH.search(clause[0])):
            return found
    return None


def _said(found: re.Match[str]) -> str:
    """What was found, to the end of its clause, or of some words."""
    rest = re.match(r"[^.,;:!?]{0,40}\b", found.string[found.end() :])
    return found[0] + (rest[0] if rest else "")


def _owned(text: str) -> re.Match[str] | None:
    """Where a text speaks of what only a person with an account has, other than in a question (`how do I see whether
    my booking …`)."""
    return next((found for found in _OWN.finditer(text) if not _ASKED.search(text[: found.start()])), None)


# --- answers in the text ----------------------------------------------------------------------

_REFERENCES = ("definite_answer", "reference_answer", "reference_answers", "answer")
"""Keys of `Task.evaluator` under which the sets that are known keep a reference answer."""
_CHOICE = re.compile(r"\bor\b|\bwhich\b|^\s*(?:is|are|was|were|do|does|did|has|have|can|will)\b", re.IGNORECASE)
"""What offers its answers, or repeats them: a choice, or a question to be answered by yes or no."""


def references(task: Task) -> list[str]:
    """The reference answers that a task's evaluator holds; all of them together are the answer."""
    return [text for key in _REFERENCES for text in _texts(task.evaluator.get(key))]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _leaked(task: Task) -> str:
    """The reference answer where the text holds all of it; empty where it does not, or has to."""
    answers = references(task)
    text = f" {_words(task.instruction)} "
    if not answers or _CHOICE.search(task.instruction):
        return ""
    whole = all(len(words := _words(answer)) > 2 and f" {words} " in text for answer in answers)
    return ", ".join(answers) if whole else ""
