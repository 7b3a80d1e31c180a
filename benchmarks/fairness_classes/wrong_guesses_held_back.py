"""The half of the classes of `wrong_guesses.py` that is held back."""

from __future__ import annotations

import random

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case
from fairness_classes.kinds_of_classes import ASKED, wrong_session
from fairness_classes.moves import open_target, set_all, settings, start_list


@wrong_session(*ASKED)
def closed_book_at_once(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Answers on the home page."""


@wrong_session(*ASKED)
def closed_book_after_another_section(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the last section of the site, and answers there."""
    *_, path = [path for _, path in case.site.sections() if not path.startswith("/do/")]
    visitor.open_path(path)


@wrong_session(*ASKED)
def closed_book_after_a_missing_page(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Types an address that does not exist, and answers there."""
    visitor.type_address("/answers")


@wrong_session("count", "names")
def closed_book_after_the_whole_list(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at the first page of the list without filters, and answers there."""
    assert case.query is not None
    if len(case.query.collection.entities) <= case.site.per_page:
        raise CannotGoError("the first page has all")
    start_list(visitor, case.query)


@wrong_session("compare", "across", "corners")
def guesses_after_one_of_two(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at one of two things only."""
    if case.family == "corners":
        visitor.open_path("/map")
        visitor.click_marker(case.target.entity.slug)
        return
    open_target(visitor, case.target)


@wrong_session("count")
def guesses_with_a_filter_missing(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sets all filters but one, looks at the first page, and answers."""
    assert case.query is not None
    if len(settings(case.query)) < 2:
        raise CannotGoError("there is one filter")
    start_list(visitor, case.query)
    set_all(visitor, settings(case.query)[1:])


@wrong_session("report")
def guesses_after_one_of_several_months(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at the first of several months only."""
    months = case.steps("visit")
    if len(months) < 2:
        raise CannotGoError("there is one month")
    visitor.open_path("/reports")
    visitor.open_path(months[0]["path"])
