"""What a task set is made of: counts by site, domain and difficulty, lengths, dates that have passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Any

from webdojo.tasks.dates import past_dates, plans_ahead
from webdojo.tasks.domains import domain_of, subdomain_of
from webdojo.tasks.site import site_of
from webdojo.types import Task


def stats(tasks: Iterable[Task], today: date) -> dict[str, Any]:
    """Counts of a task set, as plain JSON; it holds no task.

    `sites`, `domains`, `subdomains`, `difficulties` and `kinds` are numbers of tasks, the largest first; `words` is how
    long instructions are; `past_dated` counts those that name a date before `today`, and `past_plans` those of them
    that plan ahead, which cannot be done any more.
    """
    names = ("sites", "domains", "subdomains", "difficulties", "kinds")
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    words: Counter[int] = Counter()
    past = plans = logged_in = evaluated = 0
    for task in tasks:
        counts["sites"][site_of(task.website)] += 1
        counts["domains"][domain_of(task)] += 1
        counts["subdomains"][subdomain_of(task)] += 1
        counts["difficulties"][str(task.difficulty)] += 1
        if task.kind:
            counts["kinds"][task.kind] += 1
        words[len(task.instruction.split())] += 1
        logged_in += bool(task.storage_state)
        evaluated += bool(task.evaluator)
        if past_dates(task.instruction, today):
            past += 1
            plans += plans_ahead(task.instruction)
    lengths = sorted(words.elements())
    at = {"least": 0.0, "median": 0.5, "p95": 0.95, "most": 1.0}
    return {
        "tasks": len(lengths),
        **{
            name: dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
            for name, counted in counts.items()
        },
        "words": {name: lengths[round(share * (len(lengths) - 1))] for name, share in at.items()} if lengths else {},
        "past_dated": past,
        "past_plans": plans,
        "logged_in": logged_in,
        "with_evaluator": evaluated,
    }
