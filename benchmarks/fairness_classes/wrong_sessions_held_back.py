"""The half of the classes of `wrong_sessions.py` that is held back."""

from __future__ import annotations

import random

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target, query_of
from fairness_classes.kinds_of_classes import NARROWED, OPENED, wrong_session
from fairness_classes.moves import open_described, open_target, play


@wrong_session(*OPENED)
def returns_from_the_page_that_it_opened(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the thing, and returns to the list by the browser's button."""
    play(case, visitor)
    visitor.back()


@wrong_session("cheapest", "oldest", "oldest_region")
def opens_the_last_of_the_list(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the thing with the highest value instead of the lowest."""
    described = case.target.described
    if described is None or len(described.found) < 2:
        raise CannotGoError("the list has one thing")
    open_target(visitor, Target(case.target.site, case.target.collection, described.found[-1]))


@wrong_session("search")
def searches_for_one_word_only(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Searches for the first word where several are asked for."""
    words = case.plan[0]["text"].split()
    if len(words) < 2:
        raise CannotGoError("one word is asked for")
    visitor.search(words[0])


@wrong_session("search")
def leaves_the_results(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Searches rightly, and goes home."""
    visitor.search(case.plan[0]["text"])
    visitor.home()


@wrong_session("page")
def goes_one_page_too_far(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Ends on the page after the right one."""
    play(case, visitor)
    if not visitor.more():
        raise CannotGoError("the list has ended")


@wrong_session("cart")
def leaves_the_cart(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the cart, and goes home."""
    visitor.open_path("/cart")
    visitor.home()


@wrong_session("category")
def opens_a_thing_of_the_section(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the section, and then a thing in it."""
    query = query_of(case)
    play(case, visitor)
    visitor.open_path(Target(query.site, query.collection, query.found[0]).path)


@wrong_session(*NARROWED)
def searches_instead_of_setting_filters(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Searches for the value of a filter, and ends on the results."""
    visitor.search(str(query_of(case).constraints[0].value))


@wrong_session("located")
def stays_on_the_locator(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the locator, and does not use it."""
    visitor.open_path("/find")


@wrong_session("partner")
def stays_on_the_article(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the article, and no offer."""
    open_target(visitor, case.target)


@wrong_session("on_map", "corner")
def clicks_no_marker(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the map, and clicks no marker."""
    open_described(case, visitor)
    visitor.open_path("/map")


@wrong_session("from_map", "corner_page")
def stays_on_the_map(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the card on the map, and not the page."""
    open_described(case, visitor)
    visitor.open_path("/map")
    for target in case.targets:
        visitor.click_marker(target.entity.slug)


@wrong_session("on_map", "corner")
def leaves_the_map(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the right card, and goes home."""
    play(case, visitor)
    visitor.home()
