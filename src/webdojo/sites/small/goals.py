"""Goals of small sites, by the number of their facts. Several need a value of one page, or of one site, on another."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from webdojo.sites import compact_goals as shared
from webdojo.sites.answers.values import among
from webdojo.sites.catalog import Attribute, Constraint, Entity, fact_name
from webdojo.sites.content.words import slug
from webdojo.sites.goal import Fact, Goal, Plan, done, fact, place, visit
from webdojo.sites.small.site import ACTED, SmallSite


def narrow(site: SmallSite, rng: random.Random) -> Goal:
    group, by = shared.draw_group(site, rng), rng.choice(site.filters())
    return shared.narrow(site, "kept", group, by, f"the {by.label}", {"value": by.label})


def narrow_alike(site: SmallSite, rng: random.Random) -> Goal:
    """Narrow a list to the value that a thing of another list has, which only its own page tells."""
    group, other = rng.sample(list(site.groups), 2)
    it = rng.choice(site.groups[other][: site.per_page])
    attribute = site.main.by_key[site.narrowing[0]]
    by = Constraint(attribute, it.values[attribute.key])
    fields = {"label": attribute.label, "name": it.name}
    goal = shared.narrow(site, "kept_alike", group, by, by.label, fields)
    note = f"{attribute.label} of {it.name} is {by.label}."
    return replace(
        goal,
        key=f"{slug(group)}-{it.slug}",
        facts=(shared.seen_fact(it, attribute), *goal.facts),
        plan=[visit(site.thing_path(it), note), *goal.plan],
    )


def open_first(site: SmallSite, rng: random.Random) -> Goal:
    return _open_first(site, rng)


def open_first_kept(site: SmallSite, rng: random.Random) -> Goal:
    return _open_first(site, rng, rng.choice(site.filters()))


def read_first(site: SmallSite, rng: random.Random) -> Goal:
    group = shared.draw_group(site, rng)
    those = site.groups[group]
    first, order = shared.first_of(site, those), shared.order_of(site)
    attribute = rng.choice([each for each in site.known(first) if each is not order])
    any_seen = [{"seen": [fact_name(each.slug, attribute.label)]} for each in those]
    facts = (
        fact(f"The {attribute.label} of one of the {group} was shown", one_of=any_seen),
        shared.seen_fact(first, attribute, f"the {order.least} one, {first.name},"),
        *shared.among_facts(site, group, those, first, attribute),
    )
    plan = [
        shared.sorted_list(site, group, first),
        visit(site.thing_path(first)),
        shared.tell(first, attribute),
    ]
    fields = {"noun": shared.noun_of(first), "label": attribute.label, "least": order.least}
    return Goal("read_first", f"{slug(group)}-{attribute.key}", fields, facts, plan)


def act(site: SmallSite, rng: random.Random) -> Goal:
    it = shared.draw_entity(site, rng)
    facts = (_was_open(site, it), _was_acted(site, it))
    return _acted(site, "act", it.slug, {"name": it.name}, facts, it)


def act_two(site: SmallSite, rng: random.Random) -> Goal:
    a, b = rng.sample([each for those in site.groups.values() for each in those[: site.per_page]], 2)
    facts = (_was_open(site, a), _was_acted(site, a), _was_open(site, b), _was_acted(site, b))
    return _acted(site, "act_two", f"{a.slug}-{b.slug}", {"a": a.name, "b": b.name}, facts, a, b)


def act_first(site: SmallSite, rng: random.Random) -> Goal:
    group = shared.draw_group(site, rng)
    first, least = shared.first_of(site, site.groups[group]), shared.order_of(site).least
    facts = (
        shared.one_page_fact(site, f"one of the {group}", site.groups[group]),
        _was_open(site, first),
        _was_acted(site, first),
    )
    fields = {"noun": shared.noun_of(first), "least": least}
    return _acted(site, "act_first", slug(group), fields, facts, first, before=[shared.sorted_list(site, group, first)])


def compare(site: SmallSite, rng: random.Random) -> Goal:
    attribute = rng.choice(_numbers(site))
    while True:
        a, b = (rng.choice(site.groups[group][: site.per_page]) for group in rng.sample(list(site.groups), 2))
        if a.values[attribute.key] != b.values[attribute.key]:
            return shared.compare(site, a, b, attribute, f"{a.slug}-{b.slug}-{attribute.key}")


def compare_sites(site: SmallSite, rng: random.Random) -> Goal:
    """Compare a number of a thing here with one of a thing on the partner's site."""
    other = site.partner
    here, there = rng.choice(_numbers(site)), rng.choice(_numbers(other))
    a, b = (rng.choice(each.groups[shared.draw_group(each, rng)][: each.per_page]) for each in (site, other))
    first, second = int(a.values[here.key]), int(b.values[there.key])
    if first == second or a.name == b.name:
        return compare_sites(site, rng)
    high, called = max(first, second), other.kind.title()
    either = shared.higher_and_lower(a, b, first, second)
    facts = (
        shared.seen_fact(a, here),
        {**shared.seen_fact(b, there), "site": other.host},
        fact("The answer is one of the two or its number", answer=among(either)),
        fact(f"The answer is {high}, the higher, or what has it", answer=either[0]),
    )
    note = f"{here.label} of {a.name} is {first}."
    elsewhere: Plan = [
        visit(other.thing_path(b)),
        done(f"{first} and {second}. {high} is higher.", str(high)),
    ]
    plan = [visit(site.thing_path(a), note), *({**each, "site": other.host} for each in elsewhere)]
    fields = {"a": a.name, "label": here.label, "b": b.name, "other": there.label, "site": called}
    return Goal("compare_sites", f"{a.slug}-{here.key}-{b.slug}-{there.key}", fields, facts, plan)


MAKERS: Mapping[int, tuple[Callable[[Any, random.Random], Goal], ...]] = {
    1: (shared.open_list, shared.search),
    2: (shared.open_thing, shared.open_result, shared.open_page, act),
    3: (narrow, open_first, shared.read, shared.read, act_first),
    4: (*(compare, compare_sites, narrow_alike) * 2, read_first, open_first_kept, act_two),
}


def _open_first(site: SmallSite, rng: random.Random, by: Constraint | None = None) -> Goal:
    group = shared.draw_group(site, rng)
    those = [each for each in site.groups[group] if by is None or by.holds(each)]
    first, least = shared.first_of(site, those), shared.order_of(site).least
    path = site.thing_path(first)
    query = by.query if by else {}
    plan = [shared.sorted_list(site, group, first, **query), visit(path), done(f"This is {first.name}.")]
    kept = f" that are {by.label}" if by else ""
    facts = (
        shared.one_page_fact(site, f"one of the {group}", site.groups[group]),
        *([shared.one_page_fact(site, f"one of the {group}{kept}", those)] if by else []),
        *shared.page_facts(f"the {least} one, {first.name},", path),
    )
    fields = {"noun": shared.noun_of(first), "least": least, "label": shared.order_of(site).label}
    fields |= {"value": by.label} if by else {}
    key = "-".join((slug(group), *([by.label.lower()] if by else [])))
    return Goal("first_kept" if by else "first", key, fields, facts, plan)


def _numbers(site: SmallSite) -> list[Attribute]:
    return [each for each in site.main.attributes if each.type == "number" and not each.listed]


def _was_open(site: SmallSite, thing: Entity) -> Fact:
    return fact(f"The page of {thing.name} was shown", visited=[place(site.thing_path(thing))])


def _state(site: SmallSite, thing: Entity) -> dict[str, Any]:
    return {f"{site.main.slug}/{thing.slug}/{ACTED}": "yes"}


def _was_acted(site: SmallSite, thing: Entity) -> Fact:
    return fact(f"{site.actions[0].button} was pressed for {thing.name}", state=_state(site, thing))


def _acted(
    site: SmallSite,
    name: str,
    key: str,
    fields: dict[str, str],
    facts: Iterable[Fact],
    *things: Entity,
    before: Plan | None = None,
) -> Goal:
    """A goal that ends with the site's button pressed for each thing; `before` is how they are found."""
    button, plan = site.actions[0].button, [*(before or [])]
    for thing in things:
        path, sent_to = site.thing_path(thing), f"{site.thing_path(thing)}/{site.actions[0].key}"
        form = {"do": "form", "action": sent_to, "at": path, "values": {}, "lands": f"{sent_to}/done"}
        plan += [visit(path, f"This is {thing.name}."), form]
    plan.append(done(f"{' and '.join(each.name for each in things)} {'are' if len(things) > 1 else 'is'} done."))
    state = {key: value for each in things for key, value in _state(site, each).items()}
    return Goal(name, key, {**fields, "button": button}, tuple(facts), plan, state)
