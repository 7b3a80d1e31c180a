"""Routes by lists: other filters, other orders, judging by eye."""

from __future__ import annotations

from urllib.parse import urlsplit

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Query, Target
from fairness_classes.kinds_of_classes import QUERIED, SEARCHED, route
from fairness_classes.moves import (
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
    to_the_end,
    without_one,
)
from webdojo.sites.site import href


@route(*SEARCHED)
def picks_by_eye_from_unordered_list(case: Case, visitor: Visitor) -> None:
    """Sets the filters but no order, pages through the whole list, and picks the lowest value by eye."""

    def find(visitor: Visitor, target: Target) -> None:
        assert target.described is not None
        if not target.collection.by_key[target.described.sort].listed:
            raise CannotGoError("lists do not show what they are ordered by")
        start_list(visitor, target.described)
        set_all(visitor, [each for each in settings(target.described) if each[0] != "sort"])
        to_the_end(visitor)
        while not in_list(visitor, target):
            visitor.back()

    play_described(case, visitor, find)


@route(*SEARCHED)
def opens_candidates_for_a_filter_left_out(case: Case, visitor: Visitor) -> None:
    """Orders the list without a filter whose values only pages show, and opens things in turn until one fits."""

    def find(visitor: Visitor, target: Target) -> None:
        assert target.described is not None
        without_one(visitor, target.described, listed=False)
        for path in _paths(visitor, target.described)[:6]:
            visitor.open_path(path)
            if urlsplit(visitor.url).path == target.path:
                visitor.back()
                return
            visitor.back()
        raise CannotGoError("too many candidates for a person")

    play_described(case, visitor, find)


def _paths(visitor: Visitor, query: Query) -> list[str]:
    found = [thing.url for thing in visitor.things()]
    return [urlsplit(url).path for url in found if urlsplit(url).path.count("/") == 2]


@route(*SEARCHED, *QUERIED)
def sets_the_filters_in_reverse(case: Case, visitor: Visitor) -> None:
    """Sets the controls of the list from the last to the first."""

    def opened(visitor: Visitor, query: Query) -> None:
        if len(settings(query)) < 2:
            raise CannotGoError("there are too few controls to set")
        start_list(visitor, query)
        set_all(visitor, list(reversed(settings(query))))

    play_described(case, visitor, by_list(opened), opened)


@route(*SEARCHED, *QUERIED)
def corrects_a_wrong_filter(case: Case, visitor: Visitor) -> None:
    """Sets a filter to a wrong value by mistake and corrects it before going on."""

    def opened(visitor: Visitor, query: Query) -> None:
        start_list(visitor, query)
        by_key = query.collection.by_key
        for key, value in settings(query):
            offered = query.collection.constraints(by_key[key]) if key in by_key else []
            others = [text for each in offered for text in each.query.values() if text != value]
            if others:
                visitor.narrow(key, others[0])
                set_all(visitor, settings(query))
                return
        raise CannotGoError("there is no filter with another value")

    play_described(case, visitor, by_list(opened), opened)


@route("narrow", "color", "under", "stock", "region")
def orders_the_narrowed_list(case: Case, visitor: Visitor) -> None:
    """Shows the right list in an order that nobody asked for."""
    assert case.query is not None
    orders = [a.key for a in case.query.collection.attributes if a.sort]
    if not orders:
        raise CannotGoError("there is no order")
    play(case, visitor)
    visitor.narrow("sort", orders[0])


@route(*SEARCHED)
def leaves_out_a_filter_that_lists_show(case: Case, visitor: Visitor) -> None:
    """Orders the list with one filter fewer and takes the first thing that fits by what the list says of it."""

    def find(visitor: Visitor, target: Target) -> None:
        assert target.described is not None
        without_one(visitor, target.described, listed=True)
        browse_to(visitor, target)

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
