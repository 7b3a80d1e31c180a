"""Answers that code can check: the values that a question may ask for, and whether an answer says them.

| `type` | right if the answer says |
|---|---|
| `text` | this word or name |
| `number` | this number, up to `tolerance`, in `unit` or without any |
| `date` | this date, in any common form; without the year if `year_known` |
| `set` | all of these items, split by `,` `;` or lines, in any order |
| `list` | the same in this order |
| `url` | this address, or its path alone |
| `among` | one of these values |
| `impossible` | that it cannot be done, and why |

An answer may wrap its value in words of the question and a few fillers (`The Size is Large.`); any
other word, a second value, or an echo of the question makes it wrong. If the question itself contains
the value, only fillers may stand around it. All checks take time linear in the answer.

A date is checked by its parts: the day, the month, the year unless the question gives it away, and the weekday if the
answer has one. `3/5/2027` is no date, because two countries read it differently.

The answer that a task cannot be done says so, gives the reason, and contains nothing that would be a result. It is read
clause by clause. A clause with a denial (`cannot`, `there is no`, `sold out`) may use any words, up to `_FREE_WORDS` in
all. Any other clause may only say how the agent looked (`I searched the whole shop`), in words of the question, of the
reason, or of `_TALK`; so a value, a success or another offer stands out.

Answers are read as words and numbers, in one form for the many ways to write the same. Characters that look alike are
told apart, but widths and styles of one character are not (NFKC): `２４` is 24, a Cyrillic `а` is no `a`. Signs that
change what a number says (`≠ > ~ % €`) are words of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from datetime import date as Date
from decimal import Decimal
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from webdojo.errors import TaskError


def word_set(words: str) -> frozenset[str]:
    """The words of a text, split at white space."""
    return frozenset(words.split())


FILLERS = word_set("a an the is are it its it's of in at for to and has costs cost price value answer dollars usd $")
"""Words that say nothing by themselves."""
DOUBTS = word_set(
    "not no never nor neither none without except but maybe perhaps probably possibly might think guess unsure"
)
"""Words that take back what stands beside them, also if the question has them."""

_NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|[-+]?(?<![\w.])\.\d+"
_BOUND = r"(?<![\w=-])[<>]=?(?=\s?[-+$€£]?[\d.])"  # neither a tag nor an arrow
_TOKEN = re.compile(rf"{_NUMBER}|[^\W\d_]+(?:'[^\W\d_]+)?|{_BOUND}|[%$€£¥°≠≤≥~≈±¬]")
_SIGN_BEFORE_CURRENCY = re.compile(r"([-+])([$€£¥])(?=[\d.])")
_PLAIN = str.maketrans({"−": "-", "–": "-", "‐": "-", "‑": "-", "’": "'", "ʼ": "'"})

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
        "g": "g grams gram",
        "kg": "kg kgs kilograms kilogram kilos kilo",
        "KB": "kb kilobytes kilobyte",
        "$": "$ usd dollars dollar",
        "€": "€ eur euros euro",
        "£": "£ gbp pounds pound",
        "%": "% percent",
        "°C": "° c celsius degrees degree",
        "°F": "° f fahrenheit degrees degree",
    }.items()
}
"""Spellings of each unit that a number may have."""
_SCALES = word_set("hundred thousand million billion k")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_SEPARATOR = re.compile(r"[,;\n]|\b(?:and|then)\b|&")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+(?=\S)")
_LEAD = re.compile(r"([^,;:\n]*?)(?::|\b(?:are|is)\b)")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = {short: n for n, name in enumerate(_MONTHS, 1) for short in (name, name[:3])} | {"sept": 9}
_DAY = {short: n for n, name in enumerate(_DAYS) for short in (name, name[:3])} | {"tues": 1, "thur": 3, "thurs": 3}

_ISO_IN_TEXT = re.compile(r"(?<![\d/.-])(\d{4})([-/.])(0?[1-9]|1[0-2])\2(\d{1,2})(?![\d/.-]\d|\d)")
_PART = re.compile(r"\d+(?:[-+./:]\d+)+|\d+(?:st|nd|rd|th)?\b|[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[≠<>≤≥~≈±¬]")
_DAY_OR_YEAR = re.compile(r"(\d{1,4})(?:st|nd|rd|th)?")
_WRAPPERS = FILLERS | {"on", "date", "day"}

Part = str | tuple[str, int]
"""A word as it is, or a part of a date: `year`, `month`, `day` or `weekday`, and its number."""

_DENIAL = re.compile(
    r"\b(?:cannot|can not|can't|could not|couldn't|unable|(?:is|are|was|were) not|isn't|aren't|wasn't|weren't"
    r"|not possible|impossible|(?:do|does|did) not|don't|doesn't|didn't|there (?:is|are|was|were) no|there's no"
    r"|no (?:such|results?|match(?:es)?|matching|products?|items?|articles?|pages?)"
    r"|not available|not in stock|not found|not offered|not listed|nonexistent|unavailable|sold out|out of stock"
    r"|no longer)\b"
)
_DOUBLE = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|never|hardly|no longer|cannot be|can't be)"
    r" (?:\w+ )?(?:impossible|sold out|unavailable|out of stock|nonexistent|unable)\b"
)
_CLAUSE = re.compile(
    r"[.,:;!?\n()]|\b(?:and|or|so|but|however|though|although|then|because|since|as|which|while|yet)\b|—| - |="
)
_FREE_WORDS = 12
_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_SPACES = re.compile(r"[ \t]+")
_HEDGES = word_set(
    "maybe perhaps possibly probably might may think guess seems unsure either except unless otherwise instead besides "
    "only other"
)
_SUCCESS = word_set(
    "done success successful successfully succeeded completed complete finished added bought purchased ordered booked "
    "reserved placed posted sent created deleted removed changed updated saved"
)
_TALK = word_set(
    "i we you this that there here after when was were be been being have had do did on by with from all any every "
    "each whole entire both my your our their task request item items product products article articles page pages "
    "list lists result results search searched searching looked look looking checked check checking went through "
    "find found see saw seen show shows shown shop store site website wiki category categories currently now still "
    "unfortunately sorry sadly reason therefore thus said says say one ones thing things exist exists stock"
)


def number(value: int | float, unit: str = "", tolerance: float = 0) -> dict[str, Any]:
    """Evaluator of an answer that is a number; `unit` is a key of `UNITS`."""
    also = {"unit": unit, "tolerance": tolerance}
    return {"type": "number", "value": value, **{key: given for key, given in also.items() if given}}


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


def url(value: str) -> dict[str, Any]:
    """Evaluator of an answer that is an address; `value` is absolute."""
    return {"type": "url", "value": value}


def among(values: Iterable[Any]) -> dict[str, Any]:
    """Evaluator of an answer that is one of these words, numbers or evaluators."""
    return {"type": "among", "values": list(values)}


def impossible(*why: str | Sequence[str]) -> dict[str, Any]:
    """Evaluator of the answer that a task cannot be done, with phrases to say; a sequence asks for one of its own."""
    return {"type": "impossible", "why": [each if isinstance(each, str) else list(each) for each in why]}


def shown(value: str) -> dict[str, Any]:
    """Evaluator of a value as a page shows it: a number if it is one, else a word or a name."""
    return _evaluator(scalar(value))


def scalar(value: str) -> int | str:
    """A value as a page shows it, as a number if it is one, else as text."""
    return int(value) if value.isdecimal() else value


def says(wanted: dict[str, Any], answer: str, question: str) -> bool:
    """Whether an answer says what one of the functions above returned; words of the question may stand around it."""
    match wanted:
        case {"type": "text", "value": str(value)} if tokens(value):
            return _says_text(tokens(value), tokens(answer), set(tokens(question)))
        case {"type": "number", "value": int() | float() as value} if wanted.get("unit", "$") in UNITS:
            tolerance = Decimal(str(wanted.get("tolerance", 0)))
            return _says_number(
                Decimal(str(value)), wanted.get("unit", ""), tolerance, tokens(answer), set(tokens(question))
            )
        case {"type": "date", "value": str(value)} if _ISO_DATE.fullmatch(value):
            return _says_date(Date.fromisoformat(value), answer, question, wanted.get("year_known", False))
        case {"type": "set", "values": [_, *_] as values}:
            return sorted(_said_items(answer, question)) == sorted(_items(values))
        case {"type": "list", "values": [_, *_] as values}:
            return _said_items(answer, question) == _items(values)
        case {"type": "url", "value": str(value)} if urlsplit(value).netloc:
            return _says_url(value, answer, question)
        case {"type": "among", "values": [_, *_] as values}:
            return any(says(_evaluator(value), answer, question) for value in values)
        case {"type": "impossible", "why": [_, *_] as why}:
            return _says_impossible(why, answer, question)
    raise TaskError(f"an answer cannot be checked against {wanted!r}")


def _evaluator(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return text(value) if isinstance(value, str) else number(value)


def _says_text(value: list[str], said: list[str], asked: set[str]) -> bool:
    if asked >= set(value):
        asked = set()
    fillers = FILLERS - set(value)
    return within(value, said) and not claims(without(value, said), fillers, asked)


def _says_number(value: Decimal, unit: str, tolerance: Decimal, said: list[str], asked: set[str]) -> bool:
    def right(token: str) -> bool:
        found = as_number(token)
        return found is not None and abs(found - value) <= tolerance

    own = UNITS.get(unit, frozenset())
    fillers = (FILLERS - UNITS["$"]) | own if unit else FILLERS
    other = frozenset().union(*UNITS.values(), _SCALES) - own if unit else _SCALES
    if any(right(token) for token in asked):
        asked = set()
    numbers = [as_number(token) for token in said if token != "or"]
    # `2 or 12` to a question about 12: another number beside the value is another value.
    hedged = any(None not in pair and pair[0] != pair[1] for pair in pairwise(numbers))
    found = set(claims(said, fillers, asked - other))
    return len(found) == 1 and right(found.pop()) and not hedged


def _says_date(wanted: Date, answer: str, question: str, year_known: bool) -> bool:
    """Whether an answer says this date, no other, and nothing else; without the year if the question has it."""
    asked, said = _parts(question), _parts(answer)
    year_known = year_known or ("year", wanted.year) in asked
    forgiven = set() if _names(wanted, asked, year_known) else {part for part in asked if isinstance(part, str)}
    words = [part for part in said if isinstance(part, str)]
    return not claims(words, _WRAPPERS, forgiven) and _names(wanted, said, year_known)


def _names(wanted: Date, parts: list[Part], year_known: bool) -> bool:
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
    spelled = _ISO_IN_TEXT.sub(lambda iso: f" {iso[4]} {_MONTHS[int(iso[3]) - 1]} {iso[1]} ", plain(text))
    return [_part(token) for token in _PART.findall(spelled)]


def _part(token: str) -> Part:
    if token in _MONTH:
        return "month", _MONTH[token]
    if token in _DAY:
        return "weekday", _DAY[token]
    found = _DAY_OR_YEAR.fullmatch(token)
    if found is None:
        return token
    return ("year" if len(token) == 4 and token.isdecimal() else "day"), int(found[1])


def _items(values: Sequence[str]) -> list[tuple[str, ...]]:
    return [item for value in values for item in _split(plain(str(value)))]


def _said_items(answer: str, question: str) -> list[tuple[str, ...]]:
    """The items of an answer, without the words that lead to the first: `The colors are Red and Blue.`"""
    said = plain(answer).strip()
    lead = _LEAD.match(said)
    if lead and not claims(tokens(lead[1]), FILLERS, set(tokens(question))):
        said = said[lead.end() :]
    return _split(said)


def _split(said: str) -> list[tuple[str, ...]]:
    """Items between separators. A value that has a separator itself is several items on both sides."""
    parts = [tokens(_BULLET.sub("", part)) for part in _SEPARATOR.split(_THOUSANDS.sub("", said))]
    return [tuple(token for token in part if token not in FILLERS) or tuple(part) for part in parts if part]


def _says_url(value: str, answer: str, question: str) -> bool:
    asked = set(tokens(question)) if value not in question else set()
    found = False
    for word in answer.split():
        bare = word.strip("<>()[]{}\"'`.,;!")
        if "/" in bare:
            if not _same_address(value, bare):
                return False
            found = True
        elif claims(tokens(bare), FILLERS | {"url", "link", "address", "page", "path"}, asked):
            return False
    return found


def _same_address(value: str, said: str) -> bool:
    is_path = said.startswith("/") and not said.startswith("//")
    try:
        wanted, parts = urlsplit(value), urlsplit(said if is_path or "//" in said else f"//{said}")
    except ValueError:  # what an agent writes need not be an address
        return False
    if not is_path and (parts.scheme not in ("", "http", "https") or parts.netloc.lower() != wanted.netloc.lower()):
        return False
    return _path(parts.path, parts.query) == _path(wanted.path, wanted.query)


def _path(path: str, query: str) -> tuple[str, list[tuple[str, str]]]:
    """A path and its query in one spelling; page 1 is the page without a number."""
    values = [(key, value) for key, value in parse_qsl(query) if (key, value) != ("page", "1")]
    return unquote(path).rstrip("/") or "/", sorted(values)


def _says_impossible(why: Sequence[str | Sequence[str]], answer: str, question: str) -> bool:
    said, text = tokens(answer), _SPACES.sub(" ", _HYPHEN.sub(" ", plain(answer)))
    reasons = [[tokens(phrase) for phrase in ([each] if isinstance(each, str) else each)] for each in why]
    if not all(any(within(phrase, said) for phrase in phrases) for phrases in reasons):
        return False
    asked = tokens(question)
    if within(asked, said) or not _HEDGES.isdisjoint(said) or _DOUBLE.search(text):
        return False
    given = {token for phrases in reasons for phrase in phrases for token in phrase} | set(asked)
    if any(as_number(token) is not None and token not in given for token in said):
        return False
    clauses = _CLAUSE.split(text)
    denials = [_DENIAL.search(clause) for clause in clauses]
    allowed = (FILLERS | _TALK | given) - _SUCCESS
    free = 0
    for clause, denial in zip(clauses, denials, strict=True):
        beside = tokens(clause)
        for phrase in (phrase for phrases in reasons for phrase in phrases):
            beside = without(phrase, beside)  # a reason may have a word of success in it: `fully booked`
        unknown = [token for token in beside if token not in allowed]
        if unknown and (denial is None or not _SUCCESS.isdisjoint(tokens(clause[: denial.start()]))):
            return False  # a value, or a success that no denial takes back: `added what is sold out`
        free += len(unknown)
    return any(denials) and free <= _FREE_WORDS


def plain(said: str) -> str:
    """A text in small letters, with one kind of minus, apostrophe, digit and space."""
    text = unicodedata.normalize("NFKC", said).translate(_PLAIN).casefold()
    return _SIGN_BEFORE_CURRENCY.sub(r"\2\1", text)


def tokens(said: str) -> list[str]:
    """Words, signs, and numbers without thousands separators, in the order of the text."""
    return [token.replace(",", "") for token in _TOKEN.findall(plain(said))]


def claims(said: Iterable[str], fillers: Collection[str], asked: Collection[str]) -> list[str]:
    """The tokens that are neither fillers nor words of the question: what an answer commits itself to."""
    return [token for token in said if token in DOUBTS or (token not in fillers and token not in asked)]


def within(phrase: list[str], said: list[str]) -> bool:
    """Whether the tokens of a phrase stand in others, one after the other."""
    return f" {' '.join(phrase)} " in f" {' '.join(said)} "


def without(phrase: list[str], said: list[str]) -> list[str]:
    """The tokens that are left when every occurrence of a phrase is taken out."""
    rest = f" {' '.join(said)} "
    while (shorter := rest.replace(f" {' '.join(phrase)} ", " ")) != rest:
        rest = shorter
    return rest.split()


def as_number(token: str) -> Decimal | None:
    """The number that a token is; None if it is a word or a sign."""
    return Decimal(token) if token[-1].isdecimal() else None
