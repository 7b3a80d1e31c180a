"""The half of the classes of `routes_searches.py` that is held back."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor, address

from fairness_classes.case import Case, Target
from fairness_classes.kinds_of_classes import SEARCHED, route
from fairness_classes.moves import browse_to, listed_things, play_named, whole


@route(*SEARCHED)
def searches_for_the_last_words(case: Case, visitor: Visitor) -> None:
    """Searches for the second half of the name."""

    def find(visitor: Visitor, target: Target) -> None:
        words = target.entity.name.split()
        if len(words) < 3:
            raise CannotGoError("the name is short")
        visitor.search(" ".join(words[len(words) // 2 :]).strip("?!,:."))
        browse_to(visitor, target)

    play_named(case, visitor, find)


@route(*SEARCHED)
def searches_for_the_beginning_of_the_name(case: Case, visitor: Visitor) -> None:
    """Types the name but for its last letters, and takes what comes up."""

    def find(visitor: Visitor, target: Target) -> None:
        visitor.search(target.entity.name[:-2])
        browse_to(visitor, target)

    play_named(case, visitor, find)


@route(*SEARCHED, "open_result")
def searches_with_spaces_around(case: Case, visitor: Visitor) -> None:
    """Searches for the name with spaces around it, as copied text has them."""
    play_named(case, visitor, lambda visitor, target: visitor.search(f" {target.entity.name}  "))


@route(*SEARCHED, "open_result")
def searches_twice_for_the_same(case: Case, visitor: Visitor) -> None:
    """Searches for the name, goes home, and searches for it again."""

    def find(visitor: Visitor, target: Target) -> None:
        visitor.search(target.entity.name)
        visitor.home()
        visitor.search(target.entity.name)

    play_named(case, visitor, find)


@route(*SEARCHED)
def opens_a_wrong_result_first(case: Case, visitor: Visitor) -> None:
    """Opens another result of a search for the first word, returns to the results, and opens the right one."""

    def find(visitor: Visitor, target: Target) -> None:
        visitor.search(target.entity.name.split()[0].strip("?!,:."))
        others = [path for path in listed_things(visitor, whole(target)) if path != target.path]
        if not others:
            raise CannotGoError("there is no other result")
        visitor.open_path(others[0])
        visitor.back()
        browse_to(visitor, target)

    play_named(case, visitor, find)


@route("search")
def opens_a_result_and_returns(case: Case, visitor: Visitor) -> None:
    """Opens a thing of the results, and returns to the results."""
    visitor.search(case.plan[0]["text"])
    found = [thing for thing in visitor.things() if visitor.has_path(address(thing.url))]
    if not found:
        raise CannotGoError("nothing is found")
    visitor.open_path(address(found[0].url))
    visitor.back()
