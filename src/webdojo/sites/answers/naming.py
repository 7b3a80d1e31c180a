"""How answers write names: with titles, in parts, the family name first; and names that only look like a known one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from webdojo.sites.answers.doubts import DOUBTS
from webdojo.sites.answers.reading import FILLERS, TALK, texts_of
from webdojo.sites.answers.values import word_set

_ABBREVIATED = re.compile(r"\b(?:(?:Mrs?|Ms|Dr|Prof)\.(?= \w)|(?:i\. ?e|e\. ?g|etc|cf|approx|resp|incl)\.)")
"""Abbreviations whose full stops end no sentence."""
_NUMBER_OF = re.compile(
    r"(?:\b(?:no|nr|num)\.? |# ?)of\b(?= (?:the )?[^\W\d_]+(?: [^\W\d_]+){0,3} ?[:=])", re.IGNORECASE
)
"""Abbreviations of `number of` in a label: `No. of matches: 3`."""
_TITLES = word_set("mr mrs ms dr prof")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_GIVEN, _FAMILY = r"\b(?:first|given)[ _]?name", r"\b(?:last|family|sur)[ _]?name"
_IS, _AND = rf"\W+(?:is\W+)?({_WORD.pattern})", r"\W+(?:(?:and|the|his|her|their)\W+)*"
_IN_PARTS = (
    (re.compile(rf"{_GIVEN}{_IS}{_AND}{_FAMILY}{_IS}", re.IGNORECASE), r"\1 \2"),
    (re.compile(rf"{_FAMILY}{_IS}{_AND}{_GIVEN}{_IS}", re.IGNORECASE), r"\2 \1"),
)
"""A name with labels for its parts, and how it is written without them."""
_MARK = re.compile(r"(?<=\w)[.:,;!?…]+(?=\s|$)")
_LONG = 4
"""Words from which a name with one other word behind its first is like it, also where that word is in small letters."""


def without_stops(answer: str) -> str:
    """An answer whose abbreviations have no full stops: `Mr Knapp`, `ie`; `No. of` is written in full."""
    answer = _NUMBER_OF.sub("number of", answer)
    return _ABBREVIATED.sub(lambda match: re.sub(r"[. ]", "", match[0]), answer)


def without_marks(name: str) -> str:
    """A name without punctuation, as it stands in what an answer tells."""
    return _MARK.sub("", name)


def figures_apart(answer: str, names: Iterable[str]) -> str:
    """An answer in which no name that ends in a number runs into the figure behind it: `Ibis 669 358 min`."""
    small = answer.casefold()
    for name in {name for name in names if name[-1:].isdecimal() and name.casefold() in small}:
        answer = re.sub(rf"(\b{re.escape(name)}) (?=\d)", r"\1  ", answer, flags=re.IGNORECASE)
    return answer


def given_name_first(answer: str, names: Iterable[str]) -> str:
    """An answer in which names of two words stand as they are: neither in parts nor as `Knapp, Earl`, `KNAPP Earl`."""
    for in_parts, whole in _IN_PARTS:
        answer = in_parts.sub(whole, answer)
    known = {tuple(name.casefold().split()) for name in names}
    words = list(_WORD.finditer(answer))
    out, end = [], 0
    for at, (family, given) in enumerate(pairwise(words)):
        gap = answer[family.end() : given.start()]
        in_capitals = gap == " " and family[0].isupper() and not given[0].isupper()
        apart = (gap == ", " or in_capitals) and family[0][0].isupper() and given[0][0].isupper()
        if not apart or (given[0].casefold(), family[0].casefold()) not in known:
            continue
        if not (_goes_on(answer, words, at - 1) or _goes_on(answer, words, at + 1)):
            out += [answer[end : family.start()], given[0], " ", family[0]]
            end = given.end()
    return "".join([*out, answer[end:]])


def _goes_on(answer: str, words: list[re.Match[str]], at: int) -> bool:
    """Whether two neighbours may be words of one name: nothing but a blank is between them, and both have capitals."""
    if at < 0 or at + 1 >= len(words) or answer[words[at].end() : words[at + 1].start()] != " ":
        return False
    return all(word[0][0].isupper() and word[0].casefold() not in TALK | FILLERS for word in words[at : at + 2])


def look_alikes(answer: str, names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """Names in an answer that have one other word than one of these: `Earl Knapp` of `Perry Knapp`.

    The other word is none of the known ones, and it has a capital letter, unless it stands behind the first word of a
    long name.
    """
    said, texts = _words(answer)
    own = [(name, *_words(name)) for name in names]
    free = [True] * len(said)
    for _, _, name in own:
        for at in range(len(said) - len(name) + 1):
            if texts[at : at + len(name)] == name:
                free[at : at + len(name)] = [False] * len(name)
    for title, words, name in own:
        for at in range(len(said) - len(name) + 1 if len(name) > 1 else 0):
            here = said[at : at + len(name)]
            others = [n for n, word in enumerate(name) if texts[at + n] != word]
            if len(others) != 1 or not all(free[at : at + len(name)]):
                continue
            other = here[others[0]][0]
            capital = other[0].isupper() or (len(name) >= _LONG and others[0] > 0)
            whole = all(gap in (" ", own) for gap, own in zip(_gaps(answer, here), _gaps(title, words), strict=True))
            telling = any(word not in FILLERS | TALK for n, word in enumerate(name) if n not in others)
            if capital and whole and telling and texts[at + others[0]] not in known:
                yield answer[here[0].start() : here[-1].end()]


def _words(text: str) -> tuple[list[re.Match[str]], list[str]]:
    """The words of a text, and what they are in small letters without a possessive ending."""
    words = list(_WORD.finditer(text))
    return words, [re.sub(r"['’]s?$", "", word[0].casefold()) for word in words]


def _gaps(text: str, words: list[re.Match[str]]) -> list[str]:
    return [text[one.end() : other.start()] for one, other in pairwise(words)]


def words_known(question: str, phrases: Iterable[str]) -> frozenset[str]:
    """The words of talk and of doubt, of a question, and of phrases, which are no names."""
    return (
        TALK
        | FILLERS
        | DOUBTS
        | _TITLES
        | frozenset(word for phrase in (question, *phrases) for word in texts_of(phrase))
    )
