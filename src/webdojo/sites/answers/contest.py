"""Which of some things an answer calls the one that has most.

An answer is read clause by clause. A clause says who has more by a comparison (`A has more than B`, `B is cheaper`), or
by nothing but a name (`so A`); a name with its figure alone says nothing yet (`A: 34, B: 12`). What stands in contrast
(`rather than B`, `vs. B`) and pairs that only list the things (`of A and B`) say nothing. Everything that is said must
be for the same side, and a figure beside a name must be its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

from webdojo.sites.answers.figures import figures_of
from webdojo.sites.answers.reading import FILLERS, Reading, texts_of
from webdojo.sites.answers.values import UNITS, word_set

_MORE = word_set(
    "more most higher highest greater greatest larger largest bigger biggest longer longest later latest newer newest "
    "better best above over exceeds exceeding exceed beats beat outnumbers tops wins win winner winning leads ahead "
    "leader pricier expensive heavier heaviest dearer costlier superior maximum surpasses > top outranks leading"
)
_LESS = word_set(
    "less least fewer fewest lower lowest smaller smallest shorter shortest earlier earliest older oldest cheaper "
    "cheapest below under worse worst behind loses lose lighter lightest loser trails inferior minimum <"
)
_OBJECTS = word_set(
    "than exceeds exceeding beats beat tops surpasses outnumbers outranks over above ahead below under behind trails "
    "> <"
)
"""Words of a comparison that what has less stands after, or with a word of less what has more."""
_MARKS = "?!."
_EVEN = word_set("equal equally same tie tied draw neither")
_PAIRS = word_set("and or vs versus against & with to nor")
_CONTRASTS = (
    ("rather", "than"),
    ("instead", "of"),
    ("not",),
    ("unlike",),
    ("other",),
    ("vs",),
    ("versus",),
    ("against",),
)
_COMPARED = (("compared", "to"), ("compared", "with"), ("relative", "to"), ("opposed", "to"))
_SAYS = word_set("is it's be was")
_THEN = word_set("so therefore thus hence while whereas because since meaning making which and")
_GAP = _MORE | _LESS | word_set("by difference gap margin")
_SO = word_set("so therefore thus hence")
_ORDINALS = word_set("former latter first second other")
_CLAUSE = re.compile(r"[,.;!?\n()|]| - ")
_SENTENCE = re.compile(r"[.;!?\n:]")
_ARROW = re.compile(r"→|⇒|[-=]>")
_TOLD = re.compile(r":|→|⇒|[-=]>")
_BESIDE = (FILLERS - {"and"}) | word_set("$ € £ costs cost at with has = price")


class _Name(NamedTuple):
    """A side where an answer mentions it, by a name or, where that is an answer, by its figure."""

    start: int
    end: int
    side: int


class _Clause(NamedTuple):
    """The first place of a clause and the one after its last, and whether it is a whole sentence."""

    start: int
    end: int
    whole: bool


def says_winner(wanted: dict[str, Any], reading: Reading) -> bool:
    """Whether an answer says that side `best` has most; what is read is explained in the reading."""
    figures = [Decimal(figure) for figure in wanted["figures"]]
    side_of = {name: side for side, names in enumerate(wanted["sides"]) for name in names}
    names = []
    for each in reading.find(side_of):
        names.append(_Name(each.start, each.end, side_of[each.phrase]))
        if each.phrase[-1] in _MARKS and each.end < len(reading.words):  # the mark is the name's, and ends no sentence
            word = reading.words[each.end]
            reading.words[each.end] = word._replace(gap=word.gap.replace(each.phrase[-1], "", 1))
    numbers = _numbers(reading, figures, wanted.get("unit", ""))
    if numbers is None or not _EVEN.isdisjoint(reading.texts[at] for at in reading.left()):
        return False
    clauses = list(_clauses(reading, names))
    if wanted.get("by_figure"):
        named = {at for clause in clauses for each in names if clause.start <= each.start < clause.end
                 for at in range(clause.start, clause.end)}  # fmt: skip
        names += [_Name(at, at + 1, side) for at, side in numbers.items() if at not in named]
        names.sort()
    if not all(_own_figure(reading, each, numbers) for each in names):
        return False
    everything = list(names)
    names = [each for each in names if not _contrasts(reading, each, clauses)]
    mentioned = {each.side for each in names}
    idle = _pairs(reading, names)
    names = [each for i, each in enumerate(names) if i not in idle]
    named_by = {text for name in side_of for text in texts_of(name) if text.endswith("est")}
    strong: set[int] = set()
    weak: set[int] = set()
    for clause in clauses:
        inside = [each for each in names if clause.start <= each.start < clause.end]
        figured = {at: side for at, side in numbers.items() if clause.start <= at < clause.end}
        sides = {each.side for each in inside}
        if not inside and reading.texts[clause.start : clause.start + 1] == ("which",):  # `A has 34, which is more`
            inside = [each for each in everything if each.start < clause.start][-1:]
        said = _compared(reading, clause, inside, len(wanted["sides"]), named_by)
        if said is not None:
            strong.add(said)
        elif len(sides) == 1:
            if (clause.whole and not figured) or _stated(reading, clause, inside[0].start):
                strong |= sides
            elif not figured or inside[0].start in figured:
                weak |= sides
    said_sides = strong or weak or (mentioned if len(mentioned) == 1 else set())
    return said_sides == {wanted["best"]}


def _numbers(reading: Reading, figures: list[Decimal], unit: str) -> dict[int, int] | None:
    """The side whose figure a number is, by its place; None if one is neither a figure nor how much more one has.

    The numbers and their units are explained.
    """
    gaps = {abs(one - other) for one in figures for other in figures if one != other}
    numbers: dict[int, int] = {}
    for each in list(figures_of(reading, unit, bounds=False)):
        word = reading.words[each.start]
        if word.spelled and word.number is not None and word.number < 4:  # `the two`
            continue
        if each.value in figures:
            numbers[each.start] = figures.index(each.value)
        elif each.value not in gaps or _GAP.isdisjoint(reading.texts[max(0, each.start - 3) : each.end + 2]):
            return None
        before = each.start - (each.start > 0 and reading.texts[each.start - 1] in UNITS.get(unit, ()))
        reading.explain(before, each.end)
    return numbers


def _clauses(reading: Reading, names: list[_Name]) -> Iterator[_Clause]:
    starts = [0]
    within = {at for each in names for at in range(each.start + 1, each.end)}
    for at in range(1, len(reading.words)):
        word = reading.words[at]
        told = bool(_TOLD.search(word.gap)) and word.number is None and word.text != "$"  # not `A: 34`, `winner: A`
        told &= reading.texts[at - 1] not in _MORE | _LESS
        if at not in within and (_CLAUSE.search(word.gap) or told or (word.text in _THEN and reading.free[at])):
            starts.append(at)
    for start, end in pairwise([*starts, len(reading.words)]):
        before = reading.words[start].gap if start else "\n"
        after = reading.words[end].gap if end < len(reading.words) else "\n"
        content = [at for at in range(start, end) if reading.free[at] and reading.texts[at] not in FILLERS]
        cell = "|" in before or "|" in after
        whole = not cell and not content and bool(_SENTENCE.search(before)) and bool(_SENTENCE.search(after))
        yield _Clause(start, end, whole)


def _contrasts(reading: Reading, name: _Name, clauses: list[_Clause]) -> bool:
    """Whether a name stands in contrast to another; the words that say so are explained."""
    start = next(clause.start for clause in clauses if clause.start <= name.start < clause.end)
    if start < name.start and reading.texts[start] in ("vs", "versus", "against"):
        return True
    near = range(max(0, name.start - 4), name.start)
    places = [at for at in near if reading.texts[at] not in FILLERS - {"of", "to"}]
    texts = tuple(reading.texts[at] for at in places)
    for words in (*_CONTRASTS, *_COMPARED):
        if texts[-len(words) :] == words:
            reading.explain(places[-len(words)], places[-1] + 1)
            return True
    return False


def _pairs(reading: Reading, names: list[_Name]) -> set[int]:
    """Indices of names that stand in a pair: two sides, joined by no more than words of the question."""
    found: set[int] = set()
    for i, (one, other) in enumerate(pairwise(names)):
        if one.side == other.side or i in found:
            continue
        between = range(one.end, other.start)
        joints = [at for at in between if reading.texts[at] in _PAIRS]
        others = [at for at in between if at not in joints and reading.texts[at] not in FILLERS]
        beside = not {"/", ","}.isdisjoint(reading.words[other.start].gap) and not others
        if beside or (joints and all(reading.repeats(at, at + 1) for at in others)):
            found |= {i, i + 1}
    return found


def _own_figure(reading: Reading, name: _Name, numbers: dict[int, int]) -> bool:
    """Whether a figure right beside a name is its own: `A ($34)`, `34 for A`; it may be one of two: `A (34 vs 12)`."""
    before = next((at for at in (name.start - 2, name.start - 3) if at in numbers), None)
    if before is not None and reading.texts[name.start - 1] == "for" and not _apart(reading, before + 1, name.start):
        return numbers[before] == name.side
    figure = next((at for at in range(name.end, name.end + 4) if at in numbers), None)
    if figure is None or any(at in numbers for at in range(figure + 1, figure + 4)):
        return True
    beside = all(text in _BESIDE | reading.asked for text in reading.texts[name.end : figure])
    return not beside or _apart(reading, name.end, figure + 1) or numbers[figure] == name.side


def _apart(reading: Reading, start: int, end: int) -> bool:
    """Whether the words from a place to another are set apart from one another."""
    return any(mark in reading.words[at].gap for at in range(start, end) for mark in ",;.")


def _compared(reading: Reading, clause: _Clause, inside: list[_Name], sides: int, named_by: set[str]) -> int | None:
    """The side that a clause says has more; None if it compares nothing, such as with words of names alone."""
    if not inside:
        return None
    places = range(clause.start, clause.end)
    free = {at: reading.texts[at] for at in places if reading.free[at]}
    for at in places[1:]:
        if reading.words[at].gap.strip() in (">", "<"):
            free[at - 1] = reading.words[at].gap.strip()
    ranked = any(free.get(at) in ("ranks", "comes", "came", "placed") and free.get(at + 1) == "first" for at in free)
    words = (set(free.values()) - named_by) | ({">"} if ranked else set())
    more, less = not words.isdisjoint(_MORE), not words.isdisjoint(_LESS)
    than = next((at for at in places if reading.texts[at] == "than"), None)
    if more and less and than is not None:  # of two words the one beside `than` counts
        less = any(reading.texts[at] in _LESS for at in range(max(clause.start, than - 3), than))
        more = not less
    if more == less:
        return None
    first, *others = dict.fromkeys(each.side for each in inside)
    before = reading.texts[clause.start : inside[0].start]
    if not others and ("than" in before or not _OBJECTS.isdisjoint(before[-4:])):
        return _other(first, sides) if more else first
    if len(others) > 1:
        return None
    if more:
        return first
    return others[0] if others else _other(first, sides)


def _other(side: int, sides: int) -> int | None:
    return 1 - side if sides == 2 else None


def _stated(reading: Reading, clause: _Clause, at: int) -> bool:
    """Whether something is said to be what stands at a place: `it is the A`, `so A`."""
    texts = reading.texts[clause.start : at]
    if not _ORDINALS.isdisjoint(texts):
        return False
    before = [text for text in texts[-2:] if text != "the"]
    so = _ARROW.search(reading.words[clause.start].gap) or (texts and texts[0] in _SO)
    return bool(so) or bool(before and before[-1] in _SAYS)
