"""What a wiki tells: a pure function of its seed, the same in every layout."""

from __future__ import annotations

import random
from dataclasses import dataclass

from webdojo.sites import words

TOPICS = 5
ARTICLES_PER_TOPIC = 12


@dataclass(frozen=True)
class Article:
    """One article. Years and numbers differ within a topic."""

    slug: str
    name: str
    noun: str
    topic: str
    """Slug of the topic."""
    year: int
    region: str
    numbers: tuple[tuple[str, int], ...]
    """(label, value) of the two facts that belong to the noun."""
    text: str
    related: tuple[str, ...]
    """Slugs of three other articles."""

    def facts(self) -> dict[str, str]:
        """Label to value, as pages show them."""
        return {"Year": str(self.year), "Region": self.region} | {label: str(value) for label, value in self.numbers}


@dataclass(frozen=True)
class Topic:
    slug: str
    name: str
    noun: str
    articles: tuple[Article, ...]


@dataclass(frozen=True)
class WikiContent:
    topics: dict[str, Topic]
    articles: dict[str, Article]


def make_content(seed: int) -> WikiContent:
    """Draw topics and articles."""
    rng = random.Random(f"wiki-{seed}-content")
    names = {noun: rng.sample(words.ADJECTIVES, ARTICLES_PER_TOPIC) for noun in rng.sample(words.WIKI_NOUNS, TOPICS)}
    slugs = [words.slug(f"{adjective} {noun}") for noun, adjectives in names.items() for adjective in adjectives]
    topics = {}
    for noun, adjectives in names.items():
        years = rng.sample(range(1100, 1990), ARTICLES_PER_TOPIC)
        columns = [rng.sample(range(20, 990), ARTICLES_PER_TOPIC) for _ in words.WIKI_NUMBERS[noun]]
        regions = [*words.REGIONS, *words.REGIONS, *rng.choices(words.REGIONS, k=ARTICLES_PER_TOPIC - 8)]
        rng.shuffle(regions)
        topic = words.slug(words.plural(noun))
        articles = []
        for i, adjective in enumerate(adjectives):
            name = f"{adjective} {noun}"
            text = rng.choice(words.WIKI_TEXT).format(noun=noun, region=regions[i], year=years[i])
            numbers = tuple((label, column[i]) for label, column in zip(words.WIKI_NUMBERS[noun], columns, strict=True))
            related = tuple(rng.sample([s for s in slugs if s != words.slug(name)], 3))
            articles.append(Article(words.slug(name), name, noun, topic, years[i], regions[i], numbers, text, related))
        topics[topic] = Topic(topic, words.plural(noun), noun, tuple(articles))
    return WikiContent(topics, {a.slug: a for t in topics.values() for a in t.articles})
