"""Sessions that end wrongly: on a wrong page, with a wrong list, by a way that the instruction rules out."""

from __future__ import annotations

import random
from dataclasses import replace

from fairness_visitor import CannotGoError, Visitor

from fairness_classes.case import Case, Target, query_of
from fairness_classes.kinds_of_classes import NARROWED, OPENED, wrong_session
from fairness_classes.moves import (
    end_on_map,
    list_path,
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


@wrong_session(*OPENED)
def leaves_the_page_that_it_opened(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Opens the thing and goes home."""
    play(case, visitor)
    visitor.home()


@wrong_session("open_result")
def opens_without_a_search(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Browses to the thing, though a search is asked for."""
    visitor.type_address(case.target.path)


@wrong_session("search")
def searches_for_another_thing(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Searches for another name."""
    names = [each.name for each in case.site.main.entities if each.name != case.plan[0]["text"]]
    visitor.search(rng.choice(names))


@wrong_session("search")
def opens_what_it_should_search_for(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Searches for the name and opens the thing, though the results are asked for."""
    visitor.search(case.plan[0]["text"])
    visitor.open_text(next(link.text for link in visitor.links if case.plan[0]["text"] in link.text))


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


@wrong_session(*NARROWED)
def takes_the_filters_away_at_the_end(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Shows the right list, and then the whole one again."""
    query = query_of(case)
    open_query(visitor, query)
    visitor.home()
    start_list(visitor, query)


@wrong_session(*NARROWED)
def ends_on_a_thing_of_the_list(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Shows the right list, and then opens one of its things."""
    query = query_of(case)
    open_query(visitor, query)
    visitor.open_path(Target(query.site, query.collection, query.found[0]).path)


@wrong_session("located")
def uses_filters_instead_of_the_locator(case: Case, visitor: Visitor, rng: random.Random) -> None:
    """Narrows the list by its own filters, though the form is asked for."""
    open_query(visitor, query_of(case))


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
