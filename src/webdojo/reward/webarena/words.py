"""The words of a text, as NLTK's `word_tokenize` makes them, by which WebArena's evaluators look for short references.

The rules are those of the Penn Treebank tokeniser. Of NLTK's trained sentence splitter, which decides whether a full
stop in mid-text belongs to its word, the rules are here and not the list of abbreviations that it has learned.
"""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    {
        "a.m",
        "p.m",
        "u.s",
        "u.k",
        "e.g",
        "i.e",
        "etc",
        "vs",
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "jr",
        "sr",
        "inc",
        "co",
    }
)
_NUMBER = re.compile(r"[-+]?[\d.,]*\d[\d.,-]*|[a-z]", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=\s)(\S+?)\.(?=[\"')\]]*\s+(\S))|^(\S+?)\.(?=[\"')\]]*\s+(\S))")

_SPLITS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"([«“‘„]|``)", r" \1 "),
        (r'^"', "`` "),
        (r"([ (\[{<])(\"|'{2})", r"\1 `` "),
        (r"(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", "' "),
        (r"([^.])(\.)([\])}>\"'»”’ ]*)\s*$", r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (r"[\u2012-\u2015]", r" \g<0> "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[*]", r" \g<0> "),
        (r"[\]\[(){}<>]", r" \g<0> "),
        (r"--", r" -- "),
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"\s+", " "),
        (r"([^' ])('s|'m|'d|') ", r"\1 \2 "),
        (r"([^' ])('ll|'re|'ve|n't) ", r"\1 \2 "),
        (r"\b(can)(?=not\b)", r" \1 "),
        (r"\b(d)(?='ye\b)", r" \1 "),
        (r"\b(gim|lem)(?=me\b)", r" \1 "),
        (r"\b(gon)(?=na\b)|\b(wan)(?=na\s)", r" \1\2 "),
        (r"\b(got)(?=ta\b)", r" \1 "),
    )
)


def words(text: str) -> list[str]:
    """The words and marks of a text, in order."""
    return [word for sentence in _sentences(text) for word in _split(sentence)]


def _split(sentence: str) -> list[str]:
    spaced = sentence
    for number, (pattern, replacement) in enumerate(_SPLITS):
        if number == _FIRST_CONTRACTION:
            spaced = f" {spaced} "
        spaced = pattern.sub(replacement, spaced)
    return spaced.split()


_FIRST_CONTRACTION = next(
    number for number, (pattern, _) in enumerate(_SPLITS) if pattern.pattern.startswith("([^' ])('s")
)


def _sentences(text: str) -> list[str]:
    ends = [
        found.end()
        for found in _SENTENCE_END.finditer(text)
        if _ends_sentence(found[1] or found[3], found[2] or found[4])
    ]
    return [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def _ends_sentence(word: str, following: str) -> bool:
    """Whether the full stop after a word ends a sentence: not after a number or a single letter before small ones."""
    bare = word.lstrip("\"'([{").lower()
    return bare not in _ABBREVIATIONS and not (_NUMBER.fullmatch(bare) and following.islower())
