"""The half of the classes of `routes_counts.py` that is held back."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, query_of
from fairness_classes.kinds_of_classes import NARROWED, OPENED, route
from fairness_classes.moves import go_on, list_path, play, settings, start_list
from webdojo.sites.site import href


@route("count", "names")
def begins_with_the_whole_list(case: Case, visitor: Visitor) -> None:
    """Looks at two pages of the whole list, goes home, and then narrows it."""
    start_list(visitor, query_of(case))
    go_on(visitor)
    visitor.home()
    play(case, visitor)


@route("count", "names")
def pages_on_and_returns(case: Case, visitor: Visitor) -> None:
    """Goes on to the second page of the narrowed list, and returns to the first."""
    play(case, visitor)
    go_on(visitor)
    visitor.back()


@route("count")
def types_the_numbers_of_pages(case: Case, visitor: Visitor) -> None:
    """Narrows the list, and writes the number of each further page into the address."""
    query = query_of(case)
    play(case, visitor)
    pages = -(-len(query.found) // case.site.per_page)
    if pages < 2:
        raise CannotGoError("the list has one page")
    for page in range(2, pages + 1):
        visitor.type_address(href(list_path(query), **dict(settings(query)), page=page))


@route("page")
def types_the_number_of_the_page(case: Case, visitor: Visitor) -> None:
    """Opens the list, and writes the number of the page into the address."""
    query = query_of(case)
    start_list(visitor, query)
    visitor.type_address(href(list_path(query), **dict(settings(query)), page=query.page))


@route("category")
def comes_from_another_section(case: Case, visitor: Visitor) -> None:
    """Opens another section of the navigation first, and then the right one."""
    path = list_path(query_of(case))
    others = [link for link in visitor.links if ("/c/" in link.url or "/t/" in link.url) and path not in link.url]
    if not others:
        raise CannotGoError("there is no other section")
    visitor.follow(others[0])
    start_list(visitor, query_of(case))


@route("category", "page", "cart", "located", *NARROWED, *OPENED)
def goes_home_and_returns_by_the_button(case: Case, visitor: Visitor) -> None:
    """Is where it should be, goes home, and returns by the browser's button."""
    play(case, visitor)
    visitor.home()
    visitor.back()
