"""The half of the classes of `routes_lists.py` that is held back."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Query, Target
from fairness_classes.kinds_of_classes import QUERIED, SEARCHED, route
from fairness_classes.moves import (
    as_planned,
    browse_to,
    by_list,
    go_on,
    in_list,
    list_path,
    play,
    play_described,
    set_all,
    settings,
    start_list,
    without_one,
)
from webdojo.sites.site import href


@route(*SEARCHED)
def leaves_out_a_filter_that_lists_show(case: Case, visitor: Visitor) -> None:
    """Orders the list with one filter fewer and takes the first thing that fits by what the list says of it."""

    def find(visitor: Visitor, target: Target) -> None:
        assert target.described is not None
        without_one(visitor, target.described, listed=True)
        browse_to(visitor, target)

    play_described(case, visitor, find)


@route(*SEARCHED, *QUERIED)
def sets_the_order_before_the_filters(case: Case, visitor: Visitor) -> None:
    """Orders the list first and narrows it afterwards."""

    def opened(visitor: Visitor, query: Query) -> None:
        wanted = settings(query)
        if wanted[-1][0] != "sort" or len(wanted) < 2:
            raise CannotGoError("there is no order or no filter")
        start_list(visitor, query)
        set_all(visitor, [wanted[-1], *wanted[:-1]])

    play_described(case, visitor, by_list(opened), opened)


@route(*SEARCHED)
def looks_at_the_next_page_and_returns(case: Case, visitor: Visitor) -> None:
    """Goes on to the second page of the list to be sure, and returns to the first."""

    def find(visitor: Visitor, target: Target) -> None:
        as_planned(visitor, target)
        go_on(visitor)
        while not in_list(visitor, target):
            visitor.back()

    play_described(case, visitor, find)


@route(*SEARCHED, *QUERIED)
def types_the_address_of_the_list(case: Case, visitor: Visitor) -> None:
    """Writes the address of the narrowed list by hand, as people do who know how a site spells its filters."""

    def opened(visitor: Visitor, query: Query) -> None:
        visitor.type_address(href(list_path(query), **dict(settings(query))))

    play_described(case, visitor, by_list(opened), opened)


@route(*SEARCHED, *QUERIED)
def begins_with_a_link_to_a_narrowed_list(case: Case, visitor: Visitor) -> None:
    """Takes a link of the navigation that leads to a list with one filter, such as a folder, and sets the others."""

    def opened(visitor: Visitor, query: Query) -> None:
        for key, value in settings(query):
            path = href(list_path(query), **{key: value})
            if visitor.has_path(path):
                visitor.open_path(path)
                set_all(visitor, [each for each in settings(query) if each != (key, value)])
                return
        raise CannotGoError("the navigation has no such link")

    play_described(case, visitor, by_list(opened), opened)


@route("narrow", "color", "under", "stock", "region")
def ends_on_the_second_page(case: Case, visitor: Visitor) -> None:
    """Shows the right list and goes on to its second page."""
    play(case, visitor)
    go_on(visitor)
