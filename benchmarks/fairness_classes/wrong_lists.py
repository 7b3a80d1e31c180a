"""Wrong answers of those who opened a list without its filters or its order, or who read it from the wrong place."""

from __future__ import annotations

from dataclasses import replace

from fairness_classes.asked import Answer, about_target, falsified
from fairness_classes.case import Case, Query, Target
from fairness_classes.kinds_of_classes import Say, wrong_answer
from fairness_classes.saying import only_names

_MOST_NAMES = 8
"""Longer lists are not written out."""


def _first_of(case: Case, said: Answer, query: Query) -> Answer | None:
    """The value of the first thing of a list; None: it has the right value, or none."""
    first = Target(case.target.site, case.target.collection, query.found[0])
    if case.attribute is None or first.entity.values.get(case.attribute.key, "") == "":
        return None
    other = about_target(first, case.attribute, said)
    return None if other.value == said.value or other.thing == said.thing else other


@wrong_answer("value")
def the_first_of_the_list_without_its_filters(case: Case, said: Answer, say: Say) -> str | None:
    """The value of the first thing in the right order of all things, without the filters that are asked for."""
    if not case.targets or (described := case.target.described) is None or not described.constraints:
        return None
    other = _first_of(case, said, replace(described, constraints=()))
    return say(other) if other is not None else None


@wrong_answer("value")
def the_first_of_the_list_without_its_order(case: Case, said: Answer, say: Say) -> str | None:
    """The value of the thing on top of the right list, which was not put into order."""
    if not case.targets or (described := case.target.described) is None:
        return None
    other = _first_of(case, said, replace(described, sort=""))
    return say(other) if other is not None else None


@wrong_answer("count")
def conditions_joined_by_or(case: Case, said: Answer, say: Say) -> str | None:
    """How many things meet at least one of the conditions instead of all of them."""
    query = case.query
    if query is None or len(query.constraints) < 2:
        return None
    number = sum(any(each.holds(entity) for each in query.constraints) for entity in query.collection.entities)
    return say(falsified(said, number)) if number != said.number else None


def _names_of(query: Query, said: Answer, start: int = 0) -> tuple[tuple[str, str], ...]:
    """The names in a list from a place on, as many as are asked for; all of them where no order is asked for."""
    found = query.found[start : start + len(said.names)] if said.ordered else query.found
    return tuple((each.name, "") for each in found)


@wrong_answer("names")
def names_with_a_filter_missing(case: Case, said: Answer, say: Say) -> str | None:
    """The names of the list with one filter fewer."""
    query = case.query
    if query is None or not query.constraints:
        return None
    left = say.rng.choice(query.constraints)
    names = _names_of(replace(query, constraints=tuple(each for each in query.constraints if each is not left)), said)
    if {name for name, _ in names} == set(only_names(said)) or len(names) > _MOST_NAMES:
        return None
    return say(replace(said, names=names))


@wrong_answer("names")
def names_from_the_second_place_on(case: Case, said: Answer, say: Say) -> str | None:
    """As many names as are asked for, from the second of the list on."""
    if case.query is None or not said.ordered or len(case.query.found) <= len(said.names):
        return None
    return say(replace(said, names=_names_of(case.query, said, start=1)))
