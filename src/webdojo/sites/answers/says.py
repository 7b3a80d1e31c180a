"""Whether an answer says what was asked for.

An answer is right if it says the value and contradicts it nowhere, in whatever words. What it says is what it finally
claims (`telling.py`): the values of the kind asked for that stand in it. A value is no claim where the answer repeats
the question (`with at least 3 votes`), names the thing that was asked about, or says something else of it (`Arrow 12
for $39 takes 95 min`).
All claims must be the value. What contradicts it:

- another value, or the name of another thing, of those that the site has (`Subject.rivals`), or a name that is like
  one that is asked about (`naming.py`);
- a number that is none of the thing's, outside of sums that come to the value and of counts of pages;
- a doubt, a denial or a bound beside it (`maybe`, `not`, `or`, `at least`), unless the question has it there, too;
- hearsay, a bet, or that it is so at another time (`some say`, `I would bet`, `last year`);
- something in a list that the site does not have.

An answer of more than `_LONGEST` characters says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date as Date
from decimal import Decimal
from typing import Any

from webdojo.errors import TaskError
from webdojo.sites.answers.conduct import without_conduct
from webdojo.sites.answers.contest import says_winner
from webdojo.sites.answers.doubts import doubted
from webdojo.sites.answers.forms import as_pairs
from webdojo.sites.answers.names import says_names
from webdojo.sites.answers.naming import figures_apart, given_name_first, look_alikes, without_stops, words_known
from webdojo.sites.answers.numbers import says_date, says_number
from webdojo.sites.answers.options import without_letters
from webdojo.sites.answers.reading import FILLERS, Reading, texts_of
from webdojo.sites.answers.refusal import says_missing, says_refused
from webdojo.sites.answers.subject import NOTHING, Subject
from webdojo.sites.answers.telling import told
from webdojo.sites.answers.values import UNITS, evaluator

_LONGEST = 4000
_RANK = re.compile(r"^[ \t]*#?([1-3])[.):]?[ \t]+(?=\S)|^[ \t]*\|[ \t]*([1-3])[ \t]*\|", re.MULTILINE)
"""The number of an entry of a ranking."""


def says(wanted: dict[str, Any], answer: str, question: str, subject: Subject = NOTHING) -> bool:
    """Whether an answer to a question says what an evaluator of `values.py` holds.

    Raises:
        TaskError: The evaluator holds nothing that can be checked.
    """
    if len(answer) > _LONGEST:
        answer = ""
    own = (*_own_names(wanted), *(subject.names if subject.told else ()))
    names = (*_strings(wanted), *subject.names, *subject.rivals)
    answer = told(without_stops(answer), question, names, asks_back=wanted.get("type") in ("missing", "refused"))
    answer = without_conduct(answer, question, names)
    known = words_known(question, (*subject.told, *subject.asked, *subject.labels, *subject.filters))
    subject = replace(subject, rivals=(*subject.rivals, *look_alikes(answer, own, known)))
    answer = figures_apart(given_name_first(answer, names), names)
    paired = given_name_first(as_pairs(answer, names), names)
    match wanted:
        case {"type": "text", "value": str(value)} if texts_of(value):
            return says_names([value], paired, question, subject)
        case {"type": "number", "value": int() | float() as value} if wanted.get("unit", "$") in UNITS:
            return says_number(Decimal(str(value)), wanted, paired, question, subject)
        case {"type": "date", "value": str(value)} if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            return says_date(Date.fromisoformat(value), paired, question, subject, wanted.get("year_known", False))
        case {"type": "set", "values": [_, *_] as values}:
            return says_names(values, answer, question, subject, listed=True)
        case {"type": "list", "values": [_, *_] as values}:
            return says_names(values, answer, question, subject, listed=True, ordered=True)
        case {"type": "winner", "sides": [_, _, *_] as sides, "best": int(), "figures": [_, _, *_]}:
            lettered = without_letters(paired, (name for side in sides for name in side))
            reading = Reading(_RANK.sub(_ranked, lettered), question, [side[0] for side in sides])
            rivals = set(subject.rivals).difference(*sides, subject.names)
            named = sorted((name for side in sides for name in side), key=len, reverse=True)
            rest = re.sub("|".join(map(re.escape, named)), " ", question)
            asked = {*texts_of(rest), *(word for label in (*subject.asked, "number count") for word in texts_of(label))}
            others = {word for label in subject.labels for word in texts_of(label)} - FILLERS
            return says_winner(wanted, reading, asked, others, rivals) and not doubted(reading, ("but",))
        case {"type": "among", "values": [_, *_] as values}:
            texts = tuple(value for value in values if isinstance(value, str))
            one_of = replace(subject, rivals=(*subject.rivals, *texts))
            return any(says(evaluator(value), answer, question, one_of) for value in values)
        case {"type": "missing", "name": str(name)} if texts_of(name):
            return says_missing(name, answer, question, subject.rivals)
        case {"type": "refused", "why": str(why)} if texts_of(why):
            return says_refused(why, answer, question, subject.names, subject.rivals)
    raise TaskError(f"an answer cannot be checked against {wanted!r}")


def _ranked(rank: re.Match[str]) -> str:
    return f"{('1st', '2nd', '3rd')[int(rank[1] or rank[2]) - 1]}: "


def _own_names(wanted: dict[str, Any]) -> Iterator[str]:
    """The names that an evaluator holds, without what a question calls a side."""
    for key in ("value", "name"):
        if isinstance(wanted.get(key), str):
            yield wanted[key]
    yield from (each for each in wanted.get("values", ()) if isinstance(each, str))
    yield from (side[0] for side in wanted.get("sides", ()) if side)


def _strings(wanted: Any) -> Iterator[str]:
    """All texts of an evaluator."""
    if isinstance(wanted, str):
        yield wanted
    elif isinstance(wanted, (list, tuple, dict)):
        for each in wanted.values() if isinstance(wanted, dict) else wanted:
            yield from _strings(each)
