"""Routes to seeing that something cannot be done."""

from __future__ import annotations

from fairness_visitor import Visitor

from fairness_classes.case import Case, missing_name
from fairness_classes.evidence import where_it_would_be
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import open_target, page_through


@route("refused")
def looks_at_others_of_the_kind(case: Case, visitor: Visitor) -> None:
    """Sees that it cannot be done, opens the list of such things, and answers there."""
    open_target(visitor, case.target)
    visitor.open_path(f"/{case.target.collection.slug}")


@route("missing")
def browses_all_and_finds_nothing(case: Case, visitor: Visitor) -> None:
    """Pages through the whole list where the thing would be, and does not find it."""
    visitor.open_path(f"/{where_it_would_be(case.site, missing_name(case)).slug}")
    page_through(visitor)


@route("missing")
def searches_for_one_word_and_finds_only_others(case: Case, visitor: Visitor) -> None:
    """Searches for the last word of the name, looks through all results, and does not find it."""
    visitor.search(missing_name(case).split()[-1].strip("?!,:."))
    page_through(visitor)
