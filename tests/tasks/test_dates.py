"""Dates in the text of tasks: which have passed, which tasks plan ahead, and how they move by whole years."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from webdojo.tasks.dates import marks, past_dates, plans_ahead, shifted
from webdojo.types import Task

DATA = Path(__file__).parents[3] / "shared" / "data"
DAY = date(2026, 11, 25)


def task(instruction: str, **more: object) -> Task:
    fields = {"id": "a", "instruction": instruction, "start_url": "http://a.example/", "website": "a.example"}
    return Task.model_validate(fields | more)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for January 10, 2024", ["2024-01-10"]),
        ("on Feb 3rd 2024.", ["2024-02-03"]),
        ("from Jan 1 to Jan 4, 2024", ["2024-01-04"]),
        ("for February 14-21, 2024", ["2024-02-14"]),
        ("March 1 – 7, 2024", ["2024-03-01"]),
        ("between 1 January 2000 and 1st Jan. 2005", ["2000-01-01", "2005-01-01"]),
        ("for 20/12/2023 - 21/12/2023", ["2023-12-20", "2023-12-21"]),
        ("on 12/31/2025", ["2025-12-31"]),
        ("created after 2023-12-29", ["2023-12-29"]),
        ("in October 2026, not in NOVEMBER 2026", ["2026-10-31"]),
        ("on November 24, 2026 or November 25, 2026", ["2026-11-24"]),
        ("June 31, 2024 and 2024-13-01", []),
        ("a 2022 Tesla, the 2023-24 season, 1920-1080 pixels", []),
        ("on December 25th, from Jan. 22, for 14/2", []),
        ("Marvel 2023, Mayo 2020, the Augustus 2019 lamp, section 1/2/20245", []),
    ],
)
def test_dates_before_a_day_are_found(text: str, found: list[str]) -> None:
    assert [day.isoformat() for day in past_dates(text, DAY)] == found


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("Find a hotel in Paris", True),
        ("the cheapest one-way flight", True),
        ("Book a table", True),
        ("schedule an in-store pickup", True),
        ("the best-rated fiction book", False),
        ("the schedule for the NBA game", False),
        ("average wait times for arrivals", False),
    ],
)
def test_tasks_that_plan_ahead_are_told_from_those_about_the_past(text: str, does: bool) -> None:
    assert plans_ahead(text) is does


def test_marks_are_there_only_where_a_date_has_passed() -> None:
    assert marks("A hotel for May 2, 2024", DAY) == {"past_dated": ["2024-05-02"], "plans_ahead": True}
    assert marks("Scores of May 2, 2024", DAY) == {"past_dated": ["2024-05-02"], "plans_ahead": False}
    assert marks("A hotel for May 2, 2027", DAY) == {}


@pytest.mark.parametrize(
    ("text", "first", "moved", "years"),
    [
        ("A hotel for Jan 1 to Jan 4, 2024.", date(2026, 11, 25), "A hotel for Jan 1 to Jan 4, 2027.", 3),
        ("A hotel for Dec 1, 2024.", date(2026, 11, 25), "A hotel for Dec 1, 2026.", 2),
        ("A hotel for Nov 25, 2025.", date(2026, 11, 25), "A hotel for Nov 25, 2026.", 1),
        # Those of a stay over New Year keep their distance.
        (
            "A flight on December 25, 2023, back on January 5, 2024.",
            date(2026, 12, 26),
            "A flight on December 25, 2027, back on January 5, 2028.",
            4,
        ),
        ("A flight on 20/12/2023 for the 2024 fair", date(2026, 1, 1), "A flight on 20/12/2026 for the 2024 fair", 3),
        ("A hotel for Feb 29, 2024", date(2026, 1, 1), "A hotel for Feb 29, 2028", 4),
        ("A hotel for Feb 30, 2020 or May 1, 2024", date(2026, 1, 1), "A hotel for Feb 30, 2020 or May 1, 2026", 2),
    ],
)
def test_dates_move_by_as_few_whole_years_as_do(text: str, first: date, moved: str, years: int) -> None:
    after = shifted(task(text), first)
    assert (after.instruction, after.id) == (moved, f"a+{years}y")
    assert after.metadata == {"original_instruction": text, "shifted_years": years}


def test_what_the_evaluator_says_moves_along() -> None:
    rubric = [{"id": 1, "description": "Stay", "facts": ["from May 2, 2024", "with a pool since 2001"]}]
    before = task("A hotel for May 2, 2024", evaluator={"evaluator_reference": rubric}, metadata={"level": "easy"})
    after = shifted(before, DAY)
    assert after.evaluator["evaluator_reference"][0]["facts"] == ["from May 2, 2027", "with a pool since 2001"]
    assert after.evaluator["evaluator_reference"][0]["id"] == 1
    assert after.metadata["level"] == "easy"
    assert before.evaluator["evaluator_reference"][0]["facts"][0] == "from May 2, 2024", "the task itself stays"


@pytest.mark.parametrize(
    "text", ["Scores of May 2, 2024", "A hotel for May 2, 2027", "A hotel for May 2", "A 2022 Tesla with pick-up"]
)
def test_other_tasks_stay_as_they_are(text: str) -> None:
    assert shifted(task(text), DAY) == task(text)


COUNTS = {
    "webvoyager/WebVoyager_data.jsonl": (643, 76, 65),
    "webvoyager/webvoyager_595.jsonl": (595, 72, 61),
    "online-mind2web/online_mind2web.json": (300, 6, 0),
    "deepshop/deepshop.jsonl": (150, 0, 0),
}
"""Tasks, those with a date that has passed on `DAY`, and of these those that plan ahead, as docs/benchmarks.md says."""


def texts(file: Path) -> list[str]:
    text = file.read_text()
    rows = json.loads(text) if file.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    return [row.get("ques") or row["confirmed_task"] for row in rows]


@pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside this checkout")
@pytest.mark.parametrize("name", COUNTS)
def test_counts_on_the_real_files(name: str) -> None:
    marked = [found for text in texts(DATA / name) if (found := marks(text, DAY))]
    assert (len(texts(DATA / name)), len(marked), sum(found["plans_ahead"] for found in marked)) == COUNTS[name]
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text()
    assert f"| `{Path(name).name}` | {' | '.join(map(str, COUNTS[name]))} |" in page


@pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside this checkout")
def test_after_a_shift_no_task_of_the_real_files_plans_for_the_past() -> None:
    for name in COUNTS:
        for text in texts(DATA / name):
            after = shifted(task(text), DAY)
            assert not (plans_ahead(text) and past_dates(after.instruction, DAY)), after.instruction
            assert len(after.instruction) == len(text), "years alone change"
