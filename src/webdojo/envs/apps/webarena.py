"""Questions about an application as rows of a WebArena config file, for what trains or measures on those.

WebArena's evaluators read the answer, the last address and texts of pages (Zhou et al. 2023, §3.2), and no database:
tasks that change something cannot be judged by them and are left out, as are questions whose answer has an order. They
do not ask either whether the answer had been on a page, so a guess counts. A row names its application by a
placeholder, `__OSCAR__` for `oscar`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from webdojo.types import Task

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def rows(tasks: Iterable[Task], logins: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The questions among tasks of one application, as rows; `logins` names the file with the browser's storage state
    for each role."""
    templates: dict[str, int] = {}
    number = 0
    for task in tasks:
        references = _references(task)
        if references is None:
            continue
        role, template = task.metadata["role"], task.metadata["template"]
        yield {
            "task_id": number,
            "sites": [task.kind],
            "require_login": bool(role),
            "storage_state": logins[role] if role else None,
            "start_url": task.start_url.replace(f"http://{task.website}", f"__{task.kind.upper()}__"),
            "geolocation": None,
            "intent": task.instruction,
            "intent_template_id": templates.setdefault(template, len(templates)),
            "require_reset": False,
            "eval": {
                "eval_types": ["string_match"],
                "reference_answers": {"must_include": references},
                "reference_url": "",
                "program_html": [],
            },
        }
        number += 1


def _references(task: Task) -> list[str] | None:
    """What the answer must include; None where WebArena's evaluators cannot say whether the task is done."""
    facts = task.evaluator["facts"]
    asked = [fact["answer"] for fact in facts if "answer" in fact]
    if len(asked) != 1 or any("change" in fact for fact in facts):
        return None
    match asked[0]:
        case {"type": "text", "value": value}:
            return [value]
        case {"type": "number"}:
            found = _NUMBER.search(task.metadata["plan"][-1]["answer"])
            return [found[0]] if found else None
        case {"type": "set", "values": values}:
            return list(values)
        case {"type": "winner", "sides": sides, "best": best}:
            return [sides[best][0]]
    return None
