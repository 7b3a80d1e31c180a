"""Routes that read the value somewhere else than on the thing's own page, or answer from somewhere else."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import ASKED, COMPARED, READ, route
from fairness_classes.moves import (
    as_planned,
    browse_to,
    in_list,
    only_looks,
    play,
    start_list,
    to_the_end,
    visit_site,
    whole,
)


@route(*READ)
def reads_the_value_in_the_list(case: Case, visitor: Visitor) -> None:
    """Reads the value in the ordered list, and opens no page."""
    only_looks(case, visitor, described=True)


@route(*COMPARED)
def compares_values_in_two_lists(case: Case, visitor: Visitor) -> None:
    """Reads both values in lists, and opens no page."""
    only_looks(case, visitor, described=True)


@route("compare", "price")
def reads_all_in_one_list(case: Case, visitor: Visitor) -> None:
    """Pages through one list to its end and reads there all that is needed."""
    if case.attribute is None or not case.attribute.listed or any(each.described for each in case.targets):
        raise CannotGoError("lists do not show the value")
    start_list(visitor, whole(case.target))
    to_the_end(visitor)


@route(*ASKED)
def answers_from_the_home_page(case: Case, visitor: Visitor) -> None:
    """Finds all out, goes home, and answers there."""
    play(case, visitor)
    visitor.home()


@route(*READ)
def reads_the_value_in_the_results(case: Case, visitor: Visitor) -> None:
    """Reads the value in the results of a search, and opens no page."""
    only_looks(case, visitor, described=False)


@route(*COMPARED)
def looks_at_the_second_thing_first(case: Case, visitor: Visitor) -> None:
    """Finds the things in the opposite order."""
    for target in reversed(case.targets):
        _open(visitor, target)


def _open(visitor: Visitor, target: Target) -> None:
    visit_site(visitor, target)
    if visitor.host == target.site.host:
        as_planned(visitor, target)
    visitor.open_path(target.path)


@route(*READ)
def reads_the_value_where_another_thing_shows_it(case: Case, visitor: Visitor) -> None:
    """Reads the value in a card of the thing on the way, such as a pick on the home page or a list that is browsed."""
    if case.attribute is None or not case.attribute.listed or case.target.described is not None:
        raise CannotGoError("lists do not show the value")
    if in_list(visitor, case.target):
        return
    start_list(visitor, whole(case.target))
    browse_to(visitor, case.target)
