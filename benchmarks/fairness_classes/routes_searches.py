"""Routes to a thing by searches, by browsing, and by pages that happen to link to it."""

from __future__ import annotations

from collections import Counter

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import SEARCHED, route
from fairness_classes.moves import as_planned, browse_to, play_described, play_named


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
def searches_for_the_first_words(case: Case, visitor: Visitor) -> None:
    """Searches for the first half of the name."""

    def find(visitor: Visitor, target: Target) -> None:
        words = target.entity.name.split()
        if len(words) < 3:
            raise CannotGoError("the name is short")
        visitor.search(" ".join(words[: (len(words) + 1) // 2]).strip("?!,:."))
        browse_to(visitor, target)

    if case.family == "open_result" and "earch for" in case.task.instruction:
        raise CannotGoError("the instruction says what to search for")
    play_named(case, visitor, find)


@route(*SEARCHED, "open_result")
def mistypes_the_search_first(case: Case, visitor: Visitor) -> None:
    """Searches with a slip of the finger, finds nothing, and searches again."""

    def find(visitor: Visitor, target: Target) -> None:
        name = target.entity.name
        visitor.search(f"{name[:-2]}{name[-1]}{name[-2]}x")
        visitor.search(name)

    play_named(case, visitor, find)


@route(*SEARCHED, "open_result")
def searches_in_capitals(case: Case, visitor: Visitor) -> None:
    """Searches for the name in capital letters."""
    play_named(case, visitor, lambda visitor, target: visitor.search(target.entity.name.upper()))


@route(*SEARCHED)
def searches_for_what_the_list_named(case: Case, visitor: Visitor) -> None:
    """Reads in the list which thing comes first, and opens it by a search for its name."""

    def find(visitor: Visitor, target: Target) -> None:
        as_planned(visitor, target)
        visitor.search(target.entity.name)

    play_described(case, visitor, find)


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
