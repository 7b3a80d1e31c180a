"""A server that writes tasks by rule: what it answers depends on the request alone, and its faults on how often that
came. It fails, lies, loses facts and stalls.

A seed says what its rubric is: `Seed 7 with groups 2 3 4` has three groups.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.policy.chat.endpoint import Answering, completion, drop, refuse, say, truncate
from webdojo.loops.construction.construct import RUBRIC, WORDING
from webdojo.loops.construction.propose import QUERIES, VARIANTS
from webdojo.reward.judges.ask import AGAIN

STALL_S = 5.5
"""How long an answer stalls; a try may take less."""

_SIZES = re.compile(r"with groups ([\d ]+)")


def material(messages: list[dict[str, Any]], label: str) -> Any:
    """What stands after a label in the user's message, decoded."""
    text = messages[1]["content"][0]["text"]
    line = next(line for line in text.splitlines() if line.startswith(f"{label}: "))
    return json.loads(line.removeprefix(f"{label}: "))


def rubric(messages: list[dict[str, Any]]) -> dict[str, Any]:
    task = material(messages, "Task")
    sizes = [int(each) for each in (_SIZES.search(task) or ["", "1"])[1].split()]
    groups = [
        {
            "id": number,
            "description": f"part {number}",
            "facts": [f"{task.split(' with')[0]} shows {number}.{n}" for n in range(1, size + 1)],
        }
        for number, size in enumerate(sizes, 1)
    ]
    host = f"site-{hashlib.sha256(task.encode()).hexdigest()[:4]}.example"
    return {"fact_groups": groups, "difficulty": sum(sizes), "subdomain": "News", "website": f"https://{host}/"}


def wording(messages: list[dict[str, Any]]) -> dict[str, Any]:
    facts = [fact for group in material(messages, "Groups of facts") for fact in group["facts"]]
    return {"task": f"See that {', and that '.join(facts)}.", "words": facts}


def queries(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """At first the second of those that are wanted repeats the first."""
    site, wanted = material(messages, "Website"), material(messages, "Number of tasks wanted")
    written = material(messages, "Already written")
    if written:
        return {"tasks": [query(site, len(written) + 1 + n) for n in range(wanted)]}
    tasks = [query(site, n) for n in range(wanted)]
    return {"tasks": [*tasks[:1], *(tasks[0] | {"task": tasks[0]["task"].upper()} for _ in tasks[1:2]), *tasks[2:]]}


def query(site: str, number: int) -> dict[str, Any]:
    words = [hashlib.sha256(f"{site} {number} {n}".encode()).hexdigest()[:6] for n in range(8)]
    return {"task": f"Look up {' '.join(words)}", "facts": [f"{word} is shown" for word in words[: 1 + number % 3]]}


def variants(messages: list[dict[str, Any]]) -> dict[str, Any]:
    task, facts = material(messages, "Task"), material(messages, "Facts")
    easier = {"task": f"{task}, in short", "facts": facts[:-1]} if len(facts) > 1 else None
    return {"easier": easier, "harder": {"task": f"{task}, and its price", "facts": [*facts, "its price is shown"]}}


RULES: dict[str, Callable[[list[dict[str, Any]]], dict[str, Any]]] = {
    RUBRIC: rubric,
    WORDING: wording,
    QUERIES: queries,
    VARIANTS: variants,
}


def truth(messages: list[dict[str, Any]]) -> str:
    """The right answer."""
    return json.dumps(RULES[messages[0]["content"]](messages))


def lie(messages: list[dict[str, Any]], draw: int) -> str:
    """An answer with another schema, or one that has lost a fact."""
    found = RULES[messages[0]["content"]](messages)
    if draw % 3 == 0:
        return "I would rather talk about something else."
    if draw % 3 == 1:
        return json.dumps({"answer": found})
    for lost in ("fact_groups", "words", "tasks"):
        if lost in found:
            return json.dumps(found | {lost: found[lost][:-1] if lost != "tasks" else []})
    return json.dumps({"easier": None, "harder": None})


def is_again(messages: list[dict[str, Any]]) -> bool:
    return messages[1]["content"][-1]["text"].startswith(AGAIN.split("{}")[0])


class Scripted:
    """What an endpoint answers; `always_lies` are texts whose requests get lies only."""

    def __init__(self, *always_lies: str) -> None:
        self._always_lies = always_lies
        self._asked: Counter[str] = Counter()

    def __call__(self, http: BaseHTTPRequestHandler) -> None:
        messages = http.body["messages"]  # type: ignore[attr-defined]
        text = json.dumps(messages)
        key = hashlib.sha256(text.encode()).hexdigest()
        self._asked[key] += 1
        draw = int(key[:8], 16)
        material = messages[1]["content"][0]["text"]
        if any(each in material for each in self._always_lies):
            return say(completion(lie(messages, draw)))(http)
        if self._asked[key] == 1 and (fault := self._fault(draw)) is not None:
            return fault(http)
        if draw % 4 == 0 and not is_again(messages):
            return say(completion(lie(messages, draw // 4)))(http)
        return say(completion(truth(messages)))(http)

    @staticmethod
    def _fault(draw: int) -> Answering | None:
        def stall(http: BaseHTTPRequestHandler) -> None:
            time.sleep(STALL_S)
            http.close_connection = True

        faults = {0: refuse(500), 1: refuse(429, Retry_After="0"), 2: drop, 3: truncate, 4: stall}
        return faults.get(draw // 7 % 50)
