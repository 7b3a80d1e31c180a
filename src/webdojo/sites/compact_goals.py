"""Goals of the compact layout: 1 one page, 2 one thing, 3 a filter or a fact, 4 two facts at once.

A goal has as many facts as its difficulty; each is needed, whatever way leads to the goal. They are said in few and
plain words (`phrasing.py`), because a small model is taught to read them: other kinds of goals have no place here.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from webdojo.sites.answers.values import among, scalar, shown, winner
from webdojo.sites.catalog import Attribute, Constraint, Entity, fact_name, found_fact
from webdojo.sites.content.words import slug
from webdojo.sites.goal import Fact, Goal, any_view, done, fact, place, visit
from webdojo.sites.site import href
from webdojo.sites.sized import SizedSite


def open_list(site: SizedSite, rng: random.Random) -> Goal:
    group = draw_group(site, rng)
    path = site.list_path(group)
    end = fact(f"The list of {group} is shown at the end", shows=path)
    return Goal("category", slug(group), {"nouns": group}, (end,), [visit(path), done(f"This is {group}.")])


def search(site: SizedSite, rng: random.Random) -> Goal:
    name = draw_entity(site, rng).name
    plan = [{"do": "search", "text": name}, done(f"Results for {name}.")]
    end = fact(f"The search results for {name} are shown", url=place("/search", q=name.lower()))
    return Goal("search", name, {"name": name}, (end,), plan)


def open_thing(site: SizedSite, rng: random.Random) -> Goal:
    it = draw_entity(site, rng)
    path = site.thing_path(it)
    plan = [visit(path), done(f"This is {it.name}.")]
    return Goal("open", it.slug, {"name": it.name}, page_facts(it.name, path), plan)


def open_result(site: SizedSite, rng: random.Random) -> Goal:
    it = draw_entity(site, rng)
    path = site.thing_path(it)
    facts = (
        fact(f"A search for {it.name} found it", seen=[found_fact(it.slug)]),
        fact(f"The page of {it.name} is shown at the end", url=place(path)),
    )
    plan = [{"do": "search", "text": it.name}, visit(path), done(f"This is {it.name}.")]
    return Goal("open_result", it.slug, {"name": it.name}, facts, plan)


def open_page(site: SizedSite, rng: random.Random) -> Goal:
    group, page = draw_group(site, rng), 2
    path = site.list_path(group)
    where = href(path, page=page)
    facts = (
        fact(f"The list of {group} was shown", visited=[any_view(path)]),
        fact(f"Its page {page} is shown at the end", shows=where),
    )
    plan = [visit(where), done(f"This is page {page} of {group}.")]
    return Goal("page", slug(group), {"nouns": group, "page": str(page)}, facts, plan)


def open_first(site: SizedSite, rng: random.Random) -> Goal:
    """Open the one of a list that is the first in order: the cheapest, the oldest."""
    group = draw_group(site, rng)
    best, least = first_of(site, site.groups[group]), order_of(site).least
    path = site.thing_path(best)
    plan = [sorted_list(site, group, best), visit(path), done(f"This is {best.name}.")]
    facts = (
        one_page_fact(site, f"one of the {group}", site.groups[group]),
        *page_facts(f"the {least} one, {best.name},", path),
    )
    return Goal(least, slug(group), {"noun": noun_of(best)}, facts, plan)


def read(site: SizedSite, rng: random.Random) -> Goal:
    it = draw_entity(site, rng)
    attribute = rng.choice([each for each in site.known(it) if not each.listed])
    plan = [visit(site.thing_path(it)), tell(it, attribute)]
    group, label = str(it.values[site.section]), attribute.label
    facts = (seen_fact(it, attribute), *among_facts(site, group, site.groups[group], it, attribute))
    return Goal("read", f"{it.slug}-{label}", {"name": it.name, "label": label}, facts, plan)


def narrow(site: SizedSite, name: str, group: str, by: Constraint, choice: str, fields: dict[str, str]) -> Goal:
    """Show a list under a filter that the facts call `choice`; `fields` is what phrasings say besides the list."""
    path, where = site.list_path(group), site.list_path(group, **by.query)
    facts = (
        fact(f"The list of {group} was shown", visited=[any_view(path)]),
        fact(f"The list of {group} was narrowed to {choice} and by nothing else", shows=where),
        fact(f"The list of {group} is shown so at the end", shows=where),
    )
    plan = [visit(where), done(f"{group} are {by.label}.")]
    key = f"{slug(group)}-{by.query[by.attribute.key]}"
    return Goal(name, key, {"nouns": group, **fields}, facts, plan)


def compare(site: SizedSite, a: Entity, b: Entity, attribute: Attribute, key: str) -> Goal:
    label = attribute.label
    first, second = int(a.values[attribute.key]), int(b.values[attribute.key])
    high = max(first, second)
    either = [{**each, "of": f"/{site.main.slug}"} for each in higher_and_lower(a, b, first, second)]
    facts = (
        seen_fact(a, attribute),
        seen_fact(b, attribute),
        fact(f"The answer is one of the two or its {label}", answer=among(either)),
        fact(f"The answer is {high}, the higher, or what has it", answer=either[0]),
    )
    plan = [
        visit(site.thing_path(a), f"{label} of {a.name} is {first}."),
        visit(site.thing_path(b)),
        done(f"{label} is {first} and {second}. {high} is higher.", str(high)),
    ]
    return Goal("compare", key, {"a": a.name, "b": b.name, "label": label}, facts, plan)


def higher_and_lower(a: Entity, b: Entity, first: int, second: int) -> list[dict[str, Any]]:
    """The answers that say which of two things has the higher number, and which the lower; the number will do."""
    return [
        winner([(a.name,), (b.name,)], best, (first, second), by_figure=True)
        for best in (int(second > first), int(second < first))
    ]


def draw_group(site: SizedSite, rng: random.Random) -> str:
    return rng.choice(list(site.groups))


def draw_entity(site: SizedSite, rng: random.Random) -> Entity:
    """Draw something that is not sold out, mostly from the first page of its section."""
    first = site.per_page if rng.random() < 0.7 else None
    group = site.groups[draw_group(site, rng)][:first]
    in_stock = [[e for e in those if e.values.get("stock") != 0] for those in (group, site.main.entities)]
    return rng.choice(in_stock[0] or in_stock[1])


def order_of(site: SizedSite) -> Attribute:
    return next(each for each in site.main.attributes if each.sort)


def first_of(site: SizedSite, entities: Iterable[Entity]) -> Entity:
    """The first of some entities in the order of lists."""
    key = order_of(site).key
    return min(entities, key=lambda entity: entity.values[key])


def noun_of(entity: Entity) -> str:
    """What sort of thing an entity is: `Mug`."""
    return entity.name.split()[-1]


def sorted_list(site: SizedSite, group: str, first: Entity, **query: str) -> dict[str, str]:
    """The sub-goal to show a list in order, perhaps under a filter."""
    return visit(site.list_path(group, **query, sort=order_of(site).key), f"{first.name} is first.")


def tell(entity: Entity, attribute: Attribute) -> dict[str, str]:
    """The end of a plan: say a value."""
    value = attribute.show(entity.values[attribute.key])
    return done(f"{attribute.label} is {value}.", value)


def page_facts(name: str, path: str) -> tuple[Fact, Fact]:
    """The page of a thing was found, and is what the session ends on."""
    return (
        fact(f"The page of {name} was shown", visited=[place(path)]),
        fact(f"The page of {name} is shown at the end", url=place(path)),
    )


def one_page_fact(site: SizedSite, what: str, entities: Iterable[Entity]) -> Fact:
    """The page of one of some entities was found."""
    pages = [{"visited": [place(site.thing_path(entity))]} for entity in entities]
    return fact(f"The page of {what} was shown", one_of=pages)


def seen_fact(entity: Entity, attribute: Attribute, called: str = "") -> Fact:
    """A page showed a value of an entity; `called` is what the fact calls it, if not by its name."""
    said = f"The {attribute.label} of {called or entity.name} was shown"
    return fact(said, seen=[fact_name(entity.slug, attribute.label)])


def among_facts(
    site: SizedSite, nouns: str, those: Iterable[Entity], entity: Entity, attribute: Attribute
) -> tuple[Fact, Fact]:
    """The answer is a value of one of those, and the entity's."""
    about = {"thing": f"/{site.main.slug}/{entity.slug}", "attribute": attribute.key}
    values = dict.fromkeys(scalar(attribute.show(each.values[attribute.key])) for each in those)
    value = attribute.show(entity.values[attribute.key])
    return (
        fact(f"The answer is the {attribute.label} of one of the {nouns}", answer={**among(values), **about}),
        fact(f"The answer is {value}", answer={**shown(value), **about}),
    )
