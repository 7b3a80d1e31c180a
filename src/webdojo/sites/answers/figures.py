"""The numbers that an answer claims, in the unit that was asked for, and those that only round another one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from webdojo.sites.answers.reading import Reading
from webdojo.sites.answers.values import converted, units_of, word_set

_BOUNDS = word_set(
    "about around roughly approximately approx nearly almost circa ca before over under above below least most than "
    "between minimum maximum < > <= >= ≠ ≤ ≥ ~ ≈ ± ¬ nearest some twice half double triple minus less fewer plus times "
    "by near first last"
)
_BEFORE = (
    ("up", "to"), ("close", "to"), ("next", "to"), ("half", "of"), ("part", "of"), ("share", "of"),
    ("upward", "of"), ("upwards", "of"), ("excess", "of"), ("shy", "of"), ("short", "of"),
)  # fmt: skip
"""Words before a number that make it another one."""
_AFTER = word_set(
    "+ minus less fewer short extra off dozen plus ish hundred thousand million billion squared cubed too more upward "
    "upwards onward onwards downward downwards minimum maximum"
)
"""The same after it."""
LIMITING = word_set(
    "more less fewer better higher lower later greater above below over under older newer longer shorter"
)
"""Words after `or` that make a number a limit."""
_GOES_ON = LIMITING - word_set("above below over under") | word_set("up upward upwards onward onwards down counting")
"""The same after `and`."""
_LIMITS = word_set("≥ ≤ > < least most over under min max minimum maximum than exceeding")
_TOOLS = word_set("page pages filter filters step steps search searches condition conditions criteria reports months")
"""What people count on their way."""
_OTHER = "another unit"
_APART = re.compile(r"[:;.,\n]")
_SIGNS = word_set("% $ € £ ¥ °")
_CURRENCIES = word_set("$ € £ ¥ usd eur gbp")


@dataclass(frozen=True)
class Figure:
    """A number in an answer, in the unit that was asked for; `value` is None if it has another or a doubt."""

    start: int
    end: int
    value: Decimal | None


def figures_of(reading: Reading, unit: str, bounds: bool = True, known: Collection[Decimal] = ()) -> Iterator[Figure]:
    """The numbers that are claims; with `bounds` one that is a limit, or only about right, has no value.

    A number that repeats the question is a claim only if it is one of the known.
    """
    at, texts = 0, reading.texts
    while at < len(texts):
        number = reading.words[at].number if reading.free[at] else None
        echo = number not in known and reading.repeats(at, at + 1)
        if number is None or echo or _limits(reading, at) or _counts_tools(reading, at, unit):
            at += 1
            continue
        start = at
        said, at = _unit_at(reading, start, at + 1, unit)
        value = _in_unit(number, said, unit)
        while value is not None and (longer := _continued(reading, at, said, unit)) is not None:
            more, said, at = longer
            value += more
        sign = start - 1 if start and texts[start - 1] in _CURRENCIES else start
        before = texts[sign - 1] if sign and not _APART.search(reading.words[sign].gap) else ""
        bound = before in _BOUNDS or before == "or" or texts[max(sign - 2, 0) : sign] in _BEFORE
        follows = at < len(texts) and texts[at] in _AFTER and "\n" not in reading.words[at].gap
        bound |= follows and not _operates(reading, at)
        bound |= goes_on(reading, at)
        yield Figure(start, at, None if bound and bounds else value)


def goes_on(reading: Reading, at: int) -> bool:
    """Whether the words from a place on make what stands before them a limit: `or more`, `and up`, `at least`."""
    first, *rest = (*reading.texts[at : at + 4], "")
    match first:
        case "or":
            return not LIMITING.isdisjoint(rest[:1])
        case "and":
            return not _GOES_ON.isdisjoint(rest[:1]) and "than" not in rest
        case "at":
            return not _LIMITS.isdisjoint([each for each in rest if each not in ("the", "very")][:1])
    return False


def _limits(reading: Reading, at: int) -> bool:
    """Whether a number is a limit that the question gives, in other words: `rated 3 stars or better`, `≥ 1000`."""
    texts = reading.texts
    ends = any(map(partial(goes_on, reading), range(at + 1, at + 4)))
    ends |= texts[at + 1 : at + 2] in (("+",), ("plus",)) and not _operates(reading, at + 1)
    before = {texts[n] for n in range(max(0, at - 2), at) if not _follows_number(reading, n)}
    return texts[at] in reading.asked and (ends or not _LIMITS.isdisjoint(before))


def _follows_number(reading: Reading, at: int) -> bool:
    """Whether a number, perhaps with a unit, stands before a place, as before the sign in `48 min < 90 min`."""
    at -= at > 1 and bool(units_of(reading.texts[at - 1]))
    return at > 0 and reading.words[at - 1].number is not None


def _counts_tools(reading: Reading, at: int, unit: str) -> bool:
    after = reading.texts[at + 1 : at + 2] if at + 1 < len(reading.words) and reading.words[at + 1].gap == " " else ()
    return not unit and not _TOOLS.difference(reading.asked).isdisjoint(after)


def _unit_at(reading: Reading, start: int, end: int, unit: str) -> tuple[list[str], int]:
    """The units that a number may have by the words beside it, and where it ends; the wanted unit comes first."""
    texts = reading.texts
    found = units_of(texts[start - 1]) if start and texts[start - 1] in _CURRENCIES else []
    if found:
        after = units_of(texts[end]) if end < len(texts) else []
        return (found if not after or found[0] in after else [_OTHER]), end + bool(after)
    if end < len(texts) and reading.words[end].gap.strip() in ("", "-"):
        found = units_of(texts[end])
        if found and end + 1 < len(texts) and reading.words[end + 1].gap == "/":
            return [_OTHER], end + 1  # km/h
        if found and end + 1 < len(texts) and units_of(texts[end + 1]) and reading.words[end + 1].gap == " ":
            return [_OTHER], end + 1  # KB km
        if not found and texts[end] != "×" and (not texts[end].isascii() or re.match(r"[a-z]+\d", texts[end])):
            return [_OTHER], end + 1  # what only looks like a unit
        if found and (unit or texts[end] in _SIGNS or texts[end] not in reading.asked):
            return ([unit] if unit in found else found), end + 1
    return [], end


def _in_unit(number: Decimal, said: list[str], unit: str) -> Decimal | None:
    if not said:
        return number
    return next((found for each in said if (found := converted(number, each, unit)) is not None), None)


def _continued(reading: Reading, at: int, said: list[str], unit: str) -> tuple[Decimal, list[str], int] | None:
    """The rest of a figure of two units: `5 minutes` after `2 hours`."""
    if not said or at >= len(reading.texts) or "(" in reading.words[at].gap:
        return None
    at += reading.texts[at] == "and"
    if at + 1 >= len(reading.texts) or (number := reading.words[at].number) is None:
        return None
    smaller, end = _unit_at(reading, at, at + 1, unit)
    if not smaller:
        return None
    one, other = _in_unit(Decimal(1), said, unit), _in_unit(Decimal(1), smaller, unit)
    if one is None or other is None or other >= one:
        return None
    return number * other, smaller, end


def _operates(reading: Reading, at: int) -> bool:
    """Whether a sign stands between two numbers."""
    after = reading.words[at + 1].number if at + 1 < len(reading.words) else None
    return reading.texts[at] in ("+", "plus") and after is not None


def reckoned(reading: Reading, figures: list[Figure], value: Decimal) -> Iterator[Figure]:
    """The figures but those that are reckoned up to the value: `12 + 9 = 21`."""
    at = 0
    while at < len(figures):
        end, total = at + 1, figures[at].value
        while end < len(figures) and total is not None:
            sign, more = reading.texts[figures[end - 1].end : figures[end].start], figures[end].value
            if more is None or sign not in (("+",), ("plus",), ("×",), ("x",), ("times",)):
                break
            total, end = (total + more if sign[0] in "+plus" else total * more), end + 1
        if end == at + 1 or total != value:
            yield from figures[at:end]
        at = end


_LARGER = {
    "k": 1000,
    "thousand": 1000,
    "kg": 1000,
    "km": 1000,
    "mb": 1000,
    "h": 60,
    "hours": 60,
    "weeks": 7,
    "years": 12,
}
"""How many of a unit the larger one has, of those in which figures are told roughly."""
_ROUNDED = re.compile(
    r"\b(?:roughly|about|around|approximately|some) (?:[$€£] ?)?(?P<rounded>\d[\d,]*(?:\.\d+)?)"
    r"(?P<scale> ?(?:k|thousand|kg|mb|km)\b)?(?: [^\W\d]+){0,3}(?:[,;.:(]| ?[—–]| -)+ ?"
    r"(?=(?:the )?(?:exact|precise)(?:ly)?\b[^.;\n\d]{0,40}?(?P<exact>\d[\d,]*))",
    re.IGNORECASE,
)
"""A rounded figure before the exact one."""
_IN_LARGER = re.compile(
    r"\b(?P<exact>\d[\d,]*)(?P<unit> ?[^\W\d]+)?(?: ?\(|,| or)+ ?(?:that is|i\.?e\.?,?|or|which is)? ?"
    rf"(?:roughly|about|around|approximately|[~≈]) ?(?P<rounded>\d+(?:\.\d+)?) ?(?P<scale>{'|'.join(_LARGER)})\b\)?",
    re.IGNORECASE,
)
"""An exact figure before one that is rounded in a larger unit."""


def without_rounded(text: str) -> str:
    """A text without the figures that round what it says exactly, too: `1955 g (about 2.0 kg)`.

    One that was rounded wrongly stays, and contradicts the exact one.
    """
    return _ROUNDED.sub(_nothing, _IN_LARGER.sub(_exact, text))


def _nothing(match: re.Match[str]) -> str:
    """Nothing, if the figure was rounded rightly."""
    return "" if _agree(match, _LARGER.get((match["scale"] or "").strip().casefold(), 1)) else match[0]


def _exact(match: re.Match[str]) -> str:
    """The exact figure, if it was rounded rightly."""
    exact = f"{match['exact']}{match['unit'] or ''}"
    return exact if _agree(match, _LARGER[match["scale"].casefold()]) else match[0]


def _agree(match: re.Match[str], scale: int) -> bool:
    """Whether `rounded` of a match is its `exact` but for its last digit."""
    whole, _, part = match["rounded"].replace(",", "").partition(".")
    last = 10.0 ** (-len(part) if part else len(whole) - len(whole.rstrip("0")))
    return abs(float(f"{whole}.{part or 0}") - float(match["exact"].replace(",", "")) / scale) <= last
