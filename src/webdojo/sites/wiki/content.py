"""What a wiki tells: a pure function of its seed. A large wiki has all that the small one has, and more."""

from __future__ import annotations

import random
from dataclasses import dataclass

from webdojo.sites.content import words

TOPICS = 5
ARTICLES_PER_TOPIC = 12
LARGE_TOPICS = 8
LARGE_ARTICLES_PER_TOPIC = 30


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
    """Draw the topics and articles of a small wiki."""
    rng = random.Random(f"wiki-{seed}-content")
    names = {noun: rng.sample(words.ADJECTIVES, ARTICLES_PER_TOPIC) for noun in rng.sample(words.WIKI_NOUNS, TOPICS)}
    slugs = [words.slug(f"{adjective} {noun}") for noun, adjectives in names.items() for adjective in adjectives]
    topics = {}
    for noun, adjectives in names.items():
        years = rng.sample(range(1100, 1990), ARTICLES_PER_TOPIC)
        columns = [rng.sample(range(20, 990), ARTICLES_PER_TOPIC) for _ in words.WIKI_NUMBERS[noun]]
        articles = _articles(noun, adjectives, years, columns, slugs, rng)
        topic = words.slug(words.plural(noun))
        topics[topic] = Topic(topic, words.plural(noun), noun, articles)
    return WikiContent(topics, _by_slug(topics))


def make_large_content(seed: int) -> WikiContent:
    """Draw the topics and articles of a large wiki: those of the small one, and others after them."""
    small = make_content(seed)
    rng = random.Random(f"wiki-{seed}-large")
    known = {topic.noun: topic.articles for topic in small.topics.values()}
    others = [noun for noun in words.WIKI_NOUNS if noun not in known]
    known |= dict.fromkeys(rng.sample(others, LARGE_TOPICS - TOPICS), ())
    names = {}
    for noun, articles in known.items():
        free = [a for a in words.ADJECTIVES if f"{a} {noun}" not in {article.name for article in articles}]
        names[noun] = rng.sample(free, LARGE_ARTICLES_PER_TOPIC - len(articles))
    slugs = [*small.articles, *(words.slug(f"{a} {noun}") for noun, adjectives in names.items() for a in adjectives)]
    topics = {}
    for noun, adjectives in names.items():
        years = _others(range(1100, 1990), {a.year for a in known[noun]}, len(adjectives), rng)
        columns = [
            _others(range(20, 990), {a.numbers[i][1] for a in known[noun]}, len(adjectives), rng)
            for i in range(len(words.WIKI_NUMBERS[noun]))
        ]
        articles = (*known[noun], *_articles(noun, adjectives, years, columns, slugs, rng))
        topic = words.slug(words.plural(noun))
        topics[topic] = Topic(topic, words.plural(noun), noun, articles)
    return WikiContent(topics, _by_slug(topics))


def _articles(
    noun: str, adjectives: list[str], years: list[int], columns: list[list[int]], slugs: list[str], rng: random.Random
) -> tuple[Article, ...]:
    """Articles with these years and numbers, evenly over the regions; `slugs` are those that they may be related to."""
    regions = [*words.REGIONS, *words.REGIONS, *rng.choices(words.REGIONS, k=len(adjectives) - 8)]
    rng.shuffle(regions)
    topic = words.slug(words.plural(noun))
    articles = []
    for i, adjective in enumerate(adjectives):
        name = f"{adjective} {noun}"
        text = rng.choice(words.WIKI_TEXT).format(noun=noun, region=regions[i], year=years[i])
        numbers = tuple((label, column[i]) for label, column in zip(words.WIKI_NUMBERS[noun], columns, strict=True))
        related = tuple(rng.sample([s for s in slugs if s != words.slug(name)], 3))
        articles.append(Article(words.slug(name), name, noun, topic, years[i], regions[i], numbers, text, related))
    return tuple(articles)


def _others(values: range, taken: set[int], count: int, rng: random.Random) -> list[int]:
    return rng.sample([value for value in values if value not in taken], count)


def _by_slug(topics: dict[str, Topic]) -> dict[str, Article]:
    return {article.slug: article for topic in topics.values() for article in topic.articles}
