"""Sessions that end wrongly: on a wrong page, with a wrong list, by a way that the instruction rules out."""

from __future__ import annotations

import random
from dataclasses import replace

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target, query_of
from fairness_classes.kinds_of_classes import NARROWED, OPENED, wrong_session
from fairness_classes.moves import (
    as_planned,
    end_on_map,
    list_path,
    located,
    open_query,
    open_target,
    opens_another,
    play,
    settings,
    start_list,
)
from webdojo.sites.site import href


@wrong_session(*OPENED)
def opens_a_neighbour(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens another thing of the list."""
    target = case.target
    others = [each for each in target.collection.entities if each is not target.entity]
    found = target.described.found if target.described is not None else others
    other = next(each for each in [*found[:2], *others] if each is not target.entity)
    open_target(visitor, Target(target.site, target.collection, other))


@wrong_session("open_result")
def opens_without_a_search(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Browses to the thing, though a search is asked for."""
    visitor.type_address(case.target.path)


@wrong_session("search")
def searches_for_another_thing(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Searches for another name."""
    names = [each.name for each in case.site.main.entities if each.name != case.plan[0]["text"]]
    visitor.search(rng.choice(names))


@wrong_session("page")
def shows_another_page_of_the_list(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Stays on the first page of the list."""
    start_list(visitor, query_of(case))


@wrong_session("cart")
def stays_at_home(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Looks at a thing instead of the cart."""
    visitor.search(case.site.main.entities[0].name)


@wrong_session(*NARROWED)
def sets_a_wrong_value(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sets one filter to another value."""
    query = query_of(case)
    swapped = []
    for i, constraint in enumerate(query.constraints):
        for other in query.collection.constraints(constraint.attribute):
            if other != constraint and constraint.query != other.query:
                changed = (*query.constraints[:i], other, *query.constraints[i + 1 :])
                swapped.append(replace(query, constraints=changed))
    others = [each for each in swapped if each.found != query.found]
    if not others:
        raise CannotGoError("no filter has another value")
    open_query(visitor, rng.choice(others))


@wrong_session("narrow")
def sets_a_filter_too_many(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Sets one filter that nobody asked for."""
    query = query_of(case)
    known = {each.attribute.key for each in query.constraints}
    further = [
        c
        for a in query.collection.attributes
        if a.filter and a.key not in known
        for c in query.collection.constraints(a)
    ]
    narrower = [replace(query, constraints=(*query.constraints, each)) for each in further]
    others = [each for each in narrower if 0 < len(each.found) < len(query.found)]
    if not others:
        raise CannotGoError("no further filter narrows the list")
    open_query(visitor, rng.choice(others))


@wrong_session("located")
def types_the_address_instead_of_the_locator(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Types the address of the list, though the form is asked for."""
    query = query_of(case)
    visitor.type_address(href(list_path(query), **dict(settings(query))))


@wrong_session("partner")
def takes_the_offer_from_another_article(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the offer from the box on the page of another article."""
    opens_another(case, visitor)
    visitor.open_path(case.targets[1].site.url(case.targets[1].path))


@wrong_session("from_map", "corner_page")
def opens_another_place_from_the_map(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the page of another place from the map."""
    others = [each for each in case.site.main.entities if each is not case.target.entity]
    other = Target(case.site, case.site.main, rng.choice(others))
    end_on_map(replace(case, targets=[other]), visitor)


@wrong_session(*OPENED)
def stops_at_the_list(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Finds the thing in a list, and does not open it."""
    as_planned(visitor, case.target)


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


@wrong_session("on_map", "corner")
def types_the_address_of_the_card(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Types the address of the card, though the map is asked for."""
    for target in case.targets:
        if target.described is not None:
            open_target(visitor, target)
    visitor.type_address(f"/map/card/{case.target.entity.slug}")


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
