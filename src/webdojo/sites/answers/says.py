"""Whether an answer says what was asked for.

An answer is right if it says the value and contradicts it nowhere, in whatever words. What it says is what it claims:
the values of the kind asked for that stand in it. A value is no claim where the answer repeats the question (`with at
least 3 votes`), names the thing that was asked about, or says something else of it (`Arrow 12 for $39 takes 95 min`).
All claims must be the value. What contradicts it:

- another value, or the name of another thing, of those that the site has (`Subject.rivals`);
- a number that is none of the thing's, outside of sums that come to the value and of counts of pages;
- a doubt, a denial or a bound beside it (`maybe`, `not`, `or`, `at least`), unless the question has it there, too;
- something in a list that the site does not have.

An answer of more than `_LONGEST` characters says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date as Date
from decimal import Decimal
from itertools import groupby
from typing import Any

from webdojo.errors import TaskError
from webdojo.sites.answers.contest import says_winner
from webdojo.sites.answers.figures import figures_of, reckoned
from webdojo.sites.answers.reading import FILLERS, PAGES, TALK, Mention, Reading, texts_of
from webdojo.sites.answers.refusal import says_impossible
from webdojo.sites.answers.values import UNITS, evaluator, word_set

DOUBTS = word_set(
    "allegedly anything apparently appear appeared appears approx approximately aren't assume assumed assuming "
    "attention ballpark barely believe but can't cannot circa conceivably contrary could couldn't didn't "
    "disregard doesn't don't doubt doubtful either else estimate estimated evaluator except excluding failed "
    "false feel formerly grader guess guessed guessing hardly hopefully ignore ignored imagine impossible "
    "incorrect instead instructions invented isn't judge likely may maybe memory might mistaken neither never no "
    "none nor not opposite or otherwise override perhaps possible possibly potentially presumably pretend "
    "previously probably random randomly rather recall reckon remember reportedly roughly seem seemed seemingly "
    "seems should something somewhere success suppose supposedly suspect tbd think true typically unable "
    "uncertain unclear unconfirmed unknown unlike unlikely unsure unverified usually verdict wasn't weren't "
    "without won't wrong"
)
"""Words that take back what stands beside them, or that only speak to a judge."""
_LONGEST = 4000
_MOST_WORDS = 60
"""Words beside the value that an answer may have: talk is short."""
_CLOSING = re.compile(
    r"(?:\b(?:please )?(?:let me know|feel free|is there anything|do you (?:need|want)|would you like|can i help"
    r"|may i help|hope (?:this|that) helps|i hope|happy to help|anything else|what else)\b[^.!?\n]*[.!?]*\s*)+$",
    re.IGNORECASE,
)
"""The courtesies at the end of an answer."""
_ASIDE = re.compile(
    r"\b100 ?% (?:sure|certain|confident|positive)\b|\bconfidence: ?[\w.]+ ?%?|\bstep \d{1,2}\b"
    r"|(?<=[\w.)]) ?\[\d{1,2}\]",
    re.IGNORECASE,
)
"""Numbers that belong to no value: of steps, of references, and of how sure an agent is."""
_BREAK = re.compile(r"[,;:.!?()\n|&/]| - ")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = {short: n for n, name in enumerate(_DAYS) for short in (name, name[:3])} | {"tues": 1, "thur": 3, "thurs": 3}


@dataclass(frozen=True)
class Subject:
    """What an answer may say besides the value, and what contradicts it."""

    names: tuple[str, ...] = ()
    """What may be named: the thing that the question is about."""
    told: tuple[str, ...] = ()
    """What may be said of it: its other values, as pages show them."""
    asked: tuple[str, ...] = ()
    """What the value that is asked for is called."""
    labels: tuple[str, ...] = ()
    """What its other values are called."""
    rivals: tuple[str, ...] = ()
    """Names of other things and other values of what is asked for; those that are `names`, too, are none."""


NOTHING = Subject()


def says(wanted: dict[str, Any], answer: str, question: str, subject: Subject = NOTHING) -> bool:
    """Whether an answer to a question says what an evaluator of `values.py` holds.

    Raises:
        TaskError: The evaluator holds nothing that can be checked.
    """
    answer = _told(answer, question)
    if len(answer) > _LONGEST or (answer.endswith("?") and "?" not in str(wanted)):
        answer = ""  # too much, or a question
    match wanted:
        case {"type": "text", "value": str(value)} if texts_of(value):
            return _says_names([value], answer, question, subject)
        case {"type": "number", "value": int() | float() as value} if wanted.get("unit", "$") in UNITS:
            return _says_number(Decimal(str(value)), wanted, answer, question, subject)
        case {"type": "date", "value": str(value)} if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            return _says_date(Date.fromisoformat(value), answer, question, subject, wanted.get("year_known", False))
        case {"type": "set", "values": [_, *_] as values}:
            return _says_names(values, answer, question, subject, listed=True)
        case {"type": "list", "values": [_, *_] as values}:
            return _says_names(values, answer, question, subject, listed=True, ordered=True)
        case {"type": "winner", "sides": [_, _, *_] as sides, "best": int(), "figures": [_, _, *_]}:
            reading = Reading(answer, question)
            rivals = set(subject.rivals).difference(*sides, subject.names)
            return says_winner(wanted, reading) and not _claims(reading, rivals) and not _doubted(reading)
        case {"type": "among", "values": [_, *_] as values}:
            texts = tuple(value for value in values if isinstance(value, str))
            one_of = replace(subject, rivals=(*subject.rivals, *texts))
            return any(says(evaluator(value), answer, question, one_of) for value in values)
        case {"type": "impossible", "why": [_, *_] as why}:
            return says_impossible(why, answer, question, wanted.get("denies", False))
    raise TaskError(f"an answer cannot be checked against {wanted!r}")


def _told(answer: str, question: str) -> str:
    """What an answer tells: without the question, if it repeats that, without courtesies and asides."""
    asked = question.strip().rstrip(".?!")
    if len(asked.split()) > 2:
        answer = re.sub(rf"{re.escape(asked)}[.?!]*", " … ", answer, flags=re.IGNORECASE)
    return _ASIDE.sub(" ", _CLOSING.sub("", answer)).strip()


def _says_names(
    values: Sequence[str],
    answer: str,
    question: str,
    subject: Subject,
    listed: bool = False,
    ordered: bool = False,
) -> bool:
    """Whether all words or names of an answer that are claims are these values."""
    reading = Reading(_unnumbered(answer) if listed else PAGES.sub(" ", answer), question, subject.names)
    told = (*(name for name in subject.names if name not in values), *subject.told)
    wanted = {texts_of(value): value for value in values}
    claimed: list[str] = []
    for mention in reading.find((*values, *told, *subject.rivals)):
        known = wanted.get(texts_of(mention.phrase))
        if known is None and mention.phrase in told:
            continue
        if listed or not reading.repeats(mention.start, mention.end):
            claimed.append(known or "")
    counts = range(1, len(values) + 1) if listed else ()
    numbers = [word.number for word in map(reading.words.__getitem__, reading.left()) if not word.spelled]
    stray = any(number is not None and number not in counts for number in numbers)
    said = list(dict.fromkeys(claimed))
    if _about_another(reading, subject):
        return False
    right = said == list(values) if ordered else sorted(said) == sorted(set(values))
    return right and not stray and not _doubted(reading) and not _invented(reading)


def _says_number(value: Decimal, wanted: dict[str, Any], answer: str, question: str, subject: Subject) -> bool:
    unit = wanted.get("unit", "")
    reading = Reading(PAGES.sub(" ", answer), question, subject.names)
    if _claims(reading, subject.rivals, (*subject.names, *subject.told)) or _doubted(reading, value == 0):
        return False
    if _about_another(reading, subject):
        return False
    figures = list(figures_of(reading, unit))
    parts = {Decimal(part) for part in wanted.get("parts", ())} - {value}
    said = {each.value for each in reckoned(reading, figures, value)} - parts
    if not said and value in (0, 1):
        return bool(set(reading.texts) & ({"none", "no", "zero"} if value == 0 else {"one"}))
    return said == {value}


def _says_date(wanted: Date, answer: str, question: str, subject: Subject, year_known: bool) -> bool:
    """Whether an answer says this date, no other, and nothing else; without the year if the question has it."""
    reading = Reading(PAGES.sub(" ", answer), question, subject.names)
    if _claims(reading, subject.rivals, (*subject.names, *subject.told)) or _doubted(reading):
        return False
    if _about_another(reading, subject):
        return False
    year_known = year_known or str(wanted.year) in reading.asked or f"{wanted.year}-" in " ".join(reading.asked)
    dates = []
    for at in reading.left():
        word = reading.words[at]
        if word.text.startswith("@"):
            dates.append(word.text)
        elif word.text in _DAY and _DAY[word.text] != wanted.weekday():
            return False
        elif (word.number is not None and not word.spelled) or ":" in word.text:
            if word.text != str(wanted.year):
                return False
            year_known = True
    forms = {f"@{wanted.isoformat()}", *([f"@--{wanted:%m-%d}"] if year_known else [])}
    return bool(dates) and set(dates) <= forms


def _claims(
    reading: Reading, rivals: Iterator[str] | Sequence[str] | set[str], known: Sequence[str] = ()
) -> list[Mention]:
    """Where an answer names a rival, and does not only repeat the question; known phrases are explained."""
    forgiven = set(known)
    found = reading.find((*known, *rivals))
    return [each for each in found if each.phrase not in forgiven and not reading.repeats(each.start, each.end)]


def _about_another(reading: Reading, subject: Subject) -> bool:
    """Whether an answer tells what it tells as another value of the thing: `The width is …`."""
    for each in reading.find((*subject.asked, *subject.labels)):
        after = reading.texts[each.end] if each.end < len(reading.texts) else ""
        told = after in ("of", "is", "was", "=") or (bool(after) and ":" in reading.words[each.end].gap)
        if each.phrase not in subject.asked and told and not reading.repeats(each.start, each.end):
            return True
    return False


def _doubted(reading: Reading, nothing: bool = False) -> bool:
    """Whether an answer takes back what it says, or is too long; `nothing`: that there is none is no doubt."""
    allowed = {"no", "none"} if nothing else set()
    left = reading.left()
    others = [at for at in left if reading.texts[at] not in reading.asked]
    for at in left:
        text = reading.texts[at]
        label = text.startswith("estimate") and text in reading.asked
        if text in DOUBTS and text not in allowed and not label and not _harmless(reading, at):
            return True
    return len(others) > _MOST_WORDS


def _harmless(reading: Reading, at: int) -> bool:
    """`No other …`, `I could see …`: words of doubt that take nothing back."""
    text, after = reading.texts[at], reading.texts[at + 1] if at + 1 < len(reading.texts) else ""
    if text.startswith("appear"):
        return after != "to"
    return after in {
        "no": ("other", "others", "more", "less", "further", "additional", "doubt"),
        "could": ("find", "see", "read", "confirm", "verify", "check"),
    }.get(text, ())


def _invented(reading: Reading) -> bool:
    """Whether something stands in a list that is neither known nor talk: `Red, Purple`."""
    known = TALK | FILLERS | reading.asked
    for _, part in groupby(range(len(reading.words)), _parts(reading).__getitem__):
        places = [at for at in part if reading.texts[at] not in ("and", "then")]
        if places and all(reading.free[at] and reading.texts[at] not in known for at in places):
            return True
    return False


def _parts(reading: Reading) -> list[int]:
    """For each word the number of the part of the answer that it stands in, split at punctuation and `and`."""
    numbers, number = [], 0
    for word in reading.words:
        number += bool(_BREAK.search(word.gap)) or word.text in ("and", "then")
        numbers.append(number)
    return numbers


def _unnumbered(answer: str) -> str:
    """A list without the numbers of its entries: `1. Red 2. Blue`, or a first column of numbers."""
    answer = re.sub(r"(?m)^\s*\|\s*(?:\d{1,2}|#)\s*\|", "|", answer)
    numbers = re.findall(r"(?:^|[\s(])(\d{1,2})[.)](?=\s)", answer)
    if numbers[:1] == ["1"] and numbers == [str(n) for n in range(1, len(numbers) + 1)]:
        return re.sub(r"(^|[\s(])\d{1,2}[.)](?=\s)", r"\1, ", answer)
    return PAGES.sub(" ", answer)
