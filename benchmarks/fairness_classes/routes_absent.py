"""Routes to seeing that something cannot be done."""

from __future__ import annotations

from fairness_visitor import Visitor

from fairness_classes.case import Case, missing_name
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import open_target, page_through


@route("missing")
def searches_for_half_of_the_name(case: Case, visitor: Visitor) -> None:
    """Searches for the first half of the name, looks through all results, and does not find it."""
    words = missing_name(case).split()
    visitor.search(" ".join(words[: (len(words) + 1) // 2]).strip("?!,:."))
    page_through(visitor)


@route("missing")
def searches_in_several_ways(case: Case, visitor: Visitor) -> None:
    """Searches for the whole name, for its first word, and looks through the first list; all in vain."""
    words = missing_name(case).split()
    visitor.search(missing_name(case))
    visitor.search(words[0].strip("?!,:."))
    visitor.open_path(f"/{case.site.main.slug}")


@route("refused")
def looks_at_others_of_the_kind(case: Case, visitor: Visitor) -> None:
    """Sees that it cannot be done, opens the list of such things, and answers there."""
    open_target(visitor, case.target)
    visitor.open_path(f"/{case.target.collection.slug}")
