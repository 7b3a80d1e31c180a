"""An answer as words: small letters, numbers as digits, dates as one word each, and what stands between them.

Answers are read in one form for the many ways to write the same. Characters that look alike are told apart, but widths
and styles of one character are not (NFKC): `２４` is 24, a Cyrillic `а` is no `a`. Signs that change what a number says
(`≠ > ~ % €`) are words of their own. A word that has digits and letters in it is no number, unless the letters are a
unit: `12km` is, `24k` and `x24` are not.

A date is the word `@2027-03-05`, or `@--03-05` without a year, in whichever common form it was written. `3/5/2027` is
the word `@?`, because two countries read it differently.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import date as Date
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from webdojo.sites.answers.date_formats import in_told_order
from webdojo.sites.answers.values import units_of, word_set

FILLERS = word_set("a an the is are it its it's of in at for to and has")
"""Words that say nothing by themselves."""

TALK = word_set(
    "about above absolutely according after afternoon again all also although answer answering answers any appear "
    "appears article articles as asked bar based be because been before being below both bottom box browse browsed "
    "browsing by called came can carefully clearly correct correctly definitely categories category certainly check "
    "checked checking cheers clicked come comes confirm confirmed confirms could course currently data day detail "
    "details did different do does done dr each end entered entire entry evening every exactly exist exists field "
    "filter filtered filters final finally find finished first following found from full given gives good got had have "
    "he hello helps hence her here here's hey hi him his home homepage hope i i'm ie indeed obviously i've info "
    "information into item items its just keyword keywords kind last left link list listed lists look looked looking "
    "luck me more morning my n name named names navigation next nice no note now null ok okay on one ones only open "
    "opened our page pages part parts per phrase please product products query question read reason ref reference "
    "regarding regards reply request requested response result results right sadly said saw say says scroll scrolled "
    "search searched searching second section sections see seen several she shop short show shown shows simply since "
    "site so sorry sort sorted source sources spelled spelling stated states status still stock store such sum "
    "summarize summary sure table task tel term thank thanks that that's their them then there there's therefore these "
    "they thing things third this those three through thus tl today top total tried try twice two typed under "
    "unfortunately up url us used using value very was we website welcome well were what when where which who whole "
    "wiki will with would yes you your"
)
"""Words by which an answer is told, and which are no value of anything."""

PAGES = re.compile(
    r"\bpages \d+(?: (?:to|and|-) \d+)?\b|\bpage(?: |: |: #| #)\d+(?: of \d+)?\b(?! ?[×x*+=])"
    r"|\b(?:page )?\d+(?: of \d+)? pages?\b",
    re.IGNORECASE,
)
"""Counts of pages, which are no value of anything."""

_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAYS = {short: n for n, name in enumerate(_WEEK) for short in (name, name[:3])} | {"tues": 1, "thur": 3, "thurs": 3}
"""Days of the week, Monday 0."""
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = {short: n for n, name in enumerate(_MONTHS, 1) for short in (name, name[:3])} | {"sept": 9}
_MONTH_NAME = "|".join(sorted(_MONTH, key=len, reverse=True))
_END = r"(?![\d/.-]\d|\d)"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?\b"
_YEAR = r"(?:(?:\s*,\s*|[\s/-]+)(?:of\s+|in\s+)?(\d{4})(?!\d))?"
_AMBIGUOUS = " @? "
_PART = rf"\b(day|month|year|dd|mm|yyyy)\b(?:\W+(?:is|the|of|it)\b)*\W+({_MONTH_NAME}|\d{{1,4}})(?:st|nd|rd|th)?\b"
_IN_PARTS = re.compile(rf"{_PART}(?:\W+(?:(?:and|in|of|the|its)\W+)*{_PART}){{1,2}}")
"""A date with a label for each of its parts."""


def _date(year: str | None, month: str, day: str) -> str:
    """A date as a word; a word that is none if there is no such day."""
    try:
        found = Date(int(year or 2028), int(month), int(day))
    except ValueError:
        return _AMBIGUOUS
    return f" @{found.isoformat()} " if year else f" @--{found:%m-%d} "


def _either(year: str, first: str, second: str) -> str:
    """A date with slashes, if only one of the two ways to read it gives a day."""
    found = {_date(year, second, first), _date(year, first, second)} - {_AMBIGUOUS}
    return found.pop() if len(found) == 1 else _AMBIGUOUS


def _of_parts(match: re.Match[str]) -> str:
    """A date in parts as a word; the parts as they stand if a day or a month is missing."""
    parts = {label[0]: part for label, part in re.findall(_PART, match[0])}
    if not {"d", "m"} <= parts.keys():
        return match[0]
    return _date(parts.get("y"), str(_MONTH.get(parts["m"], parts["m"])), parts["d"])


_DATES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(rf"(?<![\d/.-])(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_END}"),
        lambda m: _date(m[1], m[3], m[4]),
    ),
    (
        re.compile(rf"(?<![\d/.-])(\d{{1,2}})\.\s?(\d{{1,2}})\.\s?(\d{{4}}){_END}"),
        lambda m: _date(m[3], m[2], m[1]),
    ),
    (
        re.compile(rf"(?<![\d/.-])(\d{{1,2}})([-/])(\d{{1,2}})\2(\d{{4}}){_END}"),
        lambda m: _either(m[4], m[1], m[3]),
    ),
    (
        re.compile(rf"(?<![\w.])(\d{{4}})[\s,/-]+({_MONTH_NAME})\b\.?[\s/-]*{_DAY}(?!\d)"),
        lambda m: _date(m[1], str(_MONTH[m[2]]), m[3]),
    ),
    (
        re.compile(rf"(?<![\w.]){_DAY}\.?(?:\s+day)?(?:\s+of)?[\s/-]*\b({_MONTH_NAME})\b\.?{_YEAR}"),
        lambda m: _date(m[3], str(_MONTH[m[2]]), m[1]),
    ),
    (
        re.compile(rf"\b({_MONTH_NAME})\b\.?[\s/-]*(?:the\s+)?{_DAY}{_YEAR}"),
        lambda m: _date(m[3], str(_MONTH[m[1]]), m[2]),
    ),
)

_PLAIN = str.maketrans(
    {"−": "-", "–": "-", "‐": "-", "‑": "-", "’": "'", "ʼ": "'", "“": '"', "”": '"', "*": " ", "_": " ", "`": " "}
)
_PERCENT = re.compile(r"(?<=\d)(?: out of | ?/ ?)100\b|\bper ?cent\b")
_SIGN_BEFORE_CURRENCY = re.compile(r"([-+])([$€£¥])(?=[\d.])")
HOST = re.compile(r"(?:https?://)?[a-z]+-\d+\.localhost(?::\d+)?(?:[^\s,;)]*[^\s,;).:!?])?|\b[a-z]+-\d{5,}\b")
_BULLET = re.compile(r"^[ \t]*(?:[-•]|\d{1,3}[.)])[ \t]+(?=\S)", re.MULTILINE)
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_SIGNS = "%$€£¥°≠≤≥~≈±¬+×=²³"
_BOUND = r"(?<![\w=-])[<>]=?(?=\s?[-+$€£]?[\d.])"  # neither a tag nor an arrow
_PIECE = re.compile(
    rf"@(?:\d{{4}}|-)-\d\d-\d\d|@\?"  # a date
    r"|\d+(?:[:/-]\d+)+\b"  # a time, a range, a fraction, a phone number
    rf"|(?:(?<![\w)\]%])-)?(?:{_NUMBER}|(?<![\w.])\.\d+)(?:[^\W\d_]+\w*)?"
    r"|[^\W\d_]+[$€£¥]?\d(?:\w|[.,](?=\w))*"  # letters and digits: x24, x$24
    r"|[^\W\d_]+(?:'[^\W\d_]+)?"
    rf"|{_BOUND}|[{_SIGNS}]"
)
_MIDNIGHT = re.compile(r"(?<=\d\d-\d\d)t00:00(?::00(?:\.0+)?)?z?\b")
"""The time of a date as computers write it."""
_NOON = re.compile(r"\b(?:12 )?noon\b|\b12 midday\b")
_TIME = re.compile(
    r"(?<![\d:])(\d{1,2})(?:[:.](\d\d))?\s*(a\.?m\.?|p\.?m\.?|o'clock)(?!\w)|(?<![\d:])0(\d:\d\d)(?![\d:])"
)
_SPACED = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))|(?:(?<=\b\d)|(?<=\b\d\d)|(?<=\b\d\d\d)) (?=\d{3}\b)")
_POSSESSIVE = re.compile(r"(?<!\bit)(?<!\bthat)(?<!\bthere)(?<!\bhere)(?<!\bwhat)'s\b|(?<=s)'(?=\s)")
_SPLIT = re.compile(r"(-?[\d.,]*\d)([^\W\d_]+)")
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_MONTH_OF_YEAR = re.compile(rf"(?<!\d )(?<!\d\. )\b({_MONTH_NAME})\b\.? (?:of )?(?=\d{{4}}\b)")
_ORDINALS = {
    word: day
    for day, word in enumerate(
        (
            "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
            "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
            "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth",
            "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
        ),
        1,
    )
}  # fmt: skip
_ORDINAL_NAME = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_ORDINAL = re.compile(
    rf"(?<=\bthe )(?:{_ORDINAL_NAME})\b(?=\s+(?:{_MONTH_NAME})\b|\s*,?\s*\d{{4}})"
    rf"|\b(?:{_ORDINAL_NAME})\b(?=\s+of\s+(?:{_MONTH_NAME})\b|\s+(?:{_MONTH_NAME})\b\.?\s*,?\s*\d{{4}})"
)
"""A day in words; before a month it needs an article, an `of` or a year, because `First April Chapter` has no date."""
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}


class Word(NamedTuple):
    """A word of a text."""

    text: str
    gap: str
    """What stands between it and the word before it: blanks and punctuation."""
    spelled: bool = False
    """It is a number that was written in letters."""

    @property
    def number(self) -> Decimal | None:
        """The number that it is; None if it is another word."""
        return Decimal(self.text) if re.fullmatch(r"-?\d*\.?\d+", self.text, re.ASCII) else None


def plain(said: str) -> str:
    """A text in small letters, with one kind of minus, apostrophe, quotation mark, digit and space."""
    text = (
        unicodedata.normalize("NFKC", said.replace("²", " squared ").replace("³", " cubed "))
        .translate(_PLAIN)
        .casefold()
    )
    text = re.sub(r"\.{3,}", " ", text)
    text = _PERCENT.sub(" %", _SIGN_BEFORE_CURRENCY.sub(r"\2\1", text))
    return text.replace("vs.", "vs").replace("us$", "$").replace("=>", "→")


def words_of(said: str) -> list[Word]:
    """The words of a text, in order."""
    text = _POSSESSIVE.sub("", HOST.sub(" ", plain(_SPACED.sub("", said))))
    text = _MIDNIGHT.sub("", text)
    text = _TIME.sub(_time, _NOON.sub("12:00", text))
    bullets = _BULLET.findall(text)
    if len(bullets) > 1:
        text = _BULLET.sub("", text)
    text = _IN_PARTS.sub(_of_parts, text)
    text = _MONTH_OF_YEAR.sub(lambda match: f"{_MONTHS[_MONTH[match[1]] - 1]} ", text)
    text = _ORDINAL.sub(lambda match: f"{_ORDINALS[match[0]]}th", text)
    text = in_told_order(text)
    for pattern, written in _DATES:
        text = pattern.sub(written, text)
    pieces, end = [], 0
    for piece in _PIECE.finditer(text):
        gap, end = text[end : piece.start()], piece.end()
        pieces += [Word(part, gap if i == 0 else "") for i, part in enumerate(_parts(piece[0]))]
    return _counted(pieces)


def _time(match: re.Match[str]) -> str:
    """A time of day as `7:30`."""
    if match[4]:
        return match[4]
    hour = int(match[1]) % 12 + 12 if match[3][0] == "p" else int(match[1])
    return f"{hour}:{match[2] or '00'}"


@lru_cache(maxsize=1 << 16)
def texts_of(said: str) -> tuple[str, ...]:
    """The words of a text, without what stands between them."""
    return tuple(word.text for word in words_of(said))


@lru_cache(maxsize=1 << 10)
def _asked(question: str) -> frozenset[str]:
    return frozenset(word.text for word in words_of(question) if not word.spelled) - FILLERS


def within(phrase: Sequence[str], said: Sequence[str]) -> bool:
    """Whether the words of a phrase stand in a text, one after the other."""
    return f" {' '.join(phrase)} " in f" {' '.join(said)} "


def _parts(piece: str) -> list[str]:
    """A number and its unit if a piece is both; numbers without thousands separators."""
    glued = _SPLIT.fullmatch(piece)
    if glued and units_of(glued[2]):
        return [glued[1].replace(",", ""), glued[2]]
    return [piece.replace(",", "") if piece[-1].isdecimal() and ":" not in piece else piece]


def _counted(words: Sequence[Word]) -> list[Word]:
    """The words, with numbers in letters as digits: `one hundred and five`. A lone `one` stays as it is."""
    out: list[Word] = []
    at = 0
    while at < len(words):
        value, end = _spelled(words, at)
        alone = end == at + 1 and words[at].text == "one"  # mostly the word, and a number only of a unit
        if end > at and not (alone and not (end < len(words) and words[end].gap == " " and units_of(words[end].text))):
            out.append(Word(str(value), words[at].gap, spelled=not words[at].text[-1].isdecimal()))
        else:
            end = at + 1
            out.append(words[at])
        at = end
    return out


def _spelled(words: Sequence[Word], at: int) -> tuple[Decimal, int]:
    """The number that words spell from a place on, and the place after it: the same place if they spell none."""
    total, group, end = Decimal(0), Decimal(-1), at
    while end < len(words):
        text = words[end].text
        if text in _SMALL and (group < 0 or (group % 10 == 0 and _SMALL[text] < 10 and group % 100 != 10)):
            group = max(group, Decimal(0)) + _SMALL[text]
        elif text in _SMALL and group >= 100 and group % 100 == 0:
            group += _SMALL[text]
        elif end == at and text == "a" and end + 1 < len(words) and words[end + 1].text in _SCALES:
            group = Decimal(1)
        elif end == at and end + 1 < len(words) and words[end].number is not None and words[end + 1].text in _SCALES:
            group = words[end].number or Decimal(0)
        elif text in _SCALES and group > 0:
            group *= _SCALES[text]
            if _SCALES[text] > 100:
                total, group = total + group, Decimal(-1)
        elif text in _SMALL and end == at + 1 and 10 <= group < 30 and _SMALL[text] >= 10:  # a year: twenty twenty-five
            total, group = 100 * group, Decimal(_SMALL[text])
        elif not (text == "and" and max(group, Decimal(0)) % 100 == 0 and end > at and _starts(words, end + 1)):
            break
        end += 1
    return total + max(group, Decimal(0)), end


def _starts(words: Sequence[Word], at: int) -> bool:
    return at < len(words) and words[at].text in _SMALL and words[at - 2].text in _SCALES


_CELL = re.compile(r"[;|\n]")
"""Ends a phrase."""


class Mention(NamedTuple):
    """A phrase where it stands in an answer."""

    start: int
    end: int
    phrase: str
    """As it was given to `find`."""


class Reading:
    """An answer to a question, of which more and more words are explained."""

    def __init__(self, answer: str, question: str, names: Iterable[str] = ()) -> None:
        """Read an answer; `names` in the question are no words that an answer could repeat."""
        self.words = words_of(answer)
        self.texts = tuple(word.text for word in self.words)
        self.free = [True] * len(self.words)
        """Which words are not explained yet."""
        self.asked = _asked(question)
        """The words of the question, without numbers in letters: `whichever of these two` tells of no 2 days."""
        asked = f" {' '.join(texts_of(question))} "
        for name in sorted(names, key=len, reverse=True):
            asked = asked.replace(f" {' '.join(texts_of(name))} ", " | ")
        self._pairs = set(pairwise(text for text in asked.split() if text not in FILLERS))
        self._before = self._neighbours(self.texts)
        self._after = self._neighbours(self.texts[::-1])[::-1]

    def find(self, phrases: Iterable[str]) -> list[Mention]:
        """Where phrases stand, the longest of those that begin at a word, from left to right; they are explained."""
        by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase in dict.fromkeys(phrases):
            if parts := texts_of(phrase):
                by_first.setdefault(parts[0], []).append((parts, phrase))
                if parts[0] in ("the", "a", "an") and len(parts) > 2:  # which people leave out
                    by_first.setdefault(parts[1], []).append((parts[1:], phrase))
        for those in by_first.values():
            those.sort(key=lambda each: -len(each[0]))
        at, found = 0, []
        while at < len(self.texts):
            for parts, phrase in by_first.get(self.texts[at], ()):
                end = self._end(at, parts)
                if end is not None and all(self.free[at:end]):
                    found.append(Mention(at, end, phrase))
                    self.explain(at, end)
                    at = end - 1
                    break
            at += 1
        return found

    def _end(self, at: int, parts: Sequence[str]) -> int | None:
        """Where words end that stand from a place on, one of them perhaps after an `in`: `Park Inn in Ham`."""
        end, added = at, False
        for text in parts:
            if end > at and not added and text != "in" and self.texts[end : end + 2] == ("in", text):
                end, added = end + 1, True
            if self.texts[end : end + 1] != (text,) or (end > at and _CELL.search(self.words[end].gap)):
                return None
            end += 1
        return end

    def explain(self, start: int, end: int) -> None:
        """Take some words as explained."""
        self.free[start:end] = [False] * (end - start)

    def repeats(self, start: int, end: int) -> bool:
        """Whether words repeat the question: the word before or after them stands beside them there, too."""
        before, after = (self._before[start], self.texts[start]), (self.texts[end - 1], self._after[end - 1])
        return before in self._pairs or after in self._pairs

    def unexplained(self, start: int = 0, end: int | None = None) -> list[str]:
        """The words from a place to another, with `-` for those that are explained."""
        places = range(start, len(self.texts) if end is None else end)
        return [self.texts[at] if self.free[at] else "-" for at in places]

    def left(self) -> list[int]:
        """The places of words that are neither explained, nor fillers, nor repeat the question."""
        return [
            at
            for at, text in enumerate(self.texts)
            if self.free[at] and text not in FILLERS and not self.repeats(at, at + 1)
        ]

    @staticmethod
    def _neighbours(texts: Sequence[str]) -> list[str]:
        """For each word the last one before it that is no filler."""
        out, last = [], ""
        for text in texts:
            out.append(last)
            last = last if text in FILLERS else text
        return out
