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


@route("names")
def orders_names_by_eye(case: Case, visitor: Visitor) -> None:
    """Sets the filters but no order, pages through the list, and puts the things in order by eye."""
    query = query_of(case)
    if not query.sort or not query.collection.by_key[query.sort].listed:
        raise CannotGoError("lists do not show what they are ordered by")
    start_list(visitor, query)
    set_all(visitor, settings(query)[:-1])
    to_the_end(visitor)


@route("page")
def goes_too_far_and_turns_back(case: Case, visitor: Visitor) -> None:
    """Goes one page too far in the list, and returns by the browser's button."""
    play(case, visitor)
    if not visitor.more():
        raise CannotGoError("the list has ended")
    visitor.back()


@route("count", "names")
def judges_one_filter_by_eye(case: Case, visitor: Visitor) -> None:
    """Leaves out a filter whose values lists show, pages through the list, and judges by eye."""
    query = query_of(case)
    by_key = query.collection.by_key
    listed = [key for key, _ in settings(query) if key in by_key and by_key[key].listed]
    if not listed:
        raise CannotGoError("lists do not show what is filtered by")
    start_list(visitor, query)
    set_all(visitor, [each for each in settings(query) if each[0] != listed[0]])
    to_the_end(visitor)


@route("count")
def counts_in_parts(case: Case, visitor: Visitor) -> None:
    """Looks how many there are of each value of a further filter, and adds them up."""
    query = query_of(case)
    parts = [a for a in query.collection.attributes if a.filter == "is" and a.key not in query.values]
    fitting = [a for a in parts if 1 < len(query.collection.constraints(a)) <= 6]
    if not fitting:
        raise CannotGoError("there is no such filter")
    play(case, visitor)
    visitor.home()
    start_list(visitor, query)
    offered = query.collection.constraints(fitting[0])
    first = settings(query)
    set_all(visitor, [(key, value) for key, value in offered[0].query.items()])
    set_all(visitor, first)
    for constraint in offered[1:]:
        set_all(visitor, [(key, value) for key, value in constraint.query.items()])


@route("names")
def opens_each_of_the_things(case: Case, visitor: Visitor) -> None:
    """Opens the page of each thing that it names, and answers on the last of them."""
    query = query_of(case)
    play(case, visitor)
    paths = listed_things(visitor, query)[: len(case.names)]
    if len(paths) < len(case.names):
        to_the_end(visitor)
        return
    for path in paths:
        visitor.open_path(path)
        visitor.back()
    visitor.open_path(paths[-1])


@route("category")
def comes_from_a_thing_of_the_section(case: Case, visitor: Visitor) -> None:
    """Opens a thing of the section from a search, and takes its link up to the section."""
    query = query_of(case)
    visitor.search(query.found[0].name)
    visitor.open_path(listed_things(visitor, query)[0])
    start_list(visitor, query)


@route("cart")
def opens_the_cart_from_a_thing(case: Case, visitor: Visitor) -> None:
    """Opens a thing of the shop first, and then the cart."""
    visitor.search(case.site.main.entities[0].name)
    visitor.open_path(f"/p/{case.site.main.entities[0].slug}")
    visitor.open_path("/cart")
