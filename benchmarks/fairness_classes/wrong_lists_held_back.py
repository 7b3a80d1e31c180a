"""Held-back wrong answers that copy: a list without its end, its number or its names, in reverse, or two records."""

from __future__ import annotations

import json
from dataclasses import replace

from fairness_classes.asked import Answer, falsified
from fairness_classes.case import Case
from fairness_classes.falsehoods import things_beside
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import in_words, only_names


@wrong_answer("names")
def far_more_names_than_were_asked_for(case: Case, said: Answer, say: Say) -> str | None:
    """The list as it stands on the page, which goes on behind the names that are asked for."""
    assert case.query is not None
    found = [each.name for each in case.query.found[: len(said.names) + 8]]
    if len(found) < len(said.names) + 2:
        return None
    return "\n".join(f"{i}. {name}" for i, name in enumerate(found, 1))


@wrong_answer("names")
def names_in_reverse(case: Case, said: Answer, say: Say) -> str | None:
    """The right names from the last to the first, where an order is asked for."""
    if not said.ordered or len(said.names) < 2:
        return None
    return say(replace(said, names=said.names[::-1]))


@wrong_answer("count")
def some_of_them_without_a_number(case: Case, said: Answer, say: Say) -> str | None:
    """Two of the things that were to be counted, as examples, and no number."""
    names = only_names(said)
    if len(names) < 3:
        return None
    first, second = say.rng.sample(names, 2)
    return f"The list shows {said.called} such as “{first}” and “{second}”."


@wrong_answer("value")
def two_records_of_one_thing(case: Case, said: Answer, say: Say) -> str | None:
    """Two objects for the same thing, with the right and with a wrong value."""
    if said.number is not None:
        other = falsified(said, said.number + say.rng.choice((1, 5))).value
    elif case.attribute is not None and (others := things_beside(case, say)):
        other = others[0].shown(case.attribute)
    else:
        return None
    values = say.rng.sample([said.value, other], 2)
    return json.dumps([{"name": said.thing, said.called: value} for value in values], ensure_ascii=False)


@wrong_answer("names")
def how_many_instead_of_which(case: Case, said: Answer, say: Say) -> str | None:
    """How many things there are, and none of their names."""
    if len(said.names) < 2:
        return None
    many = in_words(len(said.names))
    return say.rng.choice((f"I found the {many} {said.called} that you asked for.", f"{len(said.names)} {said.called}"))
