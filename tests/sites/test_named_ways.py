"""Ways that an instruction names, for which no other is taken: a town's map and locator, the box of a partner."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.sites.perturbations.test_perturbations import only
from tests.sites.test_routes import load, task
from webdojo.sites import host_of
from webdojo.sites.goal import Goal
from webdojo.sites.kinds import load_site
from webdojo.sites.news import from_partner
from webdojo.sites.perturbations.schedule import Event
from webdojo.sites.places.goals import at_corner, from_map, located, on_map
from webdojo.sites.serving.server import SiteServer
from webdojo.sites.verdict import evaluate

TOWN, PAPER = load_site("places", 7), load_site("news", 2)
PARTNER = f"http://{host_of('travel', 2)}"
Maker = Callable[[Any, int, random.Random], Goal | None]
WAYS: dict[str, tuple[Maker, int, list[str], list[str]]] = {
    "on the map": (
        on_map,
        1,
        [
            "/map /map>{card}*",
            "/map /map>{other_card}* /map>{card}*",
            "/map /map>{card}",  # as a page, where scripts are broken
            "/map /map>{card} {card}>{card}",
        ],
        [
            "/map", "{card}", "{card} /map", "http://places-8.localhost/map>{card}", "{page}>{card}",
            "/map /map>{card}* /map>{other_card}*", "/map /map>{card}* /map>/",
        ],
    ),
    "what is described, on the map": (on_map, 2, ["/map /map>{card}*"], ["{page}", "/map {card}"]),
    "from the map": (
        from_map,
        2,
        ["/map /map>{card}* /map>{page}"],
        ["/search>{page}", "/map /map>{page}", "/map /map>{card}* {page}", "/map /map>{card}* /map>{page} {page}>/map"],
    ),
    "a corner of the map": (
        at_corner,
        3,
        ["/map /map>{card}*", "/map /map>{card}* /map>/"],
        ["{page}", "/map", "/map {card}"],
    ),
    "by the locator": (
        located,
        3,
        ["/find /find>{where}&district=", "/ />{where}&district=", "/find>{where}&district= /places>{where}&page=2"],
        [
            "{where}", "{where}&district=", "http://news-2.localhost/>{where}&district=", "/places>{where}",
            "/find>{where}", "/find /find>/places?district=&category=",
        ],
    ),
    "from the box": (
        from_partner,
        2,
        ["{page} {page}>{box}* {box}>{offer}", "{page} {page}>{box}* {offer}* {box}>{offer}"],
        ["{page} {offer}", "{page} {page}>{box}* {offer}", "{page}>{box}* {box}>{offer} {page}"],
    ),
}  # fmt: skip
"""By what is asked for the maker of the goal, its number of facts, sessions that did it so, and sessions that did not.

`a>b` is b where a led to it, and b alone an address that was typed; `*` is a part that a frame or a script of the page
asked for, so the session ends on the page before.
"""


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    with SiteServer() as running:
        yield running


def drawn(make: Maker, facts: int) -> Goal:
    """A goal of a maker; the locator is to find a category of places."""
    draws = (make(PAPER if make is from_partner else TOWN, facts, random.Random(seed)) for seed in range(5000))
    return next(g for g in draws if g is not None and (make is not located or g.key.startswith("/places?category=")))


@pytest.mark.parametrize("asked", WAYS)
def test_only_the_way_that_is_named_counts(asked: str, server: SiteServer) -> None:
    make, facts, right, wrong = WAYS[asked]
    site = PAPER if make is from_partner else TOWN
    goal = drawn(make, facts)
    path = goal.plan[0].get("path") or f"/places/{goal.plan[0]['marker']}"
    if make is on_map and facts == 2:
        path = goal.plan[1]["path"]
    other = next(each for each in site.main.entities if not path.endswith(each.slug))
    offer = f"{PARTNER}{goal.plan[1]['path']}" if make is from_partner else ""
    fields = {
        "page": path, "card": f"/map/card/{path.rpartition('/')[2]}", "other_card": f"/map/card/{other.slug}",
        "where": goal.key, "box": f"{PARTNER}/embed", "offer": offer,
    }  # fmt: skip

    def done(route: str) -> bool:
        last = ""
        for step in route.format(**fields).split():
            came, _, to = step.rstrip("*").rpartition(">")
            came, to = (each if "://" in each or not each else f"{site.url()[:-1]}{each}" for each in (came, to))
            headers = {"Referer": came} if came else {}
            headers["Sec-Fetch-Dest"] = "empty" if step.endswith("*") else "document"
            load("GET", to, server, **headers)
            last = last if step.endswith("*") else to
        verdict = evaluate(task(goal.evaluator, site.host), goal.plan[-1]["answer"], last, server.state("s"))
        server.end("s")
        return verdict.success

    for route in right:
        assert done(route), route
    for route in wrong:
        assert not done(route), route


@pytest.mark.parametrize(("first", "right"), [("find", True), ("places", False)])
def test_a_list_that_an_error_hid_at_first_came_from_where_it_was_asked_for(
    first: str, right: bool, server: SiteServer
) -> None:
    goal = drawn(located, 3)
    there, headers = (
        TOWN.url(f"{goal.key}&district="),
        server.headers("s", "auto", only(Event.HTTP_ERROR, 2, host=TOWN.host)),
    )
    load("GET", TOWN.url(f"/{first}"), server, **headers)
    load("GET", there, server, Referer=TOWN.url(f"/{first}"), **headers)
    assert there not in map(TOWN.url, server.state("s")[TOWN.host]["visited"]), "the error was not the page"
    load("GET", there, server, Referer=there, **headers)
    assert evaluate(task(goal.evaluator, TOWN.host), "done", there, server.state("s")).success == right
    server.end("s")
