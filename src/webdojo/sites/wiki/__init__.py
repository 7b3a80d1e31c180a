"""Wikis: articles by topic with numbers to look up, search, filters, sorting and links between articles."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from markupsafe import Markup

from webdojo.sites import compact_goals as shared
from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Field
from webdojo.sites.catalog import Attribute, Collection, Constraint, Entity, Value, fact_name
from webdojo.sites.content.drawing import Limits, counted, day_of, discussion, entity
from webdojo.sites.content.people import USERS, people
from webdojo.sites.content.words import ADJECTIVES, REGIONS, WIKI_NOUNS, WIKI_NUMBERS, WIKI_TEXT, items, plural, slug
from webdojo.sites.design.pictures import picture
from webdojo.sites.goal import Goal, done, fact, visit
from webdojo.sites.site import Overlay, Page
from webdojo.sites.sized import SizedSite

_MOTTOS = (
    "Written by everyone, read by many",
    "The open guide to places",
    "What we know so far",
    "Facts, places and a little history",
    "A reference for the curious",
    "Look it up",
)
_LEADS = (
    "{name} is a {noun} in the {region} of the country.",
    "{name} is one of the best known {nouns} of the {region}.",
    "In the {region}, {name} is the {noun} that most visitors see first.",
)
_BODIES = (
    "It was first described by travellers who had lost their way.",
    "Old maps show it under other names, none of which are used today.",
    "The people who live near it meet there every summer.",
    "Painters came in great numbers once the railway was open.",
    "Its early history is known mainly from letters.",
    "Much of what is written about it goes back to a single book.",
    "A society looks after it and publishes a yearly report.",
    "In winter it is closed to visitors, except by arrangement.",
    "Several songs mention it, usually as a place to come home to.",
)
_TAILS = (
    "Access is free, and the path is marked.",
    "Its name appears on the arms of the nearest town.",
    "Research on it goes on.",
    "It has been protected by law for several generations.",
)
_REMARKS = items(
    "The picture shows another place, Please name the sources, I was there last summer and can confirm this, This "
    "paragraph says the same thing twice, There is a better map in the town hall, Who wrote the part about the "
    "railway"
)
_MISTAKES = items(
    "The picture shows another place, This paragraph says the same thing twice, The year cannot be right, The second "
    "sentence contradicts the first, The name is spelled in two ways, This belongs in another article"
)
_PARTS = ("Introduction", "History", "Numbers", "Picture")
ACTIONS = (
    Action("watch", "Follow", "You follow {name} now.", collection="articles")
    .asked("follow {name}", "start following {name}", "become a follower of {name}")
    .setting(watched="yes")
    .refusing(("watched", "yes", "already on your watch list")),
    Action("discuss", "Comment", "Your remark on {name} is there.", collection="articles")
    .asked(
        "write the remark “{text}” as {reader} on {name}",
        "leave the remark “{text}”, signed {reader}, on {name}",
        "add “{text}”, signed {reader}, to the discussion of {name}",
    )
    .with_fields(Field("reader", "Name", options=USERS), Field("text", "Remark", "textarea", _REMARKS))
    .making("remarks")
    .refusing(("status", "Protected", "protected")),
    Action("report", "Report", "Thank you for your report on {name}.", collection="articles")
    .asked(
        "report a mistake in the part {part} of {name}: “{text}”",
        "tell the editors “{text}” about the part {part} of {name}",
        "file a report that says “{text}” about the part {part} of {name}",
    )
    .with_fields(Field("part", "Part", "radio", _PARTS), Field("text", "What is wrong?", "textarea", _MISTAKES))
    .making("reports"),
)
TOPICS, LARGE_TOPICS = 5, 8
IN_TOPIC, IN_LARGE_TOPIC = 12, 30
RELATED = 3
_YEARS, _NUMBERS = range(1100, 1990), range(20, 990)
_MEASURES = tuple(dict.fromkeys(label for labels in WIKI_NUMBERS.values() for label in labels))
_ACCESS = ("Free", "By ticket", "On guided tours", "In summer")
_LIMITS: Limits = {"region": REGIONS}
_LARGE_LIMITS = {**_LIMITS, "year": (1300, 1500, 1700), "visitors": (100, 300, 600)}

COMPACT_ARTICLE = (
    Attribute("topic", "Topic", filter="is"),
    Attribute("year", "Year", "number", sort="oldest", least="oldest"),
    Attribute("region", "Region", filter="is"),
    *(Attribute(label.lower(), label, "number") for label in _MEASURES),
)
ARTICLE = (
    Attribute("topic", "Topic", filter="is", phrase="on the topic {value}"),
    Attribute("region", "Region", listed=True, filter="is", phrase="in the {value}"),
    Attribute("year", "Year", "number", "", True, "min", "oldest", "oldest", "of the year {value} or later"),
    Attribute("access", "Access", filter="is", phrase="with the access \u201c{value}\u201d"),
    replace(
        counted("visitors", "Visitors a day", "Least visited first", "least visited"),
        phrase="with at least {value} visitors a day",
    ),
    Attribute("status", "Status", filter="is", phrase="with the status \u201c{value}\u201d"),
    *(Attribute(label.lower(), label, "number") for label in _MEASURES if label != "Rooms"),
    Attribute("rooms", "Rooms", "number", noun="number of rooms"),
    Attribute("editor", "Last editor", person=True),
    Attribute("edited", "Last edit", "date", noun="date of the last edit"),
    Attribute("watched", "Watched by you", asked=False),
)


def articles(seed: int, editors: Sequence[str]) -> tuple[Collection, dict[str, list[str]]]:
    """Draw the articles of a wiki, and the slugs that each is related to; one without editors is compact."""
    rng = random.Random(f"wiki-{seed}-content")
    related: dict[str, list[str]] = {}
    shelves = _written({noun: [] for noun in rng.sample(WIKI_NOUNS, TOPICS)}, IN_TOPIC, related, rng)
    if editors:
        rng = random.Random(f"wiki-{seed}-large")
        others = [noun for noun in WIKI_NOUNS if noun not in shelves]
        shelves |= {noun: [] for noun in rng.sample(others, LARGE_TOPICS - TOPICS)}
        shelves = _written(shelves, IN_LARGE_TOPIC, related, rng)
        shelves = {noun: [_described(article, editors, rng) for article in shelf] for noun, shelf in shelves.items()}
    entities = tuple(article for shelf in shelves.values() for article in shelf)
    attributes, limits = (ARTICLE, _LARGE_LIMITS) if editors else (COMPACT_ARTICLE, _LIMITS)
    return Collection("articles", "Articles", "article", "articles", attributes, entities, limits), related


def _written(
    known: dict[str, list[Entity]], count: int, related: dict[str, list[str]], rng: random.Random
) -> dict[str, list[Entity]]:
    """The known articles by noun and new ones after them, `count` of each; `related` gets what the new ones lead to.

    Years and numbers differ within a noun.
    """
    names = {}
    for noun, shelf in known.items():
        taken = {article.name for article in shelf}
        free = [f"{adjective} {noun}" for adjective in ADJECTIVES if f"{adjective} {noun}" not in taken]
        names[noun] = rng.sample(free, count - len(shelf))
    slugs = [article.slug for shelf in known.values() for article in shelf]
    slugs += [slug(name) for new in names.values() for name in new]
    made = {}
    for noun, shelf in known.items():
        new = names[noun]
        years = _others(_YEARS, "year", shelf, len(new), rng)
        labels = [label.lower() for label in WIKI_NUMBERS[noun]]
        columns = [_others(_NUMBERS, label, shelf, len(new), rng) for label in labels]
        regions = [*REGIONS, *REGIONS, *rng.choices(REGIONS, k=len(new) - 2 * len(REGIONS))]
        rng.shuffle(regions)
        made[noun] = [*shelf]
        for name, year, region, *numbers in zip(new, years, regions, *columns, strict=True):
            text = rng.choice(WIKI_TEXT).format(noun=noun, region=region, year=year)
            own = slug(name)
            related[own] = rng.sample([each for each in slugs if each != own], RELATED)
            facts = dict(zip(labels, numbers, strict=True))
            made[noun].append(entity(name, topic=plural(noun), year=year, region=region, **facts, texts=(text,)))
    return made


def _others(values: range, key: str, known: list[Entity], count: int, rng: random.Random) -> list[int]:
    taken = {article.values[key] for article in known}
    return rng.sample([value for value in values if value not in taken], count)


def _described(article: Entity, editors: Sequence[str], rng: random.Random) -> Entity:
    """An article with what only the full-size layout tells, and without the text of the compact one."""
    more: dict[str, Value] = {
        "access": rng.choice(_ACCESS),
        "visitors": rng.randint(20, 990),
        "status": rng.choice(("Open", "Open", "Open", "Protected")),
        "editor": rng.choice(editors),
        "edited": day_of(rng, 2026),
    }
    return replace(article, values={**article.values, **more}, texts=())


def narrow(wiki: SizedSite, rng: random.Random) -> Goal:
    group, by = shared.draw_group(wiki, rng), rng.choice(wiki.filters())
    return shared.narrow(wiki, "region", group, by, f"the {by.label}", {"region": by.label})


def compare(wiki: SizedSite, rng: random.Random) -> Goal:
    group = wiki.groups[shared.draw_group(wiki, rng)]
    a, b = rng.sample(group[: wiki.per_page], 2)
    attribute = rng.choice(_numbers(wiki, a))
    return shared.compare(wiki, a, b, attribute, f"{a.slug}-{b.slug}-{attribute.label}")


def read_oldest(wiki: SizedSite, rng: random.Random) -> Goal:
    group = shared.draw_group(wiki, rng)
    attribute = rng.choice(wiki.known(shared.first_of(wiki, wiki.groups[group])))
    return _read_oldest("read_oldest", wiki, group, wiki.groups[group], attribute)


def open_oldest_region(wiki: SizedSite, rng: random.Random) -> Goal:
    group, by = shared.draw_group(wiki, rng), rng.choice(wiki.filters())
    there = [each for each in wiki.groups[group] if by.holds(each)]
    first = shared.first_of(wiki, there)
    path = wiki.thing_path(first)
    plan = [shared.sorted_list(wiki, group, first, **by.query), visit(path), done(f"This is {first.name}.")]
    facts = (
        shared.one_page_fact(wiki, f"one of the {group}", wiki.groups[group]),
        shared.one_page_fact(wiki, f"one of the {group} in the {by.label}", there),
        *shared.page_facts(f"the oldest of them, {first.name},", path),
    )
    fields = {"noun": shared.noun_of(first), "region": by.label}
    return Goal("oldest_region", f"{slug(group)}-{by.label}", fields, facts, plan)


def read_oldest_region(wiki: SizedSite, rng: random.Random) -> Goal:
    group, by = shared.draw_group(wiki, rng), rng.choice(wiki.filters())
    there = [each for each in wiki.groups[group] if by.holds(each)]
    attribute = rng.choice(_numbers(wiki, shared.first_of(wiki, there)))
    return _read_oldest("read_oldest_region", wiki, group, there, attribute, by)


def _numbers(wiki: SizedSite, article: Entity) -> list[Attribute]:
    return [each for each in wiki.known(article) if each.type == "number"]


def _read_oldest(
    name: str, wiki: SizedSite, group: str, those: list[Entity], attribute: Attribute, by: Constraint | None = None
) -> Goal:
    """A goal to tell a value of the oldest of some articles, which are a topic, or what a filter leaves of it."""
    first, label = shared.first_of(wiki, those), attribute.label
    query, region = (by.query, {"region": by.label}) if by else ({}, {})
    nouns = " in the ".join((group, *region.values()))
    any_seen = [{"seen": [fact_name(each.slug, label)]} for each in those]
    facts = (
        fact(f"The {label} of one of the {nouns} was shown", one_of=any_seen),
        shared.seen_fact(first, attribute, f"the oldest one, {first.name},"),
        *shared.among_facts(wiki, nouns, those, first, attribute),
    )
    plan = [
        shared.sorted_list(wiki, group, first, **query),
        visit(wiki.thing_path(first)),
        shared.tell(first, attribute),
    ]
    key = "-".join((slug(group), *region.values(), label))
    return Goal(name, key, {"noun": shared.noun_of(first), **region, "label": label}, facts, plan)


class Wiki(SizedSite):
    kind = "wiki"
    section, lists, things = "topic", "t", "a"
    narrowing = ("region",)
    makers = MappingProxyType(
        {
            1: (shared.open_list, shared.open_list, shared.search),
            2: (shared.open_thing, shared.open_thing, shared.open_result, shared.open_page),
            3: (narrow, shared.open_first, shared.read, shared.read),
            4: (compare, read_oldest, open_oldest_region, read_oldest_region),
        }
    )

    def draw(self, rng: random.Random) -> list[Collection]:
        self.tagline = rng.choice(_MOTTOS)
        self.headings = (self.look.heading,)
        editors = [] if self.layout == "compact" else people(rng, 8)
        self.actions = ACTIONS if editors else ()
        collection, self._related = articles(self.seed, editors)
        return [collection]

    def story(self, entity: Entity) -> tuple[str, ...]:
        rng, noun = random.Random(f"article-{entity.name}"), entity.name.split()[-1].lower()
        body = rng.sample(_BODIES, 5)
        lead = rng.choice(_LEADS).format(
            name=entity.name, noun=noun, nouns=plural(noun), region=entity.values["region"]
        )
        return f"{lead} {body[0]}", " ".join(body[1:4]), f"{body[4]} {rng.choice(_TAILS)}"

    def drawing(self, entity: Entity) -> Markup:
        return Markup(picture(entity.name, entity.name.split()[-1]))

    def related(self, entity: Entity) -> list[Entity]:
        return [self.main.by_slug[slug] for slug in self._related[entity.slug]]

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        related = super().extra(page, overlay)
        if page.name != "entity":
            return related
        return [*discussion("Discussion", (), "remarks", page.data["entity"], overlay), *related]
