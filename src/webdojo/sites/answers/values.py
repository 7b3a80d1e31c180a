"""The values that a question may ask for, as JSON that an evaluator holds and `says` reads.

| `type` | right if the answer says |
|---|---|
| `text` | this word or name |
| `number` | this number, in `unit`, in one that it can be converted to, or without any |
| `date` | this date, in any common form; without the year if `year_known` |
| `set` | all of these names, in any order |
| `list` | the same in this order |
| `winner` | that the side `best` of these `sides` has most; a side is the names of one thing |
| `among` | one of these values |
| `missing` | that nothing has this name |
| `refused` | that it cannot be done, and why |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date as Date
from decimal import Decimal
from typing import Any


def word_set(words: str) -> frozenset[str]:
    """The words of a text, split at white space."""
    return frozenset(words.split())


UNITS: dict[str, frozenset[str]] = {
    unit: word_set(spellings)
    for unit, spellings in {
        "seconds": "seconds second secs sec s",
        "minutes": "minutes minute mins min m",
        "hours": "hours hour hrs hr h",
        "days": "days day d",
        "weeks": "weeks week",
        "months": "months month",
        "years": "years year yrs yr",
        "mm": "mm millimeters millimeter millimetres millimetre",
        "cm": "cm centimeters centimeter centimetres centimetre",
        "m": "m meters meter metres metre",
        "km": "km kms kilometers kilometer kilometres kilometre",
        "miles": "miles mile mi",
        "feet": "feet foot ft",
        "inches": "inches inch",
        "yards": "yards yard",
        "litres": "litres litre liters liter l",
        "ml": "ml millilitres milliliters",
        "lb": "lb lbs",
        "ounces": "ounces ounce oz",
        "tonnes": "tonnes tonne tons ton",
        "knots": "knots knot",
        "nights": "nights night",
        "g": "g grams gram",
        "kg": "kg kgs kilograms kilogram kilos kilo",
        "KB": "kb kilobytes kilobyte",
        "MB": "mb megabytes megabyte",
        "GB": "gb gigabytes gigabyte",
        "cents": "cents cent pence",
        "¥": "¥ yen jpy",
        "$": "$ usd dollars dollar bucks",
        "€": "€ eur euros euro",
        "£": "£ gbp pounds pound",
        "%": "% percent",
        "°C": "° c celsius degrees degree",
        "°F": "° f fahrenheit degrees degree",
    }.items()
}
"""Spellings of each unit that a number may have."""
_MEASURES = (
    {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400, "weeks": 604_800},
    {"mm": 1, "cm": 10, "m": 1000, "km": 1_000_000},
    {"g": 1, "kg": 1000},
)
"""Units that can be converted into one another, by how many of the smallest each is."""
_OF_ITEMS = {unit: sizes for sizes in _MEASURES for unit in sizes}


def converted(value: Decimal, said: str, wanted: str) -> Decimal | None:
    """A number of one unit in another; None if they measure different things."""
    if said == wanted:
        return value
    sizes = _OF_ITEMS.get(said, {})
    return value * sizes[said] / sizes[wanted] if wanted in sizes else None


def units_of(spelling: str) -> list[str]:
    """The units that a word may stand for: `m` for minutes and metres."""
    return [unit for unit, spellings in UNITS.items() if spelling in spellings]


def number(value: int | float, unit: str = "", parts: Sequence[int] = ()) -> dict[str, Any]:
    """Evaluator of an answer that is a number; `unit` is a key of `UNITS`, `parts` are what it is the sum of."""
    more = {"unit": unit, "parts": list(parts)}
    return {"type": "number", "value": value, **{key: given for key, given in more.items() if given}}


def text(value: str) -> dict[str, Any]:
    """Evaluator of an answer that is a word or a name."""
    return {"type": "text", "value": value}


def date(value: Date, year_known: bool = False) -> dict[str, Any]:
    """Evaluator of an answer that is a date; `year_known` if question and site leave no doubt about the year."""
    return {"type": "date", "value": value.isoformat(), **({"year_known": True} if year_known else {})}


def any_order(values: Sequence[str]) -> dict[str, Any]:
    """Evaluator of an answer that names all of these things."""
    return {"type": "set", "values": list(values)}


def in_order(values: Sequence[str]) -> dict[str, Any]:
    """Evaluator of an answer that names these things in this order."""
    return {"type": "list", "values": list(values)}


def winner(
    sides: Sequence[Sequence[str]], best: int, figures: Sequence[int], unit: str = "", by_figure: bool = False
) -> dict[str, Any]:
    """Evaluator of an answer that says which of some things has most of something.

    Args:
        sides: the names of each thing: its own, and what the question calls it; what is a name of several, or
            begins one, is none.
        best: index of the one that has most.
        figures: how much each has, which the answer may say, too.
        unit: of the figures; a key of `UNITS`.
        by_figure: the question asks for the higher figure, so that it alone is an answer.
    """
    more = {"unit": unit, "by_figure": by_figure}
    times = Counter(name for names in sides for name in dict.fromkeys(names))
    others = [[name for names in sides if names is not own for name in names] for own in sides]
    own = [
        [name for name in dict.fromkeys(names) if times[name] == 1 and not any(f"{name} " in each for each in rest)]
        for names, rest in zip(sides, others, strict=True)
    ]
    return {
        "type": "winner", "sides": own, "best": best,
        "figures": list(figures), **{key: given for key, given in more.items() if given},
    }  # fmt: skip


def among(values: Iterable[Any]) -> dict[str, Any]:
    """Evaluator of an answer that is one of these words, numbers or evaluators."""
    return {"type": "among", "values": list(values)}


def missing(name: str) -> dict[str, Any]:
    """Evaluator of the answer that there is nothing of this name."""
    return {"type": "missing", "name": name}


def refused(why: str) -> dict[str, Any]:
    """Evaluator of the answer that something cannot be done, for a reason: `sold out`."""
    return {"type": "refused", "why": why}


def shown(value: str) -> dict[str, Any]:
    """Evaluator of a value as a page shows it: a number if it is one, else a word or a name."""
    return evaluator(scalar(value))


def scalar(value: str) -> int | str:
    """A value as a page shows it, as a number if it is one, else as text."""
    return int(value) if value.isdecimal() else value


def evaluator(value: Any) -> dict[str, Any]:
    """The evaluator that a value stands for: itself, or that of a word or number."""
    if isinstance(value, dict):
        return value
    return text(value) if isinstance(value, str) else number(value)
