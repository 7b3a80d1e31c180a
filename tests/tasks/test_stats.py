"""Counts of a task set."""

from __future__ import annotations

from datetime import date

from webdojo.tasks.stats import stats
from webdojo.types import Task


def task(id: str, instruction: str, website: str, **more: object) -> Task:
    row = {"id": id, "instruction": instruction, "start_url": f"https://{website}/", "website": website, **more}
    return Task.model_validate(row)


def test_the_counts_of_a_set() -> None:
    found = stats(
        [
            task("a", "Find a flight on May 1, 2024", "www.kayak.com", difficulty=2),
            task("b", "Show the news of May 2, 2024", "bbc.com"),
            task("c", "Find a lamp", "www.amazon.com", storage_state="s.json", evaluator={"answer": "1"}),
            task("d", "Find two", "smile.amazon.com"),
        ],
        date(2026, 1, 1),
    )
    assert found == {
        "tasks": 4,
        "sites": {"amazon.com": 2, "bbc.com": 1, "kayak.com": 1},
        "domains": {"Lifestyle & Leisure": 2, "Misc.": 1, "Travel & Transportation": 1},
        "subdomains": {"Shopping": 2, "News": 1, "Travel & Accommodation": 1},
        "difficulties": {"1": 3, "2": 1},
        "kinds": {},
        "words": {"least": 2, "median": 7, "p95": 7, "most": 7},
        "past_dated": 2,
        "past_plans": 1,
        "logged_in": 1,
        "with_evaluator": 1,
    }


def test_an_empty_set_has_counts_too() -> None:
    assert stats([], date(2026, 1, 1))["tasks"] == 0
