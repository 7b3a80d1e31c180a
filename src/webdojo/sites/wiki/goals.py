"""Goals that only compact wikis have: with regions, years and the numbers of places."""

from __future__ import annotations

import random

from webdojo.sites import compact_goals
from webdojo.sites.catalog import Attribute, Entity, fact_name
from webdojo.sites.compact_goals import (
    among_facts,
    draw_group,
    first_of,
    noun_of,
    one_page_fact,
    page_facts,
    seen_fact,
    sorted_list,
    tell,
)
from webdojo.sites.content.words import slug
from webdojo.sites.goal import Fact, Goal, done, fact, visit
from webdojo.sites.sized import SizedSite


def narrow(wiki: SizedSite, rng: random.Random) -> Goal:
    group, by = draw_group(wiki, rng), rng.choice(wiki.filters())
    return compact_goals.narrow(wiki, "region", group, by, f"the {by.label}", {"region": by.label})


def compare(wiki: SizedSite, rng: random.Random) -> Goal:
    group = wiki.groups[draw_group(wiki, rng)]
    a, b = rng.sample(group[: wiki.per_page], 2)
    attribute = rng.choice(_numbers(wiki, a))
    return compact_goals.compare(wiki, a, b, attribute, f"{a.slug}-{b.slug}-{attribute.label}")


def read_oldest(wiki: SizedSite, rng: random.Random) -> Goal:
    group = draw_group(wiki, rng)
    first = first_of(wiki, wiki.groups[group])
    attribute = rng.choice(wiki.known(first))
    plan = [sorted_list(wiki, group, first), visit(wiki.thing_path(first)), tell(first, attribute)]
    facts = _oldest_facts(group, wiki.groups[group], first, attribute)
    fields = {"noun": noun_of(first), "label": attribute.label}
    return Goal("read_oldest", f"{slug(group)}-{attribute.label}", fields, facts, plan)


def open_oldest_region(wiki: SizedSite, rng: random.Random) -> Goal:
    group, by = draw_group(wiki, rng), rng.choice(wiki.filters())
    there = [each for each in wiki.groups[group] if by.holds(each)]
    first = first_of(wiki, there)
    path = wiki.thing_path(first)
    plan = [sorted_list(wiki, group, first, **by.query), visit(path), done(f"This is {first.name}.")]
    facts = (
        one_page_fact(wiki, f"one of the {group}", wiki.groups[group]),
        one_page_fact(wiki, f"one of the {group} in the {by.label}", there),
        *page_facts(f"the oldest of them, {first.name},", path),
    )
    fields = {"noun": noun_of(first), "region": by.label}
    return Goal("oldest_region", f"{slug(group)}-{by.label}", fields, facts, plan)


def read_oldest_region(wiki: SizedSite, rng: random.Random) -> Goal:
    group, by = draw_group(wiki, rng), rng.choice(wiki.filters())
    there = [each for each in wiki.groups[group] if by.holds(each)]
    first = first_of(wiki, there)
    attribute = rng.choice(_numbers(wiki, first))
    plan = [sorted_list(wiki, group, first, **by.query), visit(wiki.thing_path(first)), tell(first, attribute)]
    fields = {"noun": noun_of(first), "region": by.label, "label": attribute.label}
    facts = _oldest_facts(f"{group} in the {by.label}", there, first, attribute)
    key = f"{slug(group)}-{by.label}-{attribute.label}"
    return Goal("read_oldest_region", key, fields, facts, plan)


def _numbers(wiki: SizedSite, article: Entity) -> list[Attribute]:
    return [each for each in wiki.known(article) if each.type == "number"]


def _oldest_facts(nouns: str, articles: list[Entity], first: Entity, attribute: Attribute) -> tuple[Fact, ...]:
    """The value of the oldest of some articles was found, and is the answer."""
    label = attribute.label
    any_seen = [{"seen": [fact_name(each.slug, label)]} for each in articles]
    return (
        fact(f"The {label} of one of the {nouns} was shown", one_of=any_seen),
        seen_fact(first, attribute, f"the oldest one, {first.name},"),
        *among_facts(nouns, articles, first, attribute),
    )
