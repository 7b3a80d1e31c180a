"""Routes that read the value somewhere else than on the thing's own page, or answer from somewhere else."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import ASKED, COMPARED, READ, route
from fairness_classes.moves import only_looks, play, start_list, to_the_end, whole


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


@route(*ASKED)
def answers_after_a_step_back(case: Case, visitor: Visitor) -> None:
    """Finds all out, goes back one page, and answers there."""
    play(case, visitor)
    visitor.back()


@route("across")
def returns_to_the_first_site(case: Case, visitor: Visitor) -> None:
    """Looks at both sites and answers on the first."""
    play(case, visitor)
    visitor.type_address(case.task.start_url)
