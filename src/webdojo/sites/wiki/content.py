"""What a wiki tells: a pure function of its seed. A full-size wiki has all that the compact one has, and more."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from webdojo.sites.catalog import Attribute, Collection, Entity, Value
from webdojo.sites.content.drawing import day_of, entity
from webdojo.sites.content.words import ADJECTIVES, REGIONS, WIKI_NOUNS, WIKI_NUMBERS, WIKI_TEXT, plural, slug

TOPICS, LARGE_TOPICS = 5, 8
IN_TOPIC, IN_LARGE_TOPIC = 12, 30
RELATED = 3
_YEARS, _NUMBERS = range(1100, 1990), range(20, 990)
_MEASURES = tuple(dict.fromkeys(label for labels in WIKI_NUMBERS.values() for label in labels))
_ACCESS = ("Free", "By ticket", "On guided tours", "In summer")
_LIMITS: Mapping[str, Sequence[Value]] = {"region": REGIONS}
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
    Attribute("year", "Year", "number", "", True, "min", "oldest", "oldest", "dated {value} or later"),
    Attribute("access", "Access", filter="is", phrase="with the access \u201c{value}\u201d"),
    Attribute(
        "visitors",
        "Visitors a day",
        "number",
        "",
        False,
        "min",
        "Fewest visitors first",
        "least visited",
        "with at least {value} visitors a day",
        noun="number of visitors a day",
    ),
    Attribute("status", "Status", filter="is", phrase="with the status \u201c{value}\u201d"),
    *(Attribute(label.lower(), label, "number") for label in _MEASURES),
    Attribute("editor", "Last editor"),
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
            related[slug(name)] = rng.sample([each for each in slugs if each != slug(name)], RELATED)
            facts = dict(zip(labels, numbers, strict=True))
            made[noun].append(entity(name, topic=plural(noun), year=year, region=region, **facts, texts=(text,)))
    return made


def _others(values: range, key: str, known: list[Entity], count: int, rng: random.Random) -> list[int]:
    """So many values that none of the known articles has."""
    taken = {article.values[key] for article in known}
    return rng.sample([value for value in values if value not in taken], count)


def _described(article: Entity, editors: Sequence[str], rng: random.Random) -> Entity:
    """An article with what only the full-size layout tells, and without the text of the compact one."""
    return entity(
        article.name,
        **article.values,
        access=rng.choice(_ACCESS),
        visitors=rng.randint(20, 990),
        status=rng.choice(("Open", "Open", "Open", "Protected")),
        editor=rng.choice(editors),
        edited=day_of(rng, 2026),
    )
