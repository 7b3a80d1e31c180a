"""An answer as words and numbers, in one form for the many ways to write the same.

Characters that look alike are told apart, but widths and styles of one character are not (NFKC): `２４` is 24,
a Cyrillic `а` is no `a`. Signs that change what a number says (`≠ > ~ % €`) are words of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from decimal import Decimal


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
