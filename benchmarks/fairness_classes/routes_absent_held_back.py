"""The half of the classes of `routes_absent.py` that is held back."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target, missing_name
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import listed_things, open_target, whole


@route("missing")
def searches_in_capitals_in_vain(case: Case, visitor: Visitor) -> None:
    """Searches for the name as it is and in capital letters, and finds nothing both times."""
    visitor.search(missing_name(case))
    visitor.search(missing_name(case).upper())


@route("missing")
def opens_an_existing_thing_after_the_search(case: Case, visitor: Visitor) -> None:
    """Searches in vain, opens a thing of the list to see whether the site works, and answers there."""
    visitor.search(missing_name(case))
    other = case.site.main.entities[0]
    visitor.search(other.name)
    target = Target(case.site, case.site.main, other)
    if target.path not in listed_things(visitor, whole(target)):
        raise CannotGoError("the search finds nothing")
    visitor.open_path(target.path)


@route("refused")
def looks_at_a_thing_that_allows_it(case: Case, visitor: Visitor) -> None:
    """Sees that it cannot be done, opens another thing to compare, and answers there."""
    open_target(visitor, case.target)
    other = next(each for each in case.target.collection.entities if each is not case.target.entity)
    open_target(visitor, Target(case.target.site, case.target.collection, other))
