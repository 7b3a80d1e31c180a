"""The half of the classes of `wrong_guesses.py` that is held back."""

from __future__ import annotations

import random
from dataclasses import replace

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import ASKED, wrong_session
from fairness_classes.moves import listed_things, open_query, open_target, set_all, settings, start_list, visit_site


@wrong_session(*ASKED)
def closed_book_at_once(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Answers on the home page."""


@wrong_session(*ASKED)
def closed_book_after_another_section(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the last section of the site, and answers there."""
    *_, path = [path for _, path in case.site.sections() if not path.startswith("/do/")]
    visitor.open_path(path)


@wrong_session(*ASKED)
def closed_book_after_a_missing_page(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Types an address that does not exist, and answers there."""
    visitor.type_address("/answers")


@wrong_session("count", "names")
def closed_book_after_the_whole_list(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at the first page of the list without filters, and answers there."""
    assert case.query is not None
    if len(case.query.collection.entities) <= case.site.per_page:
        raise CannotGoError("the first page has all")
    start_list(visitor, case.query)


@wrong_session("count")
def guesses_with_a_filter_missing(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sets all filters but one, looks at the first page, and answers."""
    assert case.query is not None
    if len(settings(case.query)) < 2:
        raise CannotGoError("there is one filter")
    start_list(visitor, case.query)
    set_all(visitor, settings(case.query)[1:])


@wrong_session("report")
def guesses_after_one_of_several_months(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at the first of several months only."""
    months = case.steps("visit")
    if len(months) < 2:
        raise CannotGoError("there is one month")
    visitor.open_path("/reports")
    visitor.open_path(months[0]["path"])


@wrong_session("compare", "across")
def guesses_after_a_list_without_its_order(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the first of two things, and of the other's list the one on top, without putting it into order."""
    first, second = case.targets
    if second.described is None:
        raise CannotGoError("the second thing is named")
    open_target(visitor, first)
    visit_site(visitor, second)
    open_query(visitor, replace(second.described, sort=""))
    top = next(iter(listed_things(visitor, second.described)), second.path)
    if top == second.path:
        raise CannotGoError("the right one is on top")
    visitor.open_path(top)


@wrong_session("compare", "across")
def guesses_after_an_order_without_filters(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Puts the lists of both things into order, sets none of their filters, and opens what is on top."""
    if all(target.described is None for target in case.targets):
        raise CannotGoError("both things are named")
    for target in case.targets:
        if target.described is None:
            open_target(visitor, target)
            continue
        visit_site(visitor, target)
        open_query(visitor, replace(target.described, constraints=()))
        visitor.open_path(next(iter(listed_things(visitor, target.described)), target.path))
