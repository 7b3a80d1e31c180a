"""The half of the classes of `routes_counts.py` that is held back."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, query_of
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import listed_things, open_query, play, set_all, settings, start_list, to_the_end


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


@route("names")
def names_from_the_end_of_the_list(case: Case, visitor: Visitor) -> None:
    """Pages through the whole list before it answers, so it ends on the last page."""
    open_query(visitor, query_of(case))
    to_the_end(visitor)
    if not visitor.log[-1].startswith(("scrolls", "clicks")):
        raise CannotGoError("the list has one page")


@route("page")
def comes_from_a_thing_on_the_page(case: Case, visitor: Visitor) -> None:
    """Looks at a thing on the page that is asked for, and returns."""
    play(case, visitor)
    visitor.open_path(listed_things(visitor, query_of(case))[0])
    visitor.back()


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
