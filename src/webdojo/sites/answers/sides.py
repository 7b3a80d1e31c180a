"""Where an answer names the things that it compares, clause by clause, and whose figures it gives."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from webdojo.sites.answers.comparatives import LESS, MORE, OBJECTS
from webdojo.sites.answers.doubts import DOUBTS
from webdojo.sites.answers.figures import Figure, figures_of
from webdojo.sites.answers.reading import FILLERS, TALK, Mention, Reading, texts_of
from webdojo.sites.answers.values import UNITS, word_set

_PAIRS = word_set("and or vs versus against & with to nor")
_CONTRASTS = (
    ("rather", "than"), ("instead", "of"), ("not",), ("unlike",), ("other",), ("other", "one"), ("vs",), ("versus",),
    ("against",),
    ("compared", "to"), ("compared", "with"), ("comparison", "to"),
    ("comparison", "with"), ("relative", "to"), ("opposed", "to"), ("followed", "by"), ("then",),
)  # fmt: skip
_RULED_OUT = re.compile(
    r"^(?:\w+ ){0,2}(?:(?:is|was|ca|could|does|has)n'?t|(?:is|was) not|cannot|can not|can be ruled out|is out)\b"
    r"(?! far)"
)
"""What follows the name of one that is said not to be the one."""
_RANK = r"(?:second|third|fourth|fifth|2nd|3rd|4th|5th|last|next|runner up|runners up)"
_SECOND = re.compile(
    r"^(?:is|was|has|had|comes|came|ranks|ranked|takes|took|finishes|finished|in)? ?(?:in )?(?:only )?(?:the |a )?"
    rf"{_RANK}\b(?! (?:one|option)\b)"
)
"""What follows the name of one that has not most."""
_RANKED = re.compile(rf"(?:^| ){_RANK}(?: place)?(?: is| was)? ?$")
"""What stands before it."""
SO = word_set("so therefore thus hence")
_THEN = SO | word_set("but while whereas because since meaning making which and")
_GAP = MORE | LESS | word_set("by after before difference gap margin = ahead behind short lead")
_LABELS = MORE | LESS | word_set("first second third fourth 1st 2nd 3rd last up place")
"""Words before a colon that say of the name after it where it stands: `first: A`, `runner-up: B`."""
_ORDINALS = {"former": 0, "first": 0, "latter": 1, "second": 1}
_LABEL = 5
"""Words from which it is no label any more that stands between a name and its figure."""
_LEADING = 7
"""Words that a sentence may have before a `that`, so that they only lead to what it tells."""
_OPENED = word_set("opened clicked took chose")
_CLAUSE = re.compile(r"[,.;!?\n()|←]| - |<-")
_SENTENCE = re.compile(r"[.;!?\n:]")
_ENDS = re.compile(r"[,.;!?\n|]")
ARROW = re.compile(r"→|⇒|[-=]>")
_TOLD = re.compile(rf":|{ARROW.pattern}")
_NOT_BESIDE = MORE | LESS | OBJECTS | word_set("by to of for against versus vs and or rather unlike not but")


class Name(NamedTuple):
    """A side where an answer mentions it, by a name or, where that is an answer, by its figure."""

    start: int
    end: int
    side: int
    part: bool = False
    """It is only some words of a name: `the bookshelf one`."""


class Clause(NamedTuple):
    """The first place of a clause and the one after its last, and whether it is a whole sentence."""

    start: int
    end: int
    whole: bool


def said_in(reading: Reading, clause: Clause) -> tuple[str, ...]:
    return reading.texts[clause.start : clause.end]


def sides_named(reading: Reading, sides: list[list[str]], rivals: Collection[str]) -> tuple[list[Name], list[Mention]]:
    """The sides that an answer mentions by their names, or of two by their order, and the rivals; all are explained."""
    side_of = {name: side for side, names in enumerate(sides) for name in names}
    found = reading.find((*side_of, *rivals))
    names = [Name(each.start, each.end, side_of[each.phrase]) for each in found if each.phrase in side_of]
    ordered = _by_order(reading, names, len(sides))
    return sorted([*names, *ordered]), [each for each in found if each.phrase not in side_of]


def numbers_of(reading: Reading, figures: list[Decimal], unit: str) -> dict[int, int] | None:
    """The side whose figure a number is, by its place; None if one is neither a figure nor how much more one has.

    The numbers and their units are explained.
    """
    gaps = {abs(one - other) for one in figures for other in figures if one != other}
    numbers: dict[int, int] = {}
    for each in list(figures_of(reading, unit, bounds=False, known=figures)):
        word = reading.words[each.start]
        if word.spelled and word.number is not None and word.number < 4:  # `the two`
            continue
        if each.value in figures:
            numbers[each.start] = figures.index(each.value)
        elif _is_of_question(reading, word.text) or reading.texts[each.end : each.end + 1] == ("times",):
            continue
        elif _is_lead(reading, each, figures):
            at = each.end + (reading.texts[each.end : each.end + 1] == ("%",))
            reading.explain(each.end, at)
        elif word.number not in gaps or not _tells_gap(reading, each):
            return None
        before = each.start - (each.start > 0 and reading.texts[each.start - 1] in UNITS.get(unit, ()))
        reading.explain(before, each.end)
    return numbers


def _is_lead(reading: Reading, figure: Figure, figures: list[Decimal]) -> bool:
    """Whether a number tells how much more one figure is than another, as they have it, in percent of either."""
    number, end = reading.words[figure.start].number, figure.end
    percent = "%" in reading.texts[figure.start + 1 : end + 1]
    if not percent or number is None or not _tells_gap(reading, figure):
        return False
    shares = (100 * abs(one - other) / one for one in figures for other in figures if one > 0)
    return any(abs(share - number) < 1 for share in shares if share)


def _tells_gap(reading: Reading, figure: Figure) -> bool:
    """Whether words of a comparison stand beside a number, and no clause ends between: `by 3 days`, `3 days more`."""
    start, end = figure.start, figure.end
    while start > max(0, figure.start - 3) and not _ENDS.search(reading.words[start].gap):
        start -= 1
    while end < min(figure.end + 3, len(reading.words)) and not _ENDS.search(reading.words[end].gap):
        end += 1
    return not _GAP.isdisjoint(reading.texts[start:end])


def _is_of_question(reading: Reading, number: str) -> bool:
    return number in reading.asked or any(text.startswith(f"@{number}-") for text in reading.asked)


def clauses_of(reading: Reading, names: list[Name]) -> Iterator[Clause]:
    starts = [0]
    begins, ends = {each.start for each in names}, {each.end for each in names}
    within = {at for each in names for at in range(each.start + 1, each.end)} | _in_brackets(reading, begins)
    for at in range(1, len(reading.words)):
        word = reading.words[at]
        figure = (word.number is not None or word.text == "$") and (at in ends or reading.free[at - 1])
        figure &= at not in begins
        figure |= at in ends and _labels_figure(reading, at, begins)
        told = bool(_TOLD.search(word.gap)) and not figure and reading.texts[at - 1] not in _LABELS
        if at not in within and (_CLAUSE.search(word.gap) or told or (word.text in _THEN and reading.free[at])):
            starts.append(at)
    for start, end in pairwise([*starts, len(reading.words)]):
        before = reading.words[start].gap if start else "\n"
        after = reading.words[end].gap if end < len(reading.words) else "\n"
        content = [at for at in range(start, end) if reading.free[at] and reading.texts[at] not in FILLERS]
        cell = "|" in before or "|" in after
        cell |= ":" in before and ";" in after
        apart = bool(_SENTENCE.search(before)) and bool(_SENTENCE.search(after))
        whole = apart and not cell and not content
        yield Clause(start, end, whole)


def _labels_figure(reading: Reading, at: int, begins: Collection[int]) -> bool:
    """Whether no more than a label stands from a place on before a figure: `: width 24`."""
    for place in range(at, min(at + _LABEL, len(reading.words))):
        if place in begins or (place > at and _CLAUSE.search(reading.words[place].gap)):
            return False
        if reading.words[place].number is not None:
            return True
        if reading.texts[place] in _NOT_BESIDE - {"of"}:
            return False
    return False


def _in_brackets(reading: Reading, begins: Collection[int]) -> set[int]:
    """The places at which brackets with nothing but figures in them begin, and those after them: `A ($34) beats B`."""
    found, words = set(), reading.words
    for at in (at for at, word in enumerate(words) if word.gap.strip() == "("):
        end = next((after for after in range(at + 1, len(words)) if ")" in words[after].gap), len(words))
        if not any(reading.free[at:end]) and not any(place in begins for place in range(at, end)):
            found |= {at, *((end,) if end < len(words) and words[end].gap.strip(" <>") == ")" else ())}
    return found


def _by_order(reading: Reading, names: list[Name], sides: int) -> Iterator[Name]:
    """Sides that are told by their order, in the answer where it names two before, else of two in the question."""
    for at, text in enumerate(reading.texts):
        after = reading.texts[at + 1] if at + 1 < len(reading.texts) else ""
        apart = at + 1 == len(reading.texts) or bool(_CLAUSE.search(reading.words[at + 1].gap))
        plain = text in ("former", "latter") or (
            (reading.texts[max(0, at - 1)] == "the" and (apart or after in ("is", "was", "has", "had", "place")))
            or after in ("one", "option")
            or len(reading.texts) == 1
        )
        opened = not _OPENED.isdisjoint(reading.texts[max(0, at - 3) : at])
        if text in _ORDINALS and reading.free[at] and plain and not opened:
            before = list(dict.fromkeys(each.side for each in names if each.start < at))
            if len(before) == 2 or sides == 2:
                end = at + 1 + (after in ("one", "option", "place"))
                reading.explain(at, end)
                yield Name(at, end, (before if len(before) == 2 else [0, 1])[_ORDINALS[text]])


def named_in_part(reading: Reading, sides: list[list[str]], labels: Collection[str]) -> Iterator[Name]:
    """Sides that are told by words which their names alone have; the words are explained."""
    words = [{text for name in names for text in texts_of(name)} for names in sides]
    dull = {text[:4] for text in labels} | {text[:4] for text in MORE | LESS}
    for one, other in (map(texts_of, each) for names in sides for each in pairwise(names)):
        if "one" in other and len(one) == len(other):  # the noun that `one` stands for
            dull |= {text[:4] for text in set(one).difference(other)}
    of: dict[str, int] = {}
    for n, those in enumerate(words):
        for text in those.difference(*words[:n], *words[n + 1 :], FILLERS, TALK, DOUBTS):
            if text.isalpha() and len(text) > 2 and text[:4] not in dull and not text.endswith("est"):
                of[text.rstrip("s")] = n
    at, framed = 0, _frames(reading)
    while at < len(reading.texts):
        side = of.get(reading.texts[at].rstrip("s")) if reading.free[at] and at not in framed else None
        end = at + 1
        if side is not None:
            last = at
            while end < len(reading.texts) and reading.free[end] and not _CLAUSE.search(reading.words[end].gap):
                if of.get(reading.texts[end].rstrip("s")) == side:
                    last = end
                elif reading.texts[end] not in FILLERS | words[side]:
                    break
                end += 1
            start = at
            while start and reading.free[start - 1] and reading.texts[start - 1] in words[side]:
                if _CLAUSE.search(reading.words[start].gap):
                    break
                start -= 1
            reading.explain(start, last + 1)
            yield Name(start, last + 1, side, part=True)
        at = end


def _frames(reading: Reading) -> set[int]:
    """The places of what leads to a `that` at the beginning of a sentence: `It turns out that …`."""
    found: set[int] = set()
    for at in (at for at, text in enumerate(reading.texts) if text == "that" and reading.free[at]):
        start = at
        while start and reading.free[start] and not _CLAUSE.search(reading.words[start].gap):
            start -= 1
        if reading.free[start] and at - start < _LEADING:
            found.update(range(start, at))
    return found


def only_lists(reading: Reading, name: Name, clauses: list[Clause]) -> bool:
    """Whether a name only goes on with a list that begins with something unknown: `…, or the B`."""
    clause = next(clause for clause in clauses if clause.start <= name.start < clause.end)
    if not clause.start or not reading.free[clause.start - 1]:
        return False
    others = {reading.texts[at] for at in range(clause.start + 1, clause.end) if reading.free[at]}
    return said_in(reading, clause)[:1] in (("or",), ("and",)) and FILLERS.issuperset(others)


def contrasts(reading: Reading, name: Name, clauses: list[Clause], many: bool) -> bool:
    """Whether a name stands in contrast to another; the words that say so are explained."""
    clause = next(clause for clause in clauses if clause.start <= name.start < clause.end)
    before, after = reading.texts[clause.start : name.start], " ".join(reading.unexplained(name.end, clause.end))
    if before and before[0] in ("vs", "versus", "against") and before[-1] not in ("winner", "leader"):
        return True
    if before[-1:] == ("for",) and not {"vs", "versus", "against", "than"}.isdisjoint(before[-6:]):
        return True  # `A: 34 vs 12 for B`
    if (ruled_out := _RULED_OUT.match(after)) and OBJECTS.isdisjoint(after.split()):
        reading.explain(name.end, name.end + len(ruled_out[0].split()))
        return True
    near = range(max(0, name.start - 4), name.start)
    places = [at for at in near if reading.texts[at] not in FILLERS - {"of", "to"}]
    texts = tuple(reading.texts[at] for at in places)
    for words in _CONTRASTS:
        if texts[-len(words) :] == words:
            reading.explain(places[-len(words)], places[-1] + 1)
            return True
    ranked = _RANKED.search(" ".join(reading.unexplained(clause.start, name.start)))
    return bool(ranked or _SECOND.match(after)) or (many and not OBJECTS.isdisjoint(before[-3:]) and before[-1] != "by")


def pairs(reading: Reading, names: list[Name]) -> set[int]:
    """Indices of names that stand in a pair: two sides, joined by no more than words of the question."""
    found: set[int] = set()
    for i, (one, other) in enumerate(pairwise(names)):
        if one.side == other.side or i in found:
            continue
        between = range(one.end, other.start)
        joints = [at for at in between if reading.texts[at] in _PAIRS]
        others = [at for at in between if at not in joints and reading.texts[at] not in FILLERS | {"name"}]
        if any("(" in reading.words[at].gap for at in range(one.end, other.start + 1)):
            continue  # `47 (vs. 31)`
        beside = not {"/", ",", ";"}.isdisjoint(reading.words[other.start].gap) and not others
        if beside or (joints and all(reading.repeats(at, at + 1) for at in others)):
            found |= {i, i + 1}
    return found


def has_own_figure(reading: Reading, name: Name, numbers: dict[int, int], begins: Collection[int]) -> bool:
    """Whether a figure right beside a name is its own: `A ($34)`, `34 for A`; it may be one of two: `A (34 vs 12)`.

    `begins` are the places at which names begin.
    """
    before = next((at for at in (name.start - 2, name.start - 3) if at in numbers), None)
    if before is not None and reading.texts[name.start - 1] == "for" and not _apart(reading, before + 1, name.start):
        return numbers[before] == name.side
    figure = next((at for at in range(name.end, name.end + 4) if at in numbers), None)
    if figure is None:
        return True
    after = next((at for at in range(figure + 1, figure + 4) if at in numbers or at in begins), None)
    if after in numbers:
        return True
    between = reading.texts[name.end : figure]
    comma = bool(between) or reading.words[figure].gap != ", "
    apart = not _NOT_BESIDE.isdisjoint(between) or (comma and _apart(reading, name.end, figure + 1))
    return apart or numbers[figure] == name.side


def _apart(reading: Reading, start: int, end: int) -> bool:
    """Whether the words from a place to another are set apart from one another."""
    return any(mark in reading.words[at].gap for at in range(start, end) for mark in ",;.\n")
