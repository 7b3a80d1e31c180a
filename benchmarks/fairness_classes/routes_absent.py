"""Routes to seeing that something cannot be done."""

from __future__ import annotations

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import MOST_PAGES, open_target


def _wanted(case: Case) -> str:
    return str(case.plan[0]["text"])


def _all(visitor: Visitor) -> None:
    for _ in range(MOST_PAGES):
        if not visitor.more():
            return
    raise CannotGoError("the list is too long for a person")


@route("missing")
def searches_for_half_of_the_name(case: Case, visitor: Visitor) -> None:
    """Searches for the first half of the name, looks through all results, and does not find it."""
    words = _wanted(case).split()
    visitor.search(" ".join(words[: (len(words) + 1) // 2]).strip("?!,:."))
    _all(visitor)


@route("missing")
def searches_in_several_ways(case: Case, visitor: Visitor) -> None:
    """Searches for the whole name, for its first word, and looks through the first list; all in vain."""
    words = _wanted(case).split()
    visitor.search(_wanted(case))
    visitor.search(words[0].strip("?!,:."))
    visitor.open_path(f"/{case.site.main.slug}")


@route("refused")
def looks_at_others_of_the_kind(case: Case, visitor: Visitor) -> None:
    """Sees that it cannot be done, opens the list of such things, and answers there."""
    open_target(visitor, case.target)
    visitor.open_path(f"/{case.target.collection.slug}")
