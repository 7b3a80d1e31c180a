"""Routes to numbers and names of things: paging, judging by eye, counting in parts."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, query_of
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import listed_things, play, set_all, settings, start_list, to_the_end


@route("count")
def counts_by_paging_through(case: Case, visitor: Visitor) -> None:
    """Pages through the whole list and counts, so it ends on the last page."""
    play(case, visitor)
    to_the_end(visitor)


@route("count", "names")
def counts_in_an_ordered_list(case: Case, visitor: Visitor) -> None:
    """Puts the narrowed list into an order that nobody asked for."""
    query = query_of(case)
    orders = [a.key for a in query.collection.attributes if a.sort and a.key != query.sort]
    if not orders or query.sort:
        raise CannotGoError("there is no order")
    play(case, visitor)
    visitor.narrow("sort", orders[0])
    to_the_end(visitor)


@route("count")
def counts_twice_over(case: Case, visitor: Visitor) -> None:
    """Counts, takes all filters away to compare with the whole, and answers there."""
    play(case, visitor)
    for key, _ in settings(query_of(case)):
        visitor.narrow(key, "")


@route("names")
def orders_names_by_eye(case: Case, visitor: Visitor) -> None:
    """Sets the filters but no order, pages through the list, and puts the things in order by eye."""
    query = query_of(case)
    if not query.sort or not query.collection.by_key[query.sort].listed:
        raise CannotGoError("lists do not show what they are ordered by")
    start_list(visitor, query)
    set_all(visitor, settings(query)[:-1])
    to_the_end(visitor)


@route("count", "names")
def answers_after_opening_a_thing(case: Case, visitor: Visitor) -> None:
    """Opens the first thing of the list before it answers."""
    query = query_of(case)
    play(case, visitor)
    if case.family == "names":
        to_the_end(visitor)
    paths = listed_things(visitor, query)
    if not paths:
        raise CannotGoError("the list is empty")
    visitor.open_path(paths[-1])


@route("page")
def goes_too_far_and_turns_back(case: Case, visitor: Visitor) -> None:
    """Goes one page too far in the list, and returns by the browser's button."""
    play(case, visitor)
    if not visitor.more():
        raise CannotGoError("the list has ended")
    visitor.back()
