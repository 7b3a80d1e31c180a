"""Routes to a thing by searches, by browsing, and by pages that happen to link to it."""

from __future__ import annotations

from collections import Counter

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import SEARCHED, route
from fairness_classes.moves import browse_to, play_named, start_list, whole
from webdojo.sites.sized import SizedSite


@route(*SEARCHED, "open_result")
def searches_for_the_rarest_word(case: Case, visitor: Visitor) -> None:
    """Searches for one word of the name and finds the thing among the results."""

    def find(visitor: Visitor, target: Target) -> None:
        names = [each.name.lower().split() for each in target.collection.entities]
        known = Counter(word for name in names for word in set(name))
        words = [word.strip("?!,:.") for word in target.entity.name.lower().split()]
        if len(words) < 2:
            raise CannotGoError("the name has one word")
        visitor.search(min(words, key=lambda word: known[word] or len(names)))
        browse_to(visitor, target)

    if case.family == "open_result" and "earch for" in case.task.instruction:
        raise CannotGoError("the instruction says what to search for")
    play_named(case, visitor, find)


@route(*SEARCHED, "open_result")
def searches_in_capitals(case: Case, visitor: Visitor) -> None:
    """Searches for the name in capital letters."""
    play_named(case, visitor, lambda visitor, target: visitor.search(target.entity.name.upper()))


@route(*SEARCHED)
def types_the_address_of_the_page(case: Case, visitor: Visitor) -> None:
    """Writes the address of the page by hand, as people do who see how a site spells its addresses."""

    def find(visitor: Visitor, target: Target) -> None:
        visitor.type_address(target.path)

    if case.family in ("menu", "partner"):
        raise CannotGoError("the instruction names another way")
    play_named(case, visitor, find)


@route("search")
def returns_to_the_results(case: Case, visitor: Visitor) -> None:
    """Returns to the results of the right search after a look at the home page."""
    visitor.search(case.plan[0]["text"])
    visitor.home()
    visitor.back()


@route(*SEARCHED)
def browses_the_whole_list(case: Case, visitor: Visitor) -> None:
    """Pages through the list of all things until the one that is named is there."""

    def find(visitor: Visitor, target: Target) -> None:
        start_list(visitor, whole(target))
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
