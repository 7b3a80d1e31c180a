"""Goals on wikis, by difficulty: 1 one page, 2 one article, 3 a filter or a fact, 4 two facts at once.

A goal has as many facts as its difficulty; each is needed, whatever way leads to the goal. Large wikis
have none that one link of the home page leads to, so that hardly a random click reaches a goal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from webdojo.sites.content import words
from webdojo.sites.goal import (
    Fact,
    Goal,
    done,
    end_fact,
    fact,
    narrowed_facts,
    one_page_fact,
    open_result_goal,
    page_facts,
    page_goal,
    place,
    search_goal,
    visit,
)
from webdojo.sites.site import href
from webdojo.sites.verdict.answers import among, number, scalar, shown
from webdojo.sites.wiki.content import Article, Topic
from webdojo.sites.wiki.pages import Wiki

_Maker = Callable[[Wiki, random.Random], Goal]


def draw_goal(wiki: Wiki, difficulty: int, rng: random.Random) -> Goal:
    """Draw a goal of a difficulty of 1..4."""
    if wiki.large:
        easy: dict[int, tuple[_Maker, ...]] = {1: (_open_article, _open_article, _search), 2: (_open_result, _page)}
    else:
        easy = {
            1: (_open_topic, _open_topic, _search),
            2: (_open_article, _open_article, _open_result, _page),
        }
    makers = {
        **easy,
        3: (_region, _open_oldest, _read, _read),
        4: (_compare, _read_oldest, _open_oldest_region, _read_oldest_region),
    }
    return rng.choice(makers[difficulty])(wiki, rng)


def _topic(wiki: Wiki, rng: random.Random) -> Topic:
    return rng.choice(list(wiki.content.topics.values()))


def _article(wiki: Wiki, rng: random.Random) -> Article:
    """An article; in a small wiki mostly from the first page of its topic."""
    first = wiki.per_page if not wiki.large and rng.random() < 0.7 else None
    return rng.choice(_topic(wiki, rng).articles[:first])


def _open_topic(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    path = f"/t/{t.slug}"
    end = fact(f"The list of {t.name} is shown at the end", url=place(path))
    return Goal("category", t.slug, {"nouns": t.name}, (end,), [visit(path), done(f"This is {t.name}.")])


def _search(wiki: Wiki, rng: random.Random) -> Goal:
    return search_goal(_article(wiki, rng).name)


def _open_article(wiki: Wiki, rng: random.Random) -> Goal:
    a = _article(wiki, rng)
    path = f"/a/{a.slug}"
    plan = [visit(path), done(f"This is {a.name}.")]
    facts = (end_fact(a.name, path),) if wiki.large else page_facts(a.name, path)
    return Goal("open", a.slug, {"name": a.name}, facts, plan)


def _open_result(wiki: Wiki, rng: random.Random) -> Goal:
    a = _article(wiki, rng)
    return open_result_goal(a.name, a.slug, f"/a/{a.slug}")


def _page(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    page = rng.randint(2, wiki.pages(len(t.articles))) if wiki.large else 2
    return page_goal(t.name, f"{t.slug}-{page}" if wiki.large else t.slug, f"/t/{t.slug}", page)


def _region(wiki: Wiki, rng: random.Random) -> Goal:
    t, region = _topic(wiki, rng), rng.choice(words.REGIONS)
    path = f"/t/{t.slug}"
    query = {"region": region.lower()}
    plan = [visit(href(path, **query)), done(f"{t.name} are {region}.")]
    facts = narrowed_facts(t.name, f"the {region}", path, **query)
    return Goal("region", f"{t.slug}-{region}", {"nouns": t.name, "region": region}, facts, plan)


def _open_oldest(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    first = _oldest(t.articles)
    path = f"/a/{first.slug}"
    plan = [_sorted(t, first), visit(path), done(f"This is {first.name}.")]
    facts = (_any_page(f"one of the {t.name}", t.articles), *page_facts(f"the oldest one, {first.name},", path))
    return Goal("oldest", t.slug, {"noun": t.noun}, facts, plan)


def _read(wiki: Wiki, rng: random.Random) -> Goal:
    a = _article(wiki, rng)
    label = rng.choice(list(a.facts()))
    plan = [visit(f"/a/{a.slug}"), _tell(a, label)]
    topic = wiki.content.topics[a.topic]
    facts = (_seen(a.name, a, label), *_answer(topic.name, topic.articles, a, label))
    return Goal("read", f"{a.slug}-{label}", {"name": a.name, "label": label}, facts, plan)


def _compare(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    a, b = rng.sample(t.articles[: wiki.per_page], 2)
    label = rng.choice(["Year", *words.WIKI_NUMBERS[t.noun]])
    first, second = int(a.facts()[label]), int(b.facts()[label])
    high = max(first, second)
    facts = (
        _seen(a.name, a, label),
        _seen(b.name, b, label),
        fact(f"The answer is the {label} of one of them", answer=among([first, second])),
        fact(f"The answer is {high}, the higher", answer=number(high)),
    )
    plan = [
        visit(f"/a/{a.slug}", f"{label} of {a.name} is {first}."),
        visit(f"/a/{b.slug}"),
        done(f"{label} is {first} and {second}. {high} is higher.", str(high)),
    ]
    fields = {"a": a.name, "b": b.name, "label": label}
    return Goal("compare", f"{a.slug}-{b.slug}-{label}", fields, facts, plan)


def _read_oldest(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    first = _oldest(t.articles)
    label = rng.choice(list(first.facts()))
    plan = [_sorted(t, first), visit(f"/a/{first.slug}"), _tell(first, label)]
    facts = _oldest_facts(t.name, t.articles, first, label)
    return Goal("read_oldest", f"{t.slug}-{label}", {"noun": t.noun, "label": label}, facts, plan)


def _open_oldest_region(wiki: Wiki, rng: random.Random) -> Goal:
    t, region = _topic(wiki, rng), rng.choice(words.REGIONS)
    there = [a for a in t.articles if a.region == region]
    first = _oldest(there)
    path = f"/a/{first.slug}"
    plan = [_sorted(t, first, region), visit(path), done(f"This is {first.name}.")]
    facts = (
        _any_page(f"one of the {t.name}", t.articles),
        _any_page(f"one of the {t.name} in the {region}", there),
        *page_facts(f"the oldest of them, {first.name},", path),
    )
    return Goal("oldest_region", f"{t.slug}-{region}", {"noun": t.noun, "region": region}, facts, plan)


def _read_oldest_region(wiki: Wiki, rng: random.Random) -> Goal:
    t, region = _topic(wiki, rng), rng.choice(words.REGIONS)
    there = [a for a in t.articles if a.region == region]
    first = _oldest(there)
    label = rng.choice(["Year", *words.WIKI_NUMBERS[t.noun]])
    plan = [_sorted(t, first, region), visit(f"/a/{first.slug}"), _tell(first, label)]
    fields = {"noun": t.noun, "region": region, "label": label}
    facts = _oldest_facts(f"{t.name} in the {region}", there, first, label)
    return Goal("read_oldest_region", f"{t.slug}-{region}-{label}", fields, facts, plan)


def _any_page(what: str, articles: Iterable[Article]) -> Fact:
    return one_page_fact(what, (f"/a/{a.slug}" for a in articles))


def _seen(what: str, article: Article, label: str) -> Fact:
    return fact(f"The {label} of {what} was shown", seen=[f"{article.slug}.{label}"])


def _answer(nouns: str, articles: Iterable[Article], article: Article, label: str) -> tuple[Fact, Fact]:
    """The answer is a value that one of some articles has, and the value that one article has."""
    value = article.facts()[label]
    known = among(dict.fromkeys(scalar(a.facts()[label]) for a in articles))
    return (
        fact(f"The answer is the {label} of one of the {nouns}", answer=known),
        fact(f"The answer is {value}", answer=shown(value)),
    )


def _oldest_facts(nouns: str, articles: Iterable[Article], first: Article, label: str) -> tuple[Fact, ...]:
    """The value of the oldest of some articles was found, and is the answer."""
    articles = list(articles)
    return (
        fact(
            f"The {label} of one of the {nouns} was shown", one_of=[{"seen": [f"{a.slug}.{label}"]} for a in articles]
        ),
        _seen(f"the oldest one, {first.name},", first, label),
        *_answer(nouns, articles, first, label),
    )


def _tell(article: Article, label: str) -> dict[str, str]:
    value = article.facts()[label]
    return done(f"{label} is {value}.", value)


def _sorted(topic: Topic, first: Article, region: str = "") -> dict[str, str]:
    return visit(href(f"/t/{topic.slug}", region=region.lower(), sort="year"), f"{first.name} is first.")


def _oldest(articles: tuple[Article, ...] | list[Article]) -> Article:
    return min(articles, key=lambda a: a.year)
