"""The half of the classes of `routes_lists.py` that is held back."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Query, Target
from fairness_classes.kinds_of_classes import QUERIED, SEARCHED, route
from fairness_classes.moves import as_planned, by_list, open_query, play_described, set_all, settings, start_list


@route(*SEARCHED, *QUERIED)
def loses_the_filters_and_sets_them_again(case: Case, visitor: Visitor) -> None:
    """Narrows the list, goes home, and has to set all controls once more."""

    def opened(visitor: Visitor, query: Query) -> None:
        open_query(visitor, query)
        visitor.home()
        open_query(visitor, query)

    play_described(case, visitor, by_list(opened), opened)


@route(*SEARCHED, *QUERIED)
def undoes_a_filter_by_the_button(case: Case, visitor: Visitor) -> None:
    """Narrows the list by one thing too much, and returns by the browser's button."""

    def opened(visitor: Visitor, query: Query) -> None:
        known = {key for key, _ in settings(query)}
        extra = [a for a in query.collection.attributes if a.filter and a.key not in (*known, *query.values)]
        if not extra or case.compact:
            raise CannotGoError("there is no further filter")
        open_query(visitor, query)
        ((key, value),) = query.collection.constraints(extra[0])[0].query.items()
        visitor.narrow(key, value)
        visitor.back()

    play_described(case, visitor, by_list(opened), opened)


@route(*SEARCHED, *QUERIED)
def comes_to_the_list_from_a_thing(case: Case, visitor: Visitor) -> None:
    """Opens a thing from a search, goes up to the list from there, and narrows it."""

    def opened(visitor: Visitor, query: Query) -> None:
        first = query.collection.entities[0]
        visitor.search(first.name)
        visitor.open_path(Target(query.site, query.collection, first).path)
        start_list(visitor, query)
        set_all(visitor, settings(query))

    play_described(case, visitor, by_list(opened), opened)


@route(*SEARCHED)
def types_the_address_of_what_the_list_named(case: Case, visitor: Visitor) -> None:
    """Reads in the list which thing comes first, and writes the address of its page by hand."""

    def find(visitor: Visitor, target: Target) -> None:
        as_planned(visitor, target)
        visitor.type_address(target.path)

    if case.family == "menu":
        raise CannotGoError("the menu is in the list")
    play_described(case, visitor, find)


@route(*SEARCHED, *QUERIED)
def sets_each_filter_twice(case: Case, visitor: Visitor) -> None:
    """Sets each control, takes it away, and sets it again, since it is not sure that it worked."""

    def opened(visitor: Visitor, query: Query) -> None:
        start_list(visitor, query)
        for key, value in settings(query):
            set_all(visitor, [(key, value), (key, ""), (key, value)])

    play_described(case, visitor, by_list(opened), opened)


@route(*SEARCHED, *QUERIED)
def looks_into_another_list_first(case: Case, visitor: Visitor) -> None:
    """Opens the list of another collection by mistake, and then the right one."""

    def opened(visitor: Visitor, query: Query) -> None:
        others = [each for each in query.site.collections.values() if each is not query.collection]
        fitting = [f"/{each.slug}" for each in others if visitor.has_path(f"/{each.slug}")]
        if not fitting:
            raise CannotGoError("there is no other list")
        visitor.open_path(fitting[0])
        open_query(visitor, query)

    play_described(case, visitor, by_list(opened), opened)
