"""Goals that only a town has: open what is on the map, and use the form that finds places."""

from __future__ import annotations

import random
from typing import Any

from webdojo.sites.answers.values import winner
from webdojo.sites.catalog import Entity
from webdojo.sites.evidence import answer_of, narrowed, unit_of, was_shown
from webdojo.sites.goal import Fact, Goal, Plan, any_view, done, fact, place, visit
from webdojo.sites.instructions.references import Reference, draw_constraints, joined, query_of, refer
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import href

_ASKED = ("category", "rating", "opens")


def on_map(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    it = refer(site.main, facts - 1, rng)
    if it is None:
        return None
    near = "" if it.says else f", at the corner of {it.entity.values['corner']}"
    cores = (
        f"go to the map and click the marker of {it.phrase}",
        f"go to the map and select {it.phrase}{near}",
        f"bring up what the map says about {it.phrase}{near}",
    )
    plan = [*_way(it), _marker(it.entity), done(f"The map shows {it.entity.name}.")]
    return Goal("on_map", it.key, {}, (*it.facts(followed=_card(it.entity)), _selected(it.entity)), plan, cores=cores)


def from_map(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    it = refer(site.main, facts - 2, rng) if facts >= 2 else None
    if it is None:
        return None
    cores = (
        f"go to the map and open from there the page of {it.phrase}",
        f"go by way of the map to the page of {it.phrase}",
        f"go to the map, click the marker of {it.phrase}, and follow the link to the page",
    )
    checks = (*it.facts(), _opened(it.entity), _page(it.entity))
    plan = [*_way(it), _marker(it.entity), visit(it.path), done(f"This is {it.entity.name}.")]
    return Goal("from_map", it.key, {}, checks, plan, cores=cores)


def at_corner(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    """Find out on the map what stands at a corner: 1 to 3 facts for one corner, 5 to compare two."""
    one, other = rng.sample(site.main.entities, 2)
    at = f"the place at the corner of {one.values['corner']}"
    found = f"This is {one.name}."
    match facts:
        case 1:
            clicks = (f"click {at} on the map", f"select {at} on the map", f"open the map card of {at}")
            return Goal("corner", one.slug, {}, (_selected(one),), [_marker(one), done(found)], cores=clicks)
        case 2:
            cores = (f"open the page of {at} from the map", f"find {at} on the map and go to its page")
            plan = [_marker(one), visit(f"/places/{one.slug}"), done(found)]
            return Goal("corner_page", one.slug, {}, (_opened(one), _page(one)), plan, cores=cores)
        case 3:
            attribute = site.main.by_key[rng.choice(_ASKED)]
            value = one.values[attribute.key]
            shown = attribute.show(value)
            label = attribute.called
            cores = (f"the {label} of {at} on the map", f"the {label} that the map gives for {at}")
            answer = fact(f"The answer is {shown}", answer=answer_of(attribute, value, f"/places/{one.slug}"))
            checks = (_opened(one), was_shown(one, attribute), answer)
            plan = [_marker(one), done(f"{attribute.label} is {shown}.", shown)]
            return Goal("corner_fact", f"{one.slug}-{attribute.key}", {}, checks, plan, cores=cores, form="ask")
        case 5 if one.values["rating"] != other.values["rating"]:
            return _corners(site, one, other)
    return None


def _corners(site: CatalogSite, one: Entity, other: Entity) -> Goal:
    better = max(one, other, key=lambda place: place.values["rating"])
    rating = site.main.by_key["rating"]
    corners = [(each.name, f"at the corner of {each.values['corner']}") for each in (one, other)]
    sides = [(name, f"the place {corner}", f"the one {corner}") for name, corner in corners]
    figures = [int(each.values["rating"]) for each in (one, other)]
    right = winner(sides, int(better is other), figures, unit_of(rating))
    at = ", or ".join(f"the one at the corner of {each.values['corner']}" for each in (one, other))
    cores = (
        f"the name of the place on the map with the higher rating: {at}",
        f"the name of the better rated of two places on the map: {at}",
    )
    checks = (
        *(_opened(each) for each in (one, other)),
        *(was_shown(each, rating) for each in (one, other)),
        fact(f"The answer is {better.name}", answer={**right, "of": "/places", "attribute": rating.key}),
    )
    first = {**_marker(one), "note": f"Rating of {one.name} is {one.values['rating']} %."}
    said = f"Rating of {other.name} is {other.values['rating']} %."
    plan = [first, _marker(other), done(said, better.name)]
    return Goal("corners", f"{one.slug}-{other.slug}", {}, checks, plan, cores=cores, form="ask")


def located(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    """Use the form that finds places."""
    drawn = draw_constraints(site.main, facts - 2, rng, ("district", "category", "now")) if facts >= 3 else None
    if drawn is None or any(c.attribute.key == "now" and c.value != "open now" for c in drawn):
        return None
    query = query_of(drawn)
    where = href("/places", **query)
    phrase = f"places {joined(drawn)}"
    form = site.say("Find a place")
    cores = (
        f"use the form \u201c{form}\u201d to list the {phrase}",
        f"search with the form \u201c{form}\u201d for {phrase}",
        f"let \u201c{form}\u201d list all {phrase}",
    )
    sent = "/places?district&category"
    checks = (
        fact(f"The form {form} led to places", one_of=[{"followed": [here, sent]} for here in ("/find", "/")]),
        *(fact(f"Only places {c.phrase} are shown", one_of=narrowed(where, c)) for c in drawn),
        fact("No other filter is set", shows=where),
    )
    plan: Plan = [visit("/find"), visit(where, via="/find"), done(f"These are the {phrase}.")]
    return Goal("located", where, {}, checks, plan, cores=cores)


def _card(entity: Entity) -> tuple[str, str]:
    """The way to the card of a place."""
    return "/map", f"/map/card/{entity.slug}"


def _opened(entity: Entity) -> Fact:
    return fact(f"The map showed the card of {entity.name}", followed=_card(entity))


def _selected(entity: Entity) -> Fact:
    """The map shows the card, or led to it where its scripts are broken."""
    led = _card(entity)
    shown: list[dict[str, Any]] = [{"url": any_view("/map"), "last": ["/map/card/", led[1]]}, {"url": place(led[1])}]
    return fact(f"The map shows the card of {entity.name} at the end", followed=led, one_of=shown)


def _page(entity: Entity) -> Fact:
    path = f"/places/{entity.slug}"
    return fact(f"The map led to the page of {entity.name}", url=place(path), followed=("/map", path))


def _marker(entity: Entity) -> dict[str, str]:
    return {"do": "marker", "marker": entity.slug, "name": entity.name, "at": "/map", "note": ""}


def _way(it: Reference) -> Plan:
    """The plan that leads to the place, if the instruction describes it without its name."""
    return it.plan if it.says else []
