"""Which of some things an answer calls the one that has most.

An answer is read clause by clause. A clause says who has more by a comparison (`A has more than B`, `B is cheaper`), or
by nothing but a name (`so A`); a name with its figure alone says nothing yet (`A: 34, B: 12`). What stands in contrast
(`rather than B`, `vs. B`) and pairs that only list the things (`of A and B`) say nothing. Everything that is said must
be for the same side, and a figure beside a name must be its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from decimal import Decimal
from typing import Any

from webdojo.sites.answers.comparatives import (
    BEATS,
    DIMENSIONS,
    EVEN,
    LESS,
    LIMITS,
    LOSING,
    MORE,
    NOUGHT,
    NOUNS,
    OBJECTS,
)
from webdojo.sites.answers.figures import LIMITING
from webdojo.sites.answers.reading import Reading
from webdojo.sites.answers.sides import (
    ARROW,
    SO,
    Clause,
    Name,
    clauses_of,
    contrasts,
    has_own_figure,
    named_in_part,
    numbers_of,
    only_lists,
    pairs,
    sides_named,
)
from webdojo.sites.answers.values import word_set

_PAGES = word_set("page pages panel")
_TELLS = word_set("says said shows showed gives gave tells told reads has had lists listed according")
"""Words by which a page is said to tell something, and not only to have been visited."""
_ANSWERS = re.compile(r"^(?:is|was) (?:the |my |our |your )?(?:final |right |correct )?(?:answer|winner|one)\b")
"""What follows the name of the one that has most."""
_CONCLUDES = word_set("answer winner conclusion result verdict")
"""Words before a colon that say of what follows that it is the answer."""
_SAYS = word_set("is it's be was")
_BUT = word_set("while whereas")
_ONLY = word_set("only just merely")
_CHANGED = re.compile(r"\b(?:at )?first (?:i |it |we |the page )?(?:saw|said|read|showed|thought|was|had)\b")
"""Says that it was something else at first."""
_FIRST = re.compile(
    r"^(?:in )?(?:first|1st|number one|number 1|no 1)(?: place)?(?: is| was)? -"
    r"|\b(?:is|was|comes?|came|ranks?|ranked|placed|takes?|took|in|on|at) (?:the )?"
    r"(?:first|1st|top|number one|number 1)\b(?! (?:i|it|we|the page)\b)"
)
"""Says of a name that it ranks first."""


def says_winner(
    wanted: dict[str, Any],
    reading: Reading,
    asked: Collection[str] = (),
    others: Collection[str] = (),
    rivals: Collection[str] = (),
) -> bool:
    """Whether an answer says that side `best` has most; what is read is explained in the reading.

    `asked` are the words of the question outside of the names, `others` are labels of what is not asked about, `rivals`
    are names of other things.
    """
    figures = [Decimal(figure) for figure in wanted["figures"]]
    names, beside = sides_named(reading, wanted["sides"], rivals)
    if any(not reading.repeats(each.start, each.end) for each in beside):
        return False
    numbers = numbers_of(reading, figures, wanted.get("unit", ""))
    if numbers is None or not EVEN.isdisjoint(reading.texts[at] for at in reading.left()):
        return False
    names = sorted([*names, *named_in_part(reading, wanted["sides"], {*asked, *others})])
    if any(_dangles(reading, at, names) for at, text in enumerate(reading.texts) if text == "or"):
        return False
    clauses = list(clauses_of(reading, names))
    begins = {each.start for each in names}
    if not all(has_own_figure(reading, each, numbers, begins) for each in names):
        return False
    everything = list(names)
    names = [each for each in names if not only_lists(reading, each, clauses)]
    names = [each for each in names if not contrasts(reading, each, clauses, len(wanted["sides"]) > 2)]
    mentioned, whole = {each.side for each in names}, {each.side for each in names if not each.part}
    if wanted.get("by_figure"):
        named = {at for clause in clauses for each in everything if clause.start <= each.start < clause.end
                 for at in range(clause.start, clause.end)}  # fmt: skip
        alone = [Name(at, at + 1, side) for at, side in numbers.items() if at not in named]
        names = sorted([*names, *(each for each in alone if not contrasts(reading, each, clauses, many=False))])
    idle = pairs(reading, names)
    names = [each for i, each in enumerate(names) if i not in idle]
    labels = {text[:4] for text in others} - {text[:4] for text in asked}
    for clause in clauses:
        if _is_adverb(reading, clause.start, asked):
            reading.explain(clause.start, clause.start + 1)
    strong: set[int] = set()
    weak: set[int] = set()
    for clause in clauses:
        inside = [each for each in names if clause.start <= each.start < clause.end]
        figured = {at: side for at, side in numbers.items() if clause.start <= at < clause.end}
        if _goes_on(reading, clause):
            inside = [each for each in everything if each.start < clause.start][-1:] + inside
        sides = {each.side for each in inside}
        told = reading.unexplained(clause.start, clause.end)
        nought = next((clause.start + at for at, text in enumerate(told) if text in NOUGHT), None)
        if len(sides) == 1 and figures[min(sides)] == 0 and nought is not None:  # `A has none`
            figured[nought] = numbers[nought] = min(sides)
            reading.explain(nought, nought + 1)
        said = _compared(reading, clause, inside, len(wanted["sides"]), numbers)
        where = not figured and said is None and not _PAGES.isdisjoint(told) and _TELLS.isdisjoint(told)
        if inside and (where or _elsewhere(reading, clause, asked, labels, len(wanted["sides"]))):
            mentioned -= sides
        elif said is not None:
            strong.add(said)
        elif any(_ANSWERS.match(" ".join(reading.texts[each.end : clause.end])) for each in inside):
            strong |= sides
        elif len(sides) == 1:
            by_itself = not figured or _closes(reading, clause, inside[0], everything)
            if (clause.whole and by_itself and not inside[0].part) or _stated(reading, clause, inside[0], figured):
                strong |= sides
            elif not inside[0].part and (not figured or inside[0].start in figured):
                weak |= sides
    if not strong and _CHANGED.search(" ".join(reading.texts)):
        return False
    if not strong and len(mentioned) > 1 and set(numbers.values()) == mentioned:  # each with its own figure
        return everything[0].side == wanted["best"] or not _BUT.isdisjoint(reading.texts)
    said_sides = strong or weak or (mentioned & whole if len(mentioned) == 1 else set())
    return said_sides == {wanted["best"]}


def _is_adverb(reading: Reading, at: int, asked: Collection[str]) -> bool:
    """Whether `later` tells when something was seen: `later I saw A`."""
    said, after = reading.texts[at : at + 1], reading.words[at + 1 : at + 2]
    of_time = any("later" in words and not by.isdisjoint(asked) for words, by in DIMENSIONS)
    return said == ("later",) and not of_time and any(word.gap == " " and word.text != "than" for word in after)


def _closes(reading: Reading, clause: Clause, name: Name, named: list[Name]) -> bool:
    """Whether a figure that is an answer stands alone at the end: `The higher one is 34.\\n\\n34`, but not `A\\n34`."""
    alone = clause.end == len(reading.words) and name not in named and clause.start == name.start
    return alone and clause.start > 0 and not any(each.end == clause.start for each in named)


def _dangles(reading: Reading, at: int, names: list[Name]) -> bool:
    """Whether an `or` offers something beside the sides: `A, or something`."""
    between = any(each.end <= at for each in names) and any(each.start > at for each in names)
    return reading.free[at] and not between and LIMITING.isdisjoint(reading.texts[at + 1 : at + 2])


def _goes_on(reading: Reading, clause: Clause) -> bool:
    """Whether a clause says something of what was named before it: `A has 34, which is more`."""
    first = reading.unexplained(clause.start, clause.end)[:1]
    gap = reading.words[clause.start].gap if first else ""
    told = first in (["which"], ["is"], ["was"], ["has"]) and "," in gap
    return told or "←" in gap or "<-" in gap


def _elsewhere(reading: Reading, clause: Clause, asked: Collection[str], labels: Collection[str], sides: int) -> bool:
    """Whether a clause compares something that is not asked about, or of many says which has least."""
    texts = reading.unexplained(clause.start, clause.end)
    for at, text in enumerate(texts):
        before, after = texts[at - 1] if at else "", texts[at + 1] if at + 1 < len(texts) else ""
        if any(text in words and by.isdisjoint(asked) for words, by in DIMENSIONS) and before != "-":
            return True
        if text in MORE | LESS:
            if after[:4] in labels or (sides > 2 and text in LESS):
                return True
        elif re.fullmatch(r"[a-z]{3,}(?:er|est)", text) and text not in NOUNS:
            most = text.endswith("est") and texts[max(0, at - 3) : at] in (["-", "is", "the"], ["-", "was", "the"])
            if most or (before in ("is", "was", "are", "even", "much") and after in ("", "than")):
                return True
    return False


def _compared(reading: Reading, clause: Clause, inside: list[Name], sides: int, numbers: Collection[int]) -> int | None:
    """The side that a clause says has more; None if it compares nothing."""
    if not inside:
        return None
    places = range(clause.start, clause.end)
    free = {at: reading.texts[at] for at in places if reading.free[at] and reading.texts[at - 1] not in LIMITS}
    for at in places[1:]:
        if (sign := reading.words[at].gap.strip(" ()")) in (">", "<"):
            free[at - 1] = sign
    words = set(free.values())
    beaten = any(text in BEATS and free.get(at + 1) == "by" for at, text in free.items())
    if beaten or any(text in _ONLY and not {at + 1, at + 2}.isdisjoint(numbers) for at, text in free.items()):
        words = words - MORE | {"<"}
    if _FIRST.search(" ".join(reading.unexplained(clause.start, clause.end))):
        words.add(">")
    more, less = not words.isdisjoint(MORE), not words.isdisjoint(LESS)
    than = next((at for at in places if reading.texts[at] == "than"), None)
    if more and less and than is not None:  # of two words the one beside `than` counts
        less = any(reading.texts[at] in LESS for at in range(max(clause.start, than - 3), than))
        more = not less
    if more == less:
        return None
    first, *others = dict.fromkeys(each.side for each in inside)
    before = reading.texts[clause.start : inside[0].start]
    objects = "than" in before or not OBJECTS.isdisjoint(before[-6:]) or before[-2:] in LOSING
    if not others and objects:
        return _other(first, sides) if more else first
    if len(others) > 1:
        return None
    if more:
        after = next((each for each in inside if each.side != first and reading.texts[each.start - 1] == "after"), None)
        return first if after is None else after.side  # `A has the highest after B`
    return others[0] if others else _other(first, sides)


def _other(side: int, sides: int) -> int | None:
    return 1 - side if sides == 2 else None


def _stated(reading: Reading, clause: Clause, name: Name, figured: Collection[int]) -> bool:
    """Whether something is said to be what a name stands for: `it is the A`, `so A`."""
    texts = reading.texts[clause.start : name.start]
    label = reading.texts[name.start - 1 : name.start] if ":" in reading.words[name.start].gap else ()
    if not _CONCLUDES.isdisjoint(label):
        return True
    if texts[:1] == ("one",) or any(text in ("second", "other") or text.endswith("est") for text in texts):
        return False
    before = [text for text in texts[-2:] if text != "the"]
    leads = clause.end < len(reading.words) and ARROW.search(reading.words[clause.end].gap)
    so = (ARROW.search(reading.words[clause.start].gap) and not leads and not figured) or (texts and texts[0] in SO)
    return bool(so) or bool(before and before[-1] in _SAYS)
