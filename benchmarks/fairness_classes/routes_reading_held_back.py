"""The half of the classes of `routes_reading.py` that is held back."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import ASKED, COMPARED, READ, route
from fairness_classes.moves import as_planned, open_target, play, visit_site


@route(*ASKED)
def answers_after_a_search_for_something_else(case: Case, visitor: Visitor) -> None:
    """Finds all out, searches for something that has nothing to do with it, and answers there."""
    play(case, visitor)
    visitor.search("news")


@route(*ASKED)
def answers_from_a_missing_page(case: Case, visitor: Visitor) -> None:
    """Finds all out, follows a mistyped address to a missing page, and answers there."""
    play(case, visitor)
    visitor.type_address("/indx")


@route(*COMPARED)
def looks_at_a_third_thing_between(case: Case, visitor: Visitor) -> None:
    """Looks at a third thing between the two."""
    first, *others = case.targets
    open_target(visitor, first)
    known = {target.entity.slug for target in case.targets}
    third = next(each for each in first.collection.entities if each.slug not in known)
    open_target(visitor, Target(first.site, first.collection, third))
    for target in others:
        open_target(visitor, target)


@route(*COMPARED)
def reads_one_value_in_passing(case: Case, visitor: Visitor) -> None:
    """Reads the first value in a list or in results, and the second on the page of its thing."""
    if case.attribute is None or not case.attribute.listed:
        raise CannotGoError("lists do not show the value")
    first, *others = case.targets
    visit_site(visitor, first)
    as_planned(visitor, first)
    for target in others:
        open_target(visitor, target)


@route(*READ)
def returns_to_where_it_found_the_thing(case: Case, visitor: Visitor) -> None:
    """Reads the page, goes home, finds the thing again, and answers before it opens it."""
    play(case, visitor)
    visitor.home()
    as_planned(visitor, case.target)


@route()
def sends_an_empty_search_first(case: Case, visitor: Visitor) -> None:
    """Sends the search with nothing in it, goes home, and begins."""
    visitor.search("")
    visitor.home()
    play(case, visitor)


@route(*COMPARED, "add_two")
def goes_home_between_the_things(case: Case, visitor: Visitor) -> None:
    """Begins at the home page for each of the things."""

    def find(visitor: Visitor, target: Target) -> None:
        visitor.home()
        as_planned(visitor, target)

    play(case, visitor, find)
