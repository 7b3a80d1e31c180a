"""Dates in answers: `2027-03-05`, `5 March 2027`, `March 5th, 2027`, `Fri, 5 Mar`.

A date is checked by its parts: the day, the month, the year unless the question gives it away, and the
weekday if the answer has one. `3/5/2027` is no date, because two countries read it differently.
"""

from __future__ import annotations

import re
from datetime import date

from webdojo.sites.verdict.tokens import FILLERS, claims, plain

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = {short: n for n, name in enumerate(_MONTHS, 1) for short in (name, name[:3])} | {"sept": 9}
_DAY = {short: n for n, name in enumerate(_DAYS) for short in (name, name[:3])} | {"tues": 1, "thur": 3, "thurs": 3}

_ISO = re.compile(r"(?<![\d/.-])(\d{4})([-/.])(0?[1-9]|1[0-2])\2(\d{1,2})(?![\d/.-]\d|\d)")
_PART = re.compile(r"\d+(?:[-+./:]\d+)+|\d+(?:st|nd|rd|th)?\b|[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[≠<>≤≥~≈±¬]")
_NUMBER = re.compile(r"(\d{1,4})(?:st|nd|rd|th)?")
_WRAPPERS = FILLERS | {"on", "date", "day"}

Part = str | tuple[str, int]
"""A word as it is, or a part of a date: `year`, `month`, `day` or `weekday`, and its number."""


def says_date(wanted: date, answer: str, question: str, year_known: bool) -> bool:
    """Whether an answer says this date, no other, and nothing else.

    Args:
        year_known: the year may be left out; it may also be left out if the question has it.
    """
    asked, said = _parts(question), _parts(answer)
    year_known = year_known or ("year", wanted.year) in asked
    forgiven = set() if _names(wanted, asked, year_known) else {part for part in asked if isinstance(part, str)}
    words = [part for part in said if isinstance(part, str)]
    return not claims(words, _WRAPPERS, forgiven) and _names(wanted, said, year_known)


def _names(wanted: date, parts: list[Part], year_known: bool) -> bool:
    """Whether the parts of dates among these are exactly those of the date."""
    found: dict[str, set[int]] = {"year": set(), "month": set(), "day": set(), "weekday": set()}
    for part in parts:
        if isinstance(part, tuple):
            found[part[0]].add(part[1])
    return (
        (found["day"], found["month"]) == ({wanted.day}, {wanted.month})
        and (found["year"] == {wanted.year} or (year_known and not found["year"]))
        and found["weekday"] <= {wanted.weekday()}
    )


def _parts(text: str) -> list[Part]:
    spelled = _ISO.sub(lambda iso: f" {iso[4]} {_MONTHS[int(iso[3]) - 1]} {iso[1]} ", plain(text))
    return [_part(token) for token in _PART.findall(spelled)]


def _part(token: str) -> Part:
    if token in _MONTH:
        return "month", _MONTH[token]
    if token in _DAY:
        return "weekday", _DAY[token]
    number = _NUMBER.fullmatch(token)
    if number is None:
        return token
    return ("year" if len(token) == 4 and token.isdecimal() else "day"), int(number[1])
