"""Which of two things an answer calls the one that has more.

An answer is read clause by clause. A clause says who has more by a comparison (`A has more than B`, `B is cheaper`), or
by nothing but a name (`so A`); a name with its figure alone says nothing yet (`A: 34, B: 12`). Everything that is said
must be for the same side, and a figure beside a name must be its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from webdojo.sites.answers.reading import FILLERS, Mention, Reading
from webdojo.sites.answers.values import UNITS, word_set

_MORE = word_set(
    "more most higher highest greater greatest larger largest bigger biggest longer longest later latest newer newest "
    "better best above over exceeds exceeding exceed beats beat outnumbers tops wins win winner leads ahead leader "
    "pricier expensive heavier heaviest dearer costlier higher-rated superior maximum winning surpasses"
)
_LESS = word_set(
    "less least fewer fewest lower lowest smaller smallest shorter shortest earlier earliest older oldest cheaper "
    "cheapest below under worse worst behind loses lose lighter lightest loser trails inferior minimum"
)
_EVEN = word_set("equal equally same tie tied draw")
_PAIRS = word_set("and or vs versus against & with to nor")
_CLAUSE = re.compile(r"[,.;!?\n()|]| - ")
_SENTENCE = re.compile(r"[.;!?\n:]| - ")
_SAYS = word_set("is it's be was")
_THEN = word_set("so therefore thus hence while whereas because since meaning making which and")


class _Part(NamedTuple):
    """A clause: its first place and the one after its last, and whether it is a whole sentence."""

    start: int
    end: int
    whole: bool


def says_winner(wanted: dict[str, Any], reading: Reading) -> bool:
    """Whether an answer says that side `best` has more; what is read is explained in the reading."""
    best: int = wanted["best"]
    figures = [Decimal(figure) for figure in wanted["figures"]]
    side_of = {name: side for side, names in enumerate(wanted["sides"]) for name in names}
    mentions = [(each, side_of[each.phrase]) for each in reading.find(side_of)]
    numbers: dict[int, int] = {}
    for at, word in enumerate(reading.words):
        if (
            not reading.free[at]
            or word.number is None
            or (word.spelled and word.number < 4)
            or reading.repeats(at, at + 1)
        ):
            continue
        if word.number not in figures:
            return False
        numbers[at] = figures.index(word.number)
    if not _EVEN.isdisjoint(reading.texts[at] for at in reading.left()):
        return False
    strong: set[int] = set()
    weak: set[int] = set()
    for part in _clauses(reading, mentions):
        inside = [(each, side) for each, side in mentions if part.start <= each.start < part.end]
        figured = [side for at, side in numbers.items() if part.start <= at < part.end]
        sides = {side for _, side in inside}
        if len(sides) == 1 and figured and set(figured) == {1 - sides.copy().pop()}:
            return False  # the figure of the other one
        said = _compared(reading, part, inside)
        if said is not None:
            strong.add(said)
        elif len(sides) == 1 and not figured:
            (strong if part.whole or _stated(reading, inside[0][0].start) else weak).update(sides)
        elif not sides and wanted.get("by_figure") and len(set(figured)) == 1:
            first = next(at for at in numbers if part.start <= at < part.end)
            stated = _stated(reading, first) or _words(reading, part) & _MORE
            (strong if part.whole or stated else weak).update(figured)
    for start, end in _told(reading, wanted.get("unit", ""), numbers):
        reading.explain(start, end)
    said_sides = strong or weak
    if not said_sides and len({side for _, side in mentions}) == 1:
        said_sides = {side for _, side in mentions}
    return said_sides == {best}


def _compared(reading: Reading, part: _Part, inside: list[tuple[Mention, int]]) -> int | None:
    """The side that a clause says has more; None if it compares nothing."""
    if not inside:
        return None
    words = _words(reading, part)
    more, less = bool(words & _MORE), bool(words & _LESS)
    signs = [at for at in range(part.start + 1, part.end) if reading.words[at].gap.strip() in (">", "<")]
    if signs:
        more, less = reading.words[signs[0]].gap.strip() == ">", reading.words[signs[0]].gap.strip() == "<"
    if more == less and "than" not in words:
        return None
    than = next(
        (at for at in range(part.start, part.end) if reading.texts[at] in ("than", "beats", "exceeds", "over")),
        signs[0] if signs else part.end,
    )
    before = [side for each, side in inside if each.start < than and each.start not in signs]
    after = [side for each, side in inside if each.start > than or each.start in signs]
    sides = {side for _, side in inside}
    if before and after and before[-1] != after[0]:
        first = before[-1]
    elif len(sides) == 1 and after and not before:
        first = 1 - after[0]
    elif len(sides) == 1:
        first = inside[0][1]
    else:
        return None
    if more and less:  # of two words the one beside `than` counts
        less = any(reading.texts[at] in _LESS for at in range(max(part.start, than - 3), than))
    return 1 - first if less else first


def _stated(reading: Reading, at: int) -> bool:
    """Whether something is said to be what stands at a place: `it is the A`."""
    before = [text for text in reading.texts[max(at - 2, 0) : at] if text != "the"]
    return bool(before) and before[-1] in _SAYS


def _words(reading: Reading, part: _Part) -> set[str]:
    """The words of a clause that do not only repeat the question's pairs with names."""
    return {reading.texts[at] for at in range(part.start, part.end) if reading.free[at]}


def _clauses(reading: Reading, mentions: list[tuple[Mention, int]]) -> Iterator[_Part]:
    """The clauses of an answer, without pairs of names that only list the two: `of A and B`."""
    pairs = _pairs(reading, mentions)
    mentions[:] = [each for i, each in enumerate(mentions) if i not in pairs]
    starts = [0]
    within = {at for each, _ in mentions for at in range(each.start + 1, each.end)}
    for at in range(1, len(reading.words)):
        word = reading.words[at]
        if at in within:
            continue
        if (
            _CLAUSE.search(word.gap)
            or (word.text in _THEN and reading.free[at])
            or (":" in word.gap and word.number is None and word.text != "$")
        ):
            starts.append(at)
    ends = [*starts[1:], len(reading.words)]
    for start, end in zip(starts, ends, strict=True):
        opens = start == 0 or bool(_SENTENCE.search(reading.words[start].gap))
        closes = end == len(reading.words) or bool(_SENTENCE.search(reading.words[end].gap))
        content = [at for at in range(start, end) if reading.free[at] and reading.texts[at] not in FILLERS]
        yield _Part(start, end, opens and closes and not content)


def _pairs(reading: Reading, mentions: list[tuple[Mention, int]]) -> set[int]:
    """Indices of mentions that stand in a pair: two sides, joined by no more than words of the question."""
    found: set[int] = set()
    for i in range(len(mentions) - 1):
        (one, side), (other, next_side) = mentions[i], mentions[i + 1]
        if side == next_side or i in found:
            continue
        between = range(one.end, other.start)
        joints = [at for at in between if reading.texts[at] in _PAIRS]
        others = [at for at in between if at not in joints and reading.texts[at] not in FILLERS]
        beside = not {"/", ","}.isdisjoint(reading.words[other.start].gap) and not others
        if beside or (joints and all(reading.repeats(at, at + 1) for at in others)):
            found |= {i, i + 1}
    return found


def _told(reading: Reading, unit: str, numbers: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Where the figures stand, with their units."""
    spellings = UNITS.get(unit, frozenset())
    for at in numbers:
        before = at - (at > 0 and reading.texts[at - 1] in spellings)
        after = at + 1 + (at + 1 < len(reading.texts) and reading.texts[at + 1] in spellings)
        yield before, after
