"""The half of the classes of `routes_absent.py` that is held back."""

from __future__ import annotations

from fairness_visitor import Visitor

from fairness_classes.case import Case, missing_name
from fairness_classes.evidence import where_it_would_be
from fairness_classes.kinds_of_classes import route
from fairness_classes.moves import open_target, page_through


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


@route("refused")
def looks_twice_whether_it_is_refused(case: Case, visitor: Visitor) -> None:
    """Opens the thing, sees that it cannot be done, goes home, and looks once more."""
    open_target(visitor, case.target)
    visitor.home()
    open_target(visitor, case.target)
