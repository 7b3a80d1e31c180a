"""The half of the classes of `wrong_sessions.py` that is held back."""

from __future__ import annotations

import random
from dataclasses import replace

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, query_of
from fairness_classes.kinds_of_classes import NARROWED, OPENED, QUERIED, wrong_session
from fairness_classes.moves import (
    as_planned,
    list_path,
    located,
    open_query,
    open_target,
    opens_another,
    play,
)


@wrong_session(*OPENED)
def stops_at_the_list(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Finds the thing in a list, and does not open it."""
    as_planned(visitor, case.target)


@wrong_session(*OPENED)
def opens_two_and_ends_on_the_wrong_one(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the right thing and then another one."""
    play(case, visitor)
    opens_another(case, visitor)


@wrong_session("category", "page")
def shows_another_section(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens another section."""
    path = list_path(query_of(case))
    others = [link for link in visitor.links if "/c/" in link.url or "/t/" in link.url]
    visitor.follow(next(link for link in others if not link.url.endswith(path)))


@wrong_session(*NARROWED)
def leaves_a_filter_out(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sets one filter too few."""
    query = query_of(case)
    wider = [
        replace(query, constraints=tuple(each for each in query.constraints if each is not left))
        for left in query.constraints
        if not (case.compact and left.attribute.key in ("category", "topic"))
    ]
    others = [each for each in wider if len(each.found) > len(query.found)]
    if not others:
        raise CannotGoError("each filter is superfluous")
    open_query(visitor, rng.choice(others))


@wrong_session("located")
def locates_too_much(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sends the locator as it stands."""
    assert located(case)
    visitor.open_path("/find")
    visitor.locate({})


@wrong_session("partner")
def types_the_address_of_the_offer(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Types the address of the offer, though the box on a page is asked for."""
    open_target(visitor, case.target)
    visitor.type_address(case.targets[1].site.url(case.targets[1].path))


@wrong_session("partner")
def takes_another_offer(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens another offer of the box."""
    open_target(visitor, case.target)
    offers = [link for part in visitor.page.parts for link in part.links]
    visitor.follow(next(link for link in offers if not link.url.endswith(case.targets[1].path)))


@wrong_session("on_map", "corner")
def types_the_address_of_the_card(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Types the address of the card, though the map is asked for."""
    for target in case.targets:
        if target.described is not None:
            open_target(visitor, target)
    visitor.type_address(f"/map/card/{case.target.entity.slug}")


@wrong_session("on_map", "corner")
def shows_the_page_instead_of_the_map(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the page of the place, though the map is asked for."""
    open_target(visitor, case.target)


@wrong_session("on_map", "corner")
def ends_on_another_marker(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Clicks the right marker and then another one."""
    play(case, visitor)
    others = [node.get("data-marker") for node in visitor.page.root.has("data-marker")]
    visitor.click_marker(next(each for each in others if each != case.target.entity.slug))


@wrong_session("from_map", "corner_page")
def opens_the_page_without_the_map(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the page from a list or a search, though the map is asked for."""
    open_target(visitor, case.target)


@wrong_session(*QUERIED)
def shows_another_list(case: Case, visitor: Visitor, rng: random.Random) -> str:
    """Shows another collection, or no filter at all, and gives a wrong answer where one is asked for."""
    query = query_of(case)
    others = [each for each in case.site.collections.values() if each is not query.collection]
    if case.compact or not others:
        raise CannotGoError("there is one list")
    visitor.open_path(f"/{others[0].slug}")
    return "done" if not case.asks else "0"
