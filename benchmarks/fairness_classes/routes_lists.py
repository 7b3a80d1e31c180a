"""Routes by lists: other filters, other orders, judging by eye."""

from __future__ import annotations

from urllib.parse import urlsplit

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Query, Target
from fairness_classes.kinds_of_classes import QUERIED, SEARCHED, route
from fairness_classes.moves import (
    as_planned,
    by_list,
    in_list,
    play,
    play_described,
    set_all,
    settings,
    start_list,
    to_the_end,
    without_one,
)


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


@route(*SEARCHED)
def opens_the_next_one_first(case: Case, visitor: Visitor) -> None:
    """Opens the second thing of the list as well, returns, and then opens the first."""

    def find(visitor: Visitor, target: Target) -> None:
        as_planned(visitor, target)
        others = [path for path in _paths(visitor, _described(target)) if path != target.path]
        if not others:
            raise CannotGoError("there is no other thing")
        visitor.open_path(others[0])
        visitor.back()

    play_described(case, visitor, find)


def _described(target: Target) -> Query:
    assert target.described is not None
    return target.described


@route(*SEARCHED)
def looks_at_the_thing_twice(case: Case, visitor: Visitor) -> None:
    """Opens the thing, goes back to the list, and opens it again."""

    def find(visitor: Visitor, target: Target) -> None:
        as_planned(visitor, target)
        visitor.open_path(target.path)
        visitor.back()

    play(case, visitor, find)


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


@route(*SEARCHED)
def tries_another_order_first(case: Case, visitor: Visitor) -> None:
    """Orders the list by something else, sees that it does not help, and orders it rightly."""

    def opened(visitor: Visitor, query: Query) -> None:
        orders = [a.key for a in query.collection.attributes if a.sort and a.key != query.sort]
        if not orders:
            raise CannotGoError("there is no other order")
        start_list(visitor, query)
        set_all(visitor, [*settings(query)[:-1], ("sort", orders[0]), ("sort", query.sort)])

    play_described(case, visitor, by_list(opened), opened)


@route(*SEARCHED, *QUERIED)
def takes_a_filter_back(case: Case, visitor: Visitor) -> None:
    """Narrows the list by one thing too much and takes that filter away again."""

    def opened(visitor: Visitor, query: Query) -> None:
        known = {key for key, _ in settings(query)}
        extra = [a for a in query.collection.attributes if a.filter and a.key not in (*known, *query.values)]
        if not extra or case.compact:
            raise CannotGoError("there is no further filter")
        start_list(visitor, query)
        (key, value), *_ = query.collection.constraints(extra[0])[0].query.items()
        set_all(visitor, [*settings(query), (key, value), (key, "")])

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


@route("narrow", "color", "under", "stock", "region", "category")
def looks_at_a_thing_of_the_list_and_returns(case: Case, visitor: Visitor) -> None:
    """Shows the right list, opens its first thing, and goes back to the list."""
    assert case.query is not None
    play(case, visitor)
    paths = _paths(visitor, case.query)
    if not paths:
        raise CannotGoError("the list is empty")
    visitor.open_path(paths[0])
    visitor.back()
