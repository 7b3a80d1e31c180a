"""The half of the classes of `routes_searches.py` that is held back."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import SEARCHED, route
from fairness_classes.moves import browse_to, play_named, start_list, whole
from webdojo.sites.sized import SizedSite


@route(*SEARCHED)
def browses_the_whole_list(case: Case, visitor: Visitor) -> None:
    """Pages through the list of all things until the one that is named is there."""

    def find(visitor: Visitor, target: Target) -> None:
        start_list(visitor, whole(target))
        browse_to(visitor, target)

    play_named(case, visitor, find)


@route(*SEARCHED)
def browses_a_narrowed_list(case: Case, visitor: Visitor) -> None:
    """Narrows the list by something that is true of the thing, and pages through it until it is there."""

    def find(visitor: Visitor, target: Target) -> None:
        every = whole(target)
        start_list(visitor, every)
        for attribute in target.collection.attributes:
            fitting = [each for each in target.collection.constraints(attribute) if each.holds(target.entity)]
            if attribute.filter == "is" and attribute.key not in every.values and fitting:
                ((key, value),) = fitting[0].query.items()
                visitor.narrow(key, value)
                browse_to(visitor, target)
                return
        raise CannotGoError("there is no filter")

    play_named(case, visitor, find)


@route(*SEARCHED)
def browses_an_ordered_list(case: Case, visitor: Visitor) -> None:
    """Puts the list of all things into some order and pages through it until the named thing is there."""

    def find(visitor: Visitor, target: Target) -> None:
        orders = [attribute.key for attribute in target.collection.attributes if attribute.sort]
        if not orders:
            raise CannotGoError("there is no order")
        start_list(visitor, whole(target))
        visitor.narrow("sort", orders[-1])
        browse_to(visitor, target)

    play_named(case, visitor, find)


@route(*SEARCHED)
def comes_from_a_related_page(case: Case, visitor: Visitor) -> None:
    """Opens another thing and takes its link to the one that is named."""

    def find(visitor: Visitor, target: Target) -> None:
        site = target.site
        if not isinstance(site, SizedSite):
            raise CannotGoError("pages have no related things")
        for other in site.main.entities:
            if target.entity in site.related(other):
                visitor.search(other.name)
                visitor.open_path(Target(site, target.collection, other).path)
                return
        raise CannotGoError("nothing leads to it")

    play_named(case, visitor, find)


@route(*SEARCHED, "open_result")
def searches_for_something_else_first(case: Case, visitor: Visitor) -> None:
    """Opens another thing from a search by mistake, and then searches for the right one."""

    def find(visitor: Visitor, target: Target) -> None:
        other = next(each for each in target.collection.entities if each is not target.entity)
        visitor.search(other.name)
        visitor.open_path(Target(target.site, target.collection, other).path)
        visitor.search(target.entity.name)

    play_named(case, visitor, find)


@route("search")
def searches_in_small_letters(case: Case, visitor: Visitor) -> None:
    """Searches for the name in small letters, and that after another search."""
    visitor.search("small")
    visitor.search(case.plan[0]["text"].lower())
