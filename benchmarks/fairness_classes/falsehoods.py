"""What wrong values are made of: other things, other answers, and other days."""

from __future__ import annotations

from dataclasses import replace

from fairness_classes.asked import Answer, falsified
from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import Say
from fairness_classes.saying import day_of, short


def things_beside(case: Case, say: Say) -> list[Target]:
    """Things like the one that is asked about, with other values; first those that are next to it in its list."""
    attribute = case.attribute
    if attribute is None:
        return []
    target = case.target
    pool = list(target.described.found if target.described is not None else target.collection.entities)
    more = say.rng.sample(list(target.collection.entities), min(20, len(target.collection.entities)))
    shown = target.shown(attribute)
    return [
        Target(target.site, target.collection, each)
        for each in [*pool[:5], *more]
        if each.values.get(attribute.key, "") != "" and attribute.show(each.values[attribute.key]) != shown
    ]


def another_answer(case: Case, said: Answer, say: Say) -> str | None:
    """Another answer of the same sort, which is wrong."""
    if said.sort in ("higher", "most"):
        return said.two[1][said.number is not None]
    if said.number is not None:
        return short(falsified(said, said.number + say.rng.choice((1, 3))))
    beside = things_beside(case, say)
    return beside[0].shown(case.attribute) if case.attribute is not None and beside else None


def said_of_day(said: Answer, say: Say, day: str) -> str:
    """A sentence that gives another day."""
    moved = replace(said, day=day)
    return say(replace(moved, value=f"{day_of(moved).day} {day_of(moved):%B %Y}"))
