"""Whether an answer says a number or a date."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from datetime import date as Date
from decimal import Decimal
from itertools import pairwise
from typing import Any

from webdojo.sites.answers.doubts import doubted
from webdojo.sites.answers.figures import Figure, figures_of, reckoned
from webdojo.sites.answers.reading import DAYS, FILLERS, PAGES, TALK, Reading, texts_of
from webdojo.sites.answers.subject import Subject, about_another, claims, figure_of, is_figure
from webdojo.sites.answers.sums import explain_pages
from webdojo.sites.answers.values import UNITS, units_of, word_set

_ON_PAGES = re.compile(
    r"\b(?:on|over|across|in) (?:(?:just|only|a|the|all) )?"
    r"(?:single|same|one|\d+|two|three|four|five|six|seven|eight|nine|ten) pages?\b(?! \d)",
    re.IGNORECASE,
)
"""Says on how many pages all is: `20 threads on 2 pages`."""
_PAGE = re.compile(r"\b(?:first|second|third|last|next|other|each|every|this) page\b|\bpages\b")
_WHOLE = re.compile(r"\b(?:all|both)(?: of)?(?: the| its)?(?: \w+)? pages\b")
"""Says that it is about all pages."""
_PART = re.compile(r"[,.;()\n|]")
_THINGS = word_set(
    "results matches hits entries items records rows cards listings options elements findings occurrences times ones"
)
"""What things of any sort may be called where they are counted."""
_NOT_ALL = word_set(
    "loaded rendered fetched missing omitted skipped hidden excluded dropped filtered fit fits other others per"
)
"""Words after a count that make it one of some things only, or of those that do not count."""
_NOT_COUNTED = word_set("by time second more problem")
"""Words that are of talk, too, before which `one` or `no` counts nothing."""
_BEING = word_set("them these those have been were are so only just already got")
"""Words between a count and what is said of it."""
_NOT_ON = word_set("before after by around since until till about from circa than past earlier later not or")
"""Words before a date that make it another one."""
_DATED = word_set("sent posted joined published dated opened added created received written changed updated since due")
"""Words by which a date is told of something else."""


def says_number(value: Decimal, wanted: dict[str, Any], answer: str, question: str, subject: Subject) -> bool:
    unit = wanted.get("unit", "")
    reading = Reading(PAGES.sub(" other page ", _ON_PAGES.sub(" ", answer)), question, subject.names)
    if _names_another(reading, subject):
        return False
    added = not subject.told and explain_pages(reading, unit, value)
    if _taken_back(reading, subject, str(value), ("or", *(("no", "none") if value == 0 else ()))):
        return False
    _explain_own(reading, subject, str(value), unit)
    on_pages = set() if subject.told or added else _on_pages(reading)
    figures = [each for each in figures_of(reading, unit) if each.start not in on_pages]
    figures = list(reckoned(reading, figures, value))
    figures = [each for each in figures if each.value == value or not _echoes(reading, each, subject)]
    if _of_another(reading, figures, subject, unit):
        return False
    parts = {Decimal(part) for part in wanted.get("parts", ())} - {value}
    said = {each.value for each in figures} - parts
    if not said and value in (0, 1):
        words = {"none", "no", "zero"} if value == 0 else {"one", "single"}
        return not figures and any(
            reading.texts[at] in words and not _at_least(reading, at) and _counts_asked(reading, at, subject)
            for at in range(len(reading.texts))
        )
    return said == {value}


def _echoes(reading: Reading, figure: Figure, subject: Subject) -> bool:
    """Whether a figure is one of the question, told with the label of another value: `a maximum price of 200`."""
    start, end, words = figure.start, figure.end, reading.words
    while start and not _PART.search(words[start].gap):
        start -= 1
    while end < len(words) and not _PART.search(words[end].gap):
        end += 1
    said = {word[:4] for word in reading.texts[start:end]}
    return reading.texts[figure.start] in reading.asked and not said.isdisjoint(_labels(subject))


def _at_least(reading: Reading, at: int) -> bool:
    return not {"least", "most", "than", "about", "or"}.isdisjoint(
        reading.texts[max(0, at - 2) : at] + reading.texts[at + 1 : at + 2]
    )


def _counts_asked(reading: Reading, at: int, subject: Subject) -> bool:
    """Whether a word that is a number counts what is asked for, with at most two unknown words between.

    `One moment`, `no problem` and `one thread` of posts count something else.
    """
    own = {word[:4] for label in (*subject.asked, *reading.asked, *_THINGS) for word in texts_of(label)}
    labels = _labels(subject)
    for place in range(at + 1, min(at + 4, len(reading.words))):
        text, first = reading.texts[place], place == at + 1
        if reading.words[place].gap != " ":
            return first
        if text[:4] in labels or (first and text in _NOT_COUNTED):
            return False
        if text[:4] in own or not reading.free[place] or (first and text in TALK | FILLERS):
            return True
    return at + 1 == len(reading.words)


def says_date(wanted: Date, answer: str, question: str, subject: Subject, year_known: bool) -> bool:
    """Whether an answer says this date, no other, and nothing else; without the year if the question has it."""
    reading = Reading(PAGES.sub(" ", answer), question, subject.names)
    if _names_another(reading, subject) or _taken_back(reading, subject, f"{wanted:%d %B %Y}"):
        return False
    _explain_own(reading, subject, f"@{wanted.isoformat()}")
    year_known = year_known or str(wanted.year) in reading.asked or f"{wanted.year}-" in " ".join(reading.asked)
    labels = {text for label in subject.asked for text in texts_of(label)}
    dates: list[str] = []
    for at in reading.left():
        word = reading.words[at]
        if word.text.startswith("@"):
            before, after = reading.texts[at - 1] if at else "", reading.texts[at + 1 : at + 4]
            if before in _NOT_ON - labels or (after[:1] == ("at",) and after[-1] in ("latest", "earliest")):
                return False
            dates.append(word.text)
        elif word.text in DAYS and DAYS[word.text] != wanted.weekday():
            return False
        elif (word.number is not None and not word.spelled and word.text not in reading.asked) or ":" in word.text:
            if word.text != str(wanted.year):
                return False
            year_known = True
    year_known |= f"@{wanted.isoformat()}" in dates
    forms = {f"@{wanted.isoformat()}", *([f"@--{wanted:%m-%d}"] if year_known else [])}
    return bool(dates) and set(dates) <= forms


def _names_another(reading: Reading, subject: Subject) -> bool:
    return bool(claims(reading, subject.rivals, (*subject.names, *subject.told, *subject.filters)))


def _taken_back(reading: Reading, subject: Subject, value: str, allowed: Sequence[str] = ()) -> bool:
    """Whether an answer takes back what it says, or tells it as another value of the thing."""
    return doubted(reading, allowed) or about_another(reading, subject, value)


def _explain_own(reading: Reading, subject: Subject, value: str, unit: str = "") -> None:
    """Explain figures that the thing has for something else, where they are told with a label, a unit, or in brackets.

    One beside the label or the unit that is asked for stays a claim.
    """
    own = {figure for values in subject.values.values() for figure in values} - {value}
    labels = _labels(subject)
    asked = {word[:4] for label in subject.asked for word in texts_of(label) if word not in FILLERS}
    for at in range(len(reading.texts)):
        if not is_figure(reading, at) or figure_of(reading, at) not in own:
            continue
        beside = [reading.texts[n] for n in (at - 1, at + 1) if 0 <= n < len(reading.texts) and _joined(reading, at, n)]
        near = (*reading.texts[max(0, at - 3) : at], *reading.texts[at + 1 : at + 3])
        told = any(word[:4] in labels or word in _DATED for word in near) or any(units_of(word) for word in beside)
        if any(word[:4] in asked or (unit and word in UNITS[unit]) for word in beside):
            continue
        if told or _in_bracket(reading, at):
            reading.explain(at, at + 1)


def _joined(reading: Reading, at: int, other: int) -> bool:
    """Whether nothing but a blank stands between two neighbours."""
    return not reading.words[max(at, other)].gap.strip()


def _labels(subject: Subject) -> set[str]:
    """The beginnings of the words of labels that are not asked for."""
    own = {word[:4] for label in (*subject.asked, "number count day date") for word in texts_of(label)}
    return {word[:4] for label in subject.labels for word in texts_of(label) if word not in FILLERS} - own


def _on_pages(reading: Reading) -> set[int]:
    """The places of clauses that say what is on a page: `8 on the first page and 7 on the second`."""
    breaks = re.compile(r"[,.;:()\n|→]")
    starts = [at for at, word in enumerate(reading.words) if at == 0 or breaks.search(word.gap) or word.text == "="]
    found: set[int] = set()
    for start, end in pairwise([*starts, len(reading.words)]):
        goes_on = start - 1 in found and ("(" in reading.words[start].gap or _in_bracket(reading, start))
        told = " ".join(reading.texts[start:end])
        if goes_on or (_PAGE.search(told) and not _WHOLE.search(told)):
            found.update(range(start, end))
    return found


def _in_bracket(reading: Reading, at: int) -> bool:
    before = "".join(word.gap for word in reading.words[: at + 1])
    return before.count("(") > before.count(")")


def _of_another(reading: Reading, figures: Iterable[Figure], subject: Subject, unit: str) -> bool:
    """Whether a figure is said to be of something else: `41 replies` of threads that are counted."""
    own = {word[:4] for label in subject.asked for word in texts_of(label)}
    labels = _labels(subject)
    for each in figures:
        if each.end < len(reading.words) and reading.words[each.end].gap == " ":
            word = reading.texts[each.end]
            if word[:4] in labels or (units_of(word) and not unit and word[:4] not in own):
                return True
            if subject.asked and not subject.told and _counts_others(reading, each.end, own):
                return True
    return False


def _counts_others(reading: Reading, at: int, own: Container[str]) -> bool:
    """Whether the words after a count say that it is of other things, or not of all: `7 reviews`, `7 were loaded`."""
    known = TALK | FILLERS | reading.asked | _THINGS
    for place in range(at, len(reading.words)):
        word = reading.words[place]
        if _PART.search(word.gap) or not reading.free[place]:
            return False
        if word.text in _NOT_ALL and word.text not in reading.asked:
            return True
        if word.text[:4] in own:
            continue
        if place == at and re.fullmatch(r"[a-z]{2,}[^s\W]s", word.text) and word.text not in known:
            return not any(text[:4] in own for text in reading.texts[at + 1 : at + 2])
        if word.text not in FILLERS | _BEING:
            return False
    return False
