"""What an answer tells of how its writer left the site, `I have not changed anything there.`, and of detours on it, `I
opened the wrong page first, so I went back.`

A clause of the first sort has words of changing and of sites only, and says with a denial that nothing was changed. A
sentence of the second has words of ways through a site only, and says how they went on. Neither tells of a value, so
that its denial takes none back. What was not looked at, opened or checked is no such thing: that is a doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from webdojo.sites.answers.values import word_set

_CLAUSE = re.compile(r"(?:[^.,;:!?()\n—–]|(?<=\w)[.,:](?=\w))+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CHANGING = re.compile(
    r"(?:chang|modif|edit|alter|touch|updat|delet|remov|add|post|submit|sav|order|book|pay|purchas|vot|creat|cancel)"
    r"(?:e|ed|ted|ied|y|ying|ing|ting|es|s)?|send|sent|buy|bought|paid|write|wrote|written"
)
_DENIALS = word_set("not never no nothing without none")
_EDITS = word_set("edits modifications purchases")
_UNTOUCHED = word_set("unchanged untouched unmodified unaltered")
_AS_IT_WAS = re.compile(r"\bas (?:it was|they were|it is|i found it)$")
_WRITERS = word_set("i i've we we've")
_WORDS = (
    _WRITERS
    | _DENIALS
    | _UNTOUCHED
    | _EDITS
    | word_set(
        "account also and as any anything at be been being btw but by cart content contents data did doing "
        "else everything form forms found has have here in is it its itself left made make making "
        "note of on or order orders otherwise page pages please remains settings site so some something "
        "stays that the there they thing things this to was website were while while with"
    )
)
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\w))+[.!?]?")
_WENT_ON = re.compile(
    r"\b(?:worked|went back|go back|returned|(?:tried|searched|looked|opened|clicked) (?:it )?again|retried|reloaded"
    r"|refreshed|(?:had to|needed to) (?:scroll|reload|refresh|wait|search|go back|log in|sign in)|scrolled|waited)\b"
)
_WAYS = word_set(
    "a after again all and at away back because before but by clicked did didn't down error extra failed few find "
    "first for found go had i immediately in initially it its link list little load loaded loading log long looked "
    "menu mistake mistyped moment my needed not nothing of on once one opened page pages picked pop-up refresh "
    "refreshed reload reloaded result results retried returned right scroll scrolled search searched second see seen "
    "showed sign site slow slowly so some that the then there this time to took tried twice until up wait waited was "
    "we went which while with worked wrong"
)


def without_conduct(answer: str, question: str, names: Iterable[str] = ()) -> str:
    """An answer without the clauses that say that its writer changed nothing, but for what names and questions say."""
    asked = {word for word in map(str.casefold, _WORD.findall(question)) if _of_change(word)}

    small = {name.casefold() for name in names}

    def named(name: str, clause: str) -> bool:
        return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", clause, re.IGNORECASE))

    def kept(clause: re.Match[str]) -> str:
        words = _words(clause[0])
        told = _tells_of_no_change(words)
        own = not _WRITERS.isdisjoint(words) or asked.isdisjoint(words) or not _UNTOUCHED.isdisjoint(words)
        if not told or not own or any(name in clause[0].casefold() and named(name, clause[0]) for name in small):
            return clause[0]
        return " "

    def without_detour(sentence: re.Match[str]) -> str:
        words = _words(sentence[0])
        return " " if _WENT_ON.search(" ".join(words)) and _WAYS.issuperset(words) else sentence[0]

    return _CLAUSE.sub(kept, _SENTENCE.sub(without_detour, answer)).lstrip(" ,;:")


def _words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]


def _of_change(word: str) -> bool:
    return word in _EDITS or bool(_CHANGING.fullmatch(word))


def _tells_of_no_change(words: list[str]) -> bool:
    denied = any(word in _DENIALS or word.endswith("n't") for word in words)
    as_it_was = not _UNTOUCHED.isdisjoint(words) or bool(_AS_IT_WAS.search(" ".join(words)))
    known = all(word in _WORDS or word.endswith("n't") or _CHANGING.fullmatch(word) for word in words)
    return known and len(words) > 1 and (as_it_was or (denied and any(map(_of_change, words))))
