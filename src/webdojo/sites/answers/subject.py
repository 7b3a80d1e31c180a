"""What a question is about: what an answer may say besides the value, and what contradicts it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from webdojo.sites.answers.reading import FILLERS, Mention, Reading, texts_of

_SIGNS = ("$", "€", "£")
_SENTENCE = re.compile(r"[.;!?\n|]")
_LABEL = re.compile(r"[,.;!?()\n|/{]|^ ?- ?$")
"""Stands before a label that is no part of a sentence."""


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
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The numbers, dates and years that things have, as `words_of` writes them, by their names."""
    filters: tuple[str, ...] = ()
    """What lists tell of the things that are counted or named: the filters that these pass, with their labels."""
    rivals: tuple[str, ...] = ()
    """Names of other things and other values of what is asked for; those that are `names`, too, are none."""


NOTHING = Subject()


def claims(reading: Reading, rivals: Iterable[str], known: Sequence[str] = ()) -> list[Mention]:
    """Where an answer names a rival, and does not only repeat the question; known phrases are explained."""
    forgiven = set(known)
    found = reading.find((*known, *rivals))
    return [each for each in found if each.phrase not in forgiven and not reading.repeats(each.start, each.end)]


def about_another(reading: Reading, subject: Subject, value: str) -> bool:
    """Whether an answer tells the value as another one of the thing, or another one as what is asked for.

    Examples are `The width is …`, `… is the width`, and of two values that stand behind each other's labels
    `Length: 30; width: …`. What repeats the question is no label, unless it stands alone before a colon.
    """
    values = {text.lstrip("0") or text for text in texts_of(value)}
    texts = reading.texts
    for each in reading.find((*subject.asked, *subject.labels)):
        at, said = each.end, texts[max(0, each.start - 5) : each.start]
        gap = reading.words[at].gap if at < len(texts) else ""
        if each.phrase in subject.asked:
            if _holds_another(reading, at, values, subject):
                return True
            continue
        told_of = texts[at : at + 1] == ("of",)  # which no question says of a value that it gives
        alone = ":" in gap and (each.start == 0 or bool(_LABEL.search(reading.words[each.start].gap)))
        if reading.repeats(each.start, each.end) and not told_of and not alone:
            continue
        called = said[-1:] in (("the",), ("its",), ("a",)) and said[-2:-1] in (("is",), ("was",))
        if called and not values.isdisjoint(said[-5:-2]):
            return True
        if at == len(texts) or not subject.told:
            continue
        first = texts[at : at + 2] if texts[at] in _SIGNS else texts[at : at + 1]
        told = texts[at] in ("of", "is", "was", "=") or ":" in gap or (first[-1] in values and "\n" not in gap)
        if told and _follows(reading, at, values, subject):
            return True
    return False


def _holds_another(reading: Reading, at: int, values: set[str], subject: Subject) -> bool:
    """Whether the label of what is asked for has, from a place on, another value of the thing right behind it."""
    texts, words = reading.texts, reading.words
    labelled = at < len(texts) and (":" in words[at].gap or words[at].gap == " ")
    at += labelled and texts[at] in ("is", "was", "=")
    at += at + 1 < len(texts) and texts[at] in _SIGNS
    if not labelled or not subject.told or at >= len(texts) or texts[at] in values or "(" in words[at].gap:
        return False
    others = {figure for own in subject.values.values() for figure in own}
    if is_figure(reading, at):
        return figure_of(reading, at) in others and not reading.repeats(at, at + 1)
    return any(texts[at : at + len(told)] == told for told in map(texts_of, subject.told) if told)


def _follows(reading: Reading, at: int, values: set[str], subject: Subject) -> bool:
    """Whether one of some values is the first that follows in a sentence, with nothing but the thing's name between."""
    inside = {
        place
        for name in map(texts_of, subject.names)
        for start in range(len(reading.texts))
        if reading.texts[start : start + len(name)] == name
        for place in range(start, start + len(name))
    }
    asked = {text for label in subject.asked for text in texts_of(label)} - FILLERS
    for place in range(at, len(reading.words)):
        text = reading.texts[place]
        if place in inside:
            continue
        if text in values:
            return True
        ends = _SENTENCE.search(reading.words[place].gap) and place - 1 not in inside and place > at
        if ends or not reading.free[place] or is_figure(reading, place) or text in asked:
            return False
    return False


def is_figure(reading: Reading, at: int) -> bool:
    word = reading.words[at]
    return (word.number is not None and not word.spelled) or word.text.startswith("@")


def figure_of(reading: Reading, at: int) -> str:
    """A number without zeros after the point, or a date."""
    number = reading.words[at].number
    return reading.texts[at] if number is None else f"{number.normalize():f}"
