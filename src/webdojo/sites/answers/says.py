"""Whether an answer says what was asked for.

An answer is right if it says the value and contradicts it nowhere, in whatever words. What it says is what it claims:
the values of the kind asked for that stand in it. A value is no claim where the answer repeats the question (`with at
least 3 votes`), names the thing that was asked about, or says something else of it (`Arrow 12 for $39 takes 95 min`).
All claims must be the value. What contradicts it:

- another value, or the name of another thing, of those that the site has (`Subject.rivals`);
- a number that is none of the thing's, outside of sums that come to the value and of counts of pages;
- a doubt, a denial or a bound beside it (`maybe`, `not`, `or`, `at least`), unless the question has it there, too;
- something in a list that the site does not have.

An answer of more than `_LONGEST` characters says nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date as Date
from decimal import Decimal
from typing import Any

from webdojo.errors import TaskError
from webdojo.sites.answers.contest import says_winner
from webdojo.sites.answers.doubts import doubted
from webdojo.sites.answers.names import says_names
from webdojo.sites.answers.numbers import says_date, says_number
from webdojo.sites.answers.reading import FILLERS, Reading, texts_of
from webdojo.sites.answers.refusal import says_missing, says_refused
from webdojo.sites.answers.subject import NOTHING, Subject, claims
from webdojo.sites.answers.tables import as_pairs
from webdojo.sites.answers.values import UNITS, evaluator

_LONGEST = 4000
_CLOSING = re.compile(
    r"(?:\b(?:please )?(?:let me know|feel free|is there anything|do you (?:need|want)|would you like|can i help"
    r"|may i help|hope (?:this|that) helps|i hope|happy to help|anything else|what else)\b[^.!?\n]*[.!?]*\s*)+$",
    re.IGNORECASE,
)
"""The courtesies at the end of an answer."""
_BACK = re.compile(r"\b(?:you|your|shall i|should i|need|want)\b", re.IGNORECASE)
"""What a question back to the person has."""
_ASIDE = re.compile(
    r"\b100 ?% (?:sure|certain|confident|positive)\b|\bconfidence: ?[\w.]+ ?%?|\bstep \d{1,2}\b"
    r"|(?<=[\w.)]) ?\[\d{1,2}\]",
    re.IGNORECASE,
)
"""Numbers that belong to no value: of steps, of references, and of how sure an agent is."""


def says(wanted: dict[str, Any], answer: str, question: str, subject: Subject = NOTHING) -> bool:
    """Whether an answer to a question says what an evaluator of `values.py` holds.

    Raises:
        TaskError: The evaluator holds nothing that can be checked.
    """
    answer = _told(answer, question, str(wanted))
    asks = answer.endswith("?") and "?" not in str(wanted)
    if len(answer) > _LONGEST or (asks and wanted.get("type") != "missing"):
        answer = ""  # too much, or a question
    match wanted:
        case {"type": "text", "value": str(value)} if texts_of(value):
            return says_names([value], as_pairs(answer), question, subject)
        case {"type": "number", "value": int() | float() as value} if wanted.get("unit", "$") in UNITS:
            return says_number(Decimal(str(value)), wanted, as_pairs(answer), question, subject)
        case {"type": "date", "value": str(value)} if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            return says_date(
                Date.fromisoformat(value), as_pairs(answer), question, subject, wanted.get("year_known", False)
            )
        case {"type": "set", "values": [_, *_] as values}:
            return says_names(values, answer, question, subject, listed=True)
        case {"type": "list", "values": [_, *_] as values}:
            return says_names(values, answer, question, subject, listed=True, ordered=True)
        case {"type": "winner", "sides": [_, _, *_] as sides, "best": int(), "figures": [_, _, *_]}:
            reading = Reading(answer, question)
            rivals = set(subject.rivals).difference(*sides, subject.names)
            named = sorted((name for side in sides for name in side), key=len, reverse=True)
            rest = re.sub("|".join(map(re.escape, named)), " ", question)
            asked = {*texts_of(rest), *(word for label in (*subject.asked, "number count") for word in texts_of(label))}
            others = {word for label in subject.labels for word in texts_of(label)} - FILLERS
            won = says_winner(wanted, reading, asked, others)
            return won and not claims(reading, rivals) and not doubted(reading, ("but",))
        case {"type": "among", "values": [_, *_] as values}:
            texts = tuple(value for value in values if isinstance(value, str))
            one_of = replace(subject, rivals=(*subject.rivals, *texts))
            return any(says(evaluator(value), answer, question, one_of) for value in values)
        case {"type": "missing", "name": str(name)} if texts_of(name):
            return says_missing(name, answer, question)
        case {"type": "refused", "why": str(why)} if texts_of(why):
            return says_refused(why, answer, question, subject.names, subject.rivals)
    raise TaskError(f"an answer cannot be checked against {wanted!r}")


def _told(answer: str, question: str, wanted: str) -> str:
    """What an answer tells: without the question, if it repeats that, without courtesies and asides."""
    asked = question.strip().rstrip(".?!")
    if len(asked.split()) > 2:
        answer = re.sub(rf"{re.escape(asked)}[.?!]*", " … ", answer, flags=re.IGNORECASE)
    answer = answer.strip()
    if "star" in question:
        answer = re.sub(r"[★⭐]+", lambda match: f" {len(match[0])} stars ", answer)
        answer = re.sub(r"(?<=\b[0-5])(?: out of | ?/ ?)5(?: stars)?\b", " stars", answer)
    while (
        answer.endswith("?") and "?" not in wanted and (end := max(answer.rfind(mark, 0, -1) for mark in ".!?\n")) > 0
    ):
        if not _BACK.search(answer, end):
            break
        answer = answer[: end + 1].rstrip()
    return _ASIDE.sub(" ", _CLOSING.sub("", answer)).strip()
