"""Right answers of sessions that never saw them."""

from __future__ import annotations

import random
from dataclasses import replace

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target, query_of
from fairness_classes.kinds_of_classes import ASKED, READ, wrong_session
from fairness_classes.moves import (
    as_planned,
    listed_things,
    open_query,
    open_target,
    set_all,
    settings,
    start_list,
    visit_site,
)


@wrong_session(*ASKED)
def closed_book_after_other_things(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens two other things, and answers there."""
    main = case.site.main
    wanted = {target.entity.slug for target in case.targets}
    for other in rng.sample([each for each in main.entities if each.slug not in wanted], 2):
        open_target(visitor, Target(case.site, main, other))


@wrong_session(*READ, "compare", "across", "refused")
def closed_book_after_a_search(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Finds the thing in a list or in results that do not show the value, and does not open it."""
    for target in case.targets:
        visit_site(visitor, target)
        as_planned(visitor, target)


@wrong_session("compare", "across", "corners")
def guesses_after_one_of_two(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at one of two things only."""
    if case.family == "corners":
        visitor.open_path("/map")
        visitor.click_marker(case.target.entity.slug)
        return
    open_target(visitor, case.target)


@wrong_session(*ASKED)
def closed_book_at_once(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Answers on the home page."""


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


@wrong_session("count")
def guesses_after_a_wrong_filter(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sets one filter to another value, and answers."""
    query = query_of(case)
    *kept, last = query.constraints
    others = [each for each in query.collection.constraints(last.attribute) if each.query != last.query]
    if not others:
        raise CannotGoError("no filter has another value")
    open_query(visitor, replace(query, constraints=(*kept, rng.choice(others))))
