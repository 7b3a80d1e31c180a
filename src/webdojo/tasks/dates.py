"""Dates that a task's text names, and whether they have passed.

A task that plans ahead (a flight, a hotel, a pickup) cannot be done any more once its dates have passed; one that asks
about a day of the past can. Only dates with a year are looked at: a day of a month, or a month. A year alone
(`a 2022 Tesla`, `published in 2023`) and a day without a year are no dates here.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from webdojo.types import Task

PAST_DATED = "past_dated"
"""The key of `Task.metadata` with the dates that had passed on the day the tasks were read, as YYYY-MM-DD."""
PLANS = "plans_ahead"
"""The key of `Task.metadata` that says, beside `PAST_DATED`, whether the task plans ahead."""
SHIFTED_YEARS = "shifted_years"
"""The key of `Task.metadata` with the number of years by which its dates were moved."""

_MONTHS = [name.lower() for name in calendar.month_abbr[1:]]
_MONTH = (
    r"(?P<{0}>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_UNTIL = r"(?:\s*(?:-|–|to|and)\s*\d{1,2}(?:st|nd|rd|th)?)?"
_DATE = re.compile(
    "|".join(
        (
            rf"\b{_MONTH.format('m1')}\s+{_DAY.format('d1')}{_UNTIL}(?:,\s*|\s+)(?P<y1>(?:19|20)\d\d)\b",
            rf"\b{_DAY.format('d2')}\s+{_MONTH.format('m2')},?\s+(?P<y2>(?:19|20)\d\d)\b",
            r"\b(?P<y3>(?:19|20)\d\d)-(?P<m3>\d\d)-(?P<d3>\d\d)\b",
            r"\b(?P<m4>\d{1,2})/(?P<d4>\d{1,2})/(?P<y4>(?:19|20)\d\d)\b",
            rf"\b{_MONTH.format('m5')}\s+(?P<y5>(?:19|20)\d\d)\b",
        )
    ),
    re.IGNORECASE,
)
_FORMS = 5
_PLAN = re.compile(
    r"\b(?:flights?|hotels?|resorts?|hostels?|accommodations?|one[- ]way|round[- ]trip|depart(?:ing|ure)|check[- ]?in|"
    r"reserv(?:e|ation)|book (?:a|an|one|two)|pick-?up|appointment|car rental|rent a|rental car)\b",
    re.IGNORECASE,
)


def past_dates(text: str, today: date) -> list[date]:
    """The dates in a text that lie before a day: the first day of a range, the last day of a month."""
    return [day for found in _DATE.finditer(text) if (day := _day(found, 0)) is not None and day < today]


def plans_ahead(text: str) -> bool:
    """Whether what a text asks for is done before its dates: travel, a reservation, a pickup."""
    return bool(_PLAN.search(text))


def marks(text: str, today: date) -> dict[str, Any]:
    """What `Task.metadata` says of the dates in a task's text that have passed; empty where none has."""
    passed = past_dates(text, today)
    return {PAST_DATED: [day.isoformat() for day in passed], PLANS: plans_ahead(text)} if passed else {}


def shifted(task: Task, first: date) -> Task:
    """The task with all its dates moved by whole years, as few as bring none of them before the day `first`, which is
    one of this century.

    A task that does not plan ahead, or names no date before that day, stays as it is. What the evaluator says moves
    along. `metadata` keeps `original_instruction` and `shifted_years`, and the id ends in the years, such as `+3y`: it
    is another task. Days of the week do not move along.
    """
    text = task.instruction
    if not past_dates(text, first) or not plans_ahead(text):
        return task
    years = next(n for n in range(1, 300) if all(_fits(found, n, first) for found in _DATE.finditer(text)))
    noted = {"original_instruction": text, SHIFTED_YEARS: years}
    return task.model_copy(
        update={
            "id": f"{task.id}+{years}y",
            "instruction": _moved(text, years),
            "evaluator": _moved(task.evaluator, years),
            "metadata": task.metadata | noted,
        }
    )


def _fits(found: re.Match[str], years: int, first: date) -> bool:
    """Whether a date, so many years later, exists and does not lie before a day; what is no date now always does."""
    if _day(found, 0) is None:
        return True
    day = _day(found, years)
    return day is not None and day >= first


def _day(found: re.Match[str], years: int) -> date | None:
    """The day that a match stands for, so many years later; None where there is none, such as 31 June."""
    form = next(n for n in range(1, _FORMS + 1) if found[f"y{n}"])
    year, month = int(found[f"y{form}"]) + years, found[f"m{form}"]
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    day = None if form == _FORMS else int(found[f"d{form}"])
    if form == 4 and number > 12 and day is not None:  # 20/12/2023: the day stands first
        number, day = day, number
    try:
        return date(year, number, day or calendar.monthrange(year, number)[1])
    except ValueError:  # calendar's error of a month is one too
        return None


def _moved(value: Any, years: int) -> Any:
    """A JSON value with the dates in all its texts so many years later."""
    if isinstance(value, str):
        return "".join(_pieces(value, years))
    if isinstance(value, dict):
        return {key: _moved(part, years) for key, part in value.items()}
    return [_moved(part, years) for part in value] if isinstance(value, list) else value


def _pieces(text: str, years: int) -> Iterator[str]:
    end = 0
    for found in _DATE.finditer(text):
        if _day(found, 0) is None:
            continue
        form = next(n for n in range(1, _FORMS + 1) if found[f"y{n}"])
        yield text[end : found.start(f"y{form}")]
        yield str(int(found[f"y{form}"]) + years)
        end = found.end(f"y{form}")
    yield text[end:]
