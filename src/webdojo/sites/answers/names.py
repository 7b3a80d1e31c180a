"""Whether an answer says one word or name, or all names of a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from webdojo.sites.answers.doubts import doubted
from webdojo.sites.answers.reading import DAYS, FILLERS, PAGES, TALK, Mention, Reading, texts_of
from webdojo.sites.answers.subject import Subject, about_another, figure_of, is_figure
from webdojo.sites.answers.values import word_set

_SENTENCE = re.compile(r"[.!?](?:\s|$)|\n\s*\n")
_PROSE = 3
"""Words from which a sentence without a name is no entry of a list."""
_OPEN = re.compile(
    r"\b(?:and|among|amongst|as well as|plus) (?!no )(?:\w+ )?(?:more|others?|further|additional|rest)\b"
    r"|\b(?:one|any|some|either) of -|\b[2-9] of (?:these|those|them)\b|\bat least -"
    r"|\banother\b(?! (?:\w+ )?(?:is|was) -)"
    r"|\b(?:for (?:example|instance)|such as|including|like|eg) -|\b(?:etc|et cetera|and so on|so forth)\b"
)
"""Leaves a list open, with `-` for what it names."""
_LED_BY = r"(?:{}) (?:\w+ |of all )?(?:first|to)\b"
_LEAST_FIRST = re.compile(
    _LED_BY.format("cheapest|least expensive|lowest|smallest|fewest|least|shortest|earliest|oldest")
)
_MOST_FIRST = re.compile(
    _LED_BY.format(
        "dearest|most expensive|priciest|costliest|highest|greatest|largest|biggest|most|longest|latest|newest"
    )
)
"""Say with which end of an order a list begins."""
_FIRST, _LAST = word_set("first firstly 1st"), word_set("last lastly finally")
"""Words before a name that say where in an order it stands."""
_REVERSED = re.compile(r"\b(?:revers(?:e|ed|ing)|backwards?|other way (?:round|around))\b")
_ENTRY = re.compile(r"\s*[(#|]?\s*(\d{1,2})\s*[.):|]")
"""The number of an entry of a list or of a row."""
_BREAK = re.compile(r"[,;:.!?()\n|&/]| - ")


def says_names(
    values: Sequence[str],
    answer: str,
    question: str,
    subject: Subject,
    listed: bool = False,
    ordered: bool = False,
) -> bool:
    """Whether all words or names of an answer that are claims are these values."""
    for value in values:  # a number of a telephone may have other gaps
        if re.fullmatch(r"[\d-]+", value):
            answer = re.sub(rf"\b{value.replace('-', '[ .-]?')}\b", value, answer)
    reading = Reading(_unnumbered(_by_number(answer)) if listed else PAGES.sub(" ", answer), question, subject.names)
    told = [name for name in subject.names if name not in values]
    told += [said for said in subject.told if not (listed and re.search(r"\d", said))]  # those are checked below
    told += subject.filters
    wanted = {texts_of(value): value for value in values}
    claimed: list[str] = []
    mentions = reading.find((*values, *told, *subject.rivals))
    for mention in mentions:
        known = wanted.get(texts_of(mention.phrase))
        if known is None and mention.phrase in told:
            continue
        if not _is_act(reading, mention) and (listed or not reading.repeats(mention.start, mention.end)):
            claimed.append(known or "")
    counts = [str(n) for n in range(1, len(values) + 1)] if listed else []
    named = [each for each in mentions if each.phrase in subject.values]
    figures = [at for at in reading.left() if is_figure(reading, at) and reading.texts[at] not in counts]
    stray = any(not _is_own(reading, at, named, subject) and reading.texts[at] not in reading.asked for at in figures)
    for at in figures:
        reading.explain(at, at + 1)
    said = list(dict.fromkeys(claimed))
    if doubted(reading, ("another",) if listed else ()) or (listed and _OPEN.search(" ".join(reading.unexplained()))):
        return False
    if not listed and about_another(reading, subject, values[0]):
        return False
    if ordered and (_reversed(reading, question) or _misplaced(reading, mentions, values)):
        return False
    right = said == list(values) if ordered else sorted(said) == sorted(set(values))
    return (
        right
        and not stray
        and not _invented(reading, counts, subject, [each for each in mentions if each.phrase not in told])
    )


def _is_act(reading: Reading, mention: Mention) -> bool:
    """Whether a value is a verb here: the status `Open` in `Open the site`."""
    after = reading.words[mention.end : mention.end + 1]
    return reading.texts[mention.start] in TALK and any(
        word.gap == " " and word.text in ("the", "a", "an") for word in after
    )


def _reversed(reading: Reading, question: str) -> bool:
    """Whether an answer says that its list begins with the other end than the question asks for."""
    told, asked = " ".join(reading.unexplained()), " ".join(texts_of(question))
    ends = ((_LEAST_FIRST, _MOST_FIRST), (_MOST_FIRST, _LEAST_FIRST))
    other = any(this.search(told) and that.search(asked) for this, that in ends)
    return other or bool(_REVERSED.search(told) and not _REVERSED.search(asked))


def _misplaced(reading: Reading, mentions: Sequence[Mention], values: Sequence[str]) -> bool:
    """Whether an answer calls a name first or last that is not: `Finally A, then B, and first C`."""
    for each in mentions:
        before = reading.words[each.start - 1 : each.start]
        if before and reading.free[each.start - 1] and reading.words[each.start].gap == " ":
            first, last = before[0].text in _FIRST, before[0].text in _LAST
            if (first and each.phrase != values[0]) or (last and each.phrase != values[-1]):
                return each.phrase in values
    return False


def _is_own(reading: Reading, at: int, named: Sequence[Mention], subject: Subject) -> bool:
    """Whether a figure is one that the site has for the thing beside whose name it stands, or for that asked about."""
    if not named or len(subject.values) < 2:
        return any(figure_of(reading, at) in values for values in subject.values.values())
    figures = (place for place in reading.left() if is_figure(reading, place))
    first = next((place for place in figures if reading.texts[place] not in reading.asked), at)
    before = [each for each in named if each.end <= at]
    after = [each for each in named if each.start > at]
    beside = (after or before)[0] if first < named[0].start else (before[-1:] or after)[0]
    return figure_of(reading, at) in subject.values[beside.phrase]


def _invented(reading: Reading, counts: Sequence[str], subject: Subject, mentions: Sequence[Mention]) -> bool:
    """Whether something stands in a list that is neither known nor talk: `Red, Purple`; a label is none."""
    talk = _talk(reading, mentions)
    known = TALK | FILLERS | reading.asked | set(counts) | {"and", "then"}
    ends = {texts_of(mention.phrase)[-1] for mention in mentions}
    noun = ends.pop() if len(ends) == 1 and ends <= reading.asked.union(*map(texts_of, subject.asked)) else None
    prefixes = {word[:4] for label in (*subject.asked, *subject.labels) for word in texts_of(label)}
    listed = False
    for _, group in groupby(range(len(reading.words)), _parts(reading).__getitem__):
        part = list(group)
        if (
            part[0] in talk
            or (len(part) == 1 and reading.texts[part[0]] in DAYS)
            or reading.texts[part[0] : part[0] + 2] in (("no", "other"), ("nothing", "else"))
            or (reading.texts[part[0]] == "without" and reading.texts[part[-1]] == "doubt")
        ):
            continue
        places = [at for at in part if reading.texts[at] not in ("and", "then")]
        labels = part[-1] + 1 < len(reading.words) and ":" in reading.words[part[-1] + 1].gap
        content = [
            at
            for at in places
            if reading.texts[at] not in FILLERS and not re.match(r"\d+(?:st|nd|rd|th)$", reading.texts[at])
        ]
        unknown = [at for at in content if reading.free[at] and reading.texts[at] not in known]
        if noun and unknown and content[-1] == part[-1] and reading.texts[part[-1]] == noun and reading.free[part[-1]]:
            return True
        labels &= len(places) == 1 or any(reading.texts[at][:4] in prefixes for at in places)
        if (
            unknown
            and not labels
            and (len(unknown) == len(places) or (listed and len(unknown) > max(1, len(content) / 2)))
        ):
            return True
        listed = any(not reading.free[at] for at in places)
    return False


def _talk(reading: Reading, mentions: Sequence[Mention]) -> set[int]:
    """The places of sentences that name nothing, and of what leads to a list: `I sorted, and found: A, B`."""
    gaps = [word.gap for word in reading.words]
    starts = [0, *(at for at, gap in enumerate(gaps) if at and _SENTENCE.search(gap)), len(gaps)]
    found: set[int] = set()
    for start, end in pairwise(starts):
        first = next((each.start for each in mentions if start <= each.start < end), None)
        if first is not None:
            found.update(range(start, next((at for at in range(first, start, -1) if ":" in gaps[at]), start)))
        elif end - start >= _PROSE:
            found.update(range(start, end))
    return found


def _parts(reading: Reading) -> list[int]:
    """For each word the number of the part of the answer that it stands in, split at punctuation and `and`."""
    numbers, number = [], 0
    for word in reading.words:
        number += bool(_BREAK.search(word.gap)) or word.text in ("and", "then")
        numbers.append(number)
    return numbers


def _by_number(answer: str) -> str:
    """A list with the lines of its entries in the order of their numbers: `2. Blue\\n1. Red`."""
    lines = answer.split("\n")
    numbers = {at: int(found[1]) for at, line in enumerate(lines) if (found := _ENTRY.match(line))}
    if sorted(numbers.values()) != list(range(1, len(numbers) + 1)):
        return answer
    for at, entry in zip(numbers, sorted(numbers, key=lambda at: numbers[at]), strict=True):
        lines[at] = answer.split("\n")[entry]
    return "\n".join(lines)


def _unnumbered(answer: str) -> str:
    """A list without the numbers of its entries: `1. Red 2. Blue`, or a first column of numbers."""
    answer = re.sub(r"(?m)^\s*\|.*\|\s*\n\s*\|[-:| ]+\|\s*$", "", answer)  # the head of a table
    answer = re.sub(r"(?m)^\s*\|\s*(?:\d{1,2}|#)\s*\|", "|", answer)
    answer = re.sub(r"(?m)^\s*(?:[a-e]|[IVX]{1,4})[.)]\s+", "", answer)
    numbers = re.findall(r"(?:^|[\s(])(\d{1,2})[.)](?=\s)", answer)
    if numbers[:1] == ["1"] and numbers == [str(n) for n in range(1, len(numbers) + 1)]:
        return re.sub(r"(^|[\s(])\d{1,2}[.)](?=\s)", r"\1, ", answer)
    return PAGES.sub(" ", answer)
