"""Goals on wikis, by difficulty: 1 one page, 2 one article, 3 a filter or a fact, 4 two facts at once."""

from __future__ import annotations

import random
from typing import Any

from webdojo.sites import words
from webdojo.sites.goal import Goal, done, open_result_goal, place, search_goal, second_page_goal, visit
from webdojo.sites.site import href
from webdojo.sites.verdict import number, text
from webdojo.sites.wiki.content import Article, Topic
from webdojo.sites.wiki.pages import Wiki


def draw_goal(wiki: Wiki, difficulty: int, rng: random.Random) -> Goal:
    """Draw a goal of a difficulty of 1..4."""
    makers = {
        1: (_open_topic, _open_topic, _search),
        2: (_open_article, _open_article, _open_result, _second_page),
        3: (_region, _open_oldest, _read, _read),
        4: (_compare, _read_oldest, _open_oldest_region, _read_oldest_region),
    }[difficulty]
    return rng.choice(makers)(wiki, rng)


def _topic(wiki: Wiki, rng: random.Random) -> Topic:
    return rng.choice(list(wiki.content.topics.values()))


def _article(wiki: Wiki, rng: random.Random) -> Article:
    """An article, mostly from the first page of its topic."""
    first = wiki.look.per_page if rng.random() < 0.7 else None
    return rng.choice(_topic(wiki, rng).articles[:first])


def _page(path: str, **query: str) -> dict[str, Any]:
    return {"url": place(path, **query)}


def _open_topic(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    path = f"/t/{t.slug}"
    return Goal("category", 1, t.slug, {"nouns": t.name}, _page(path), [visit(path), done(f"This is {t.name}.")])


def _search(wiki: Wiki, rng: random.Random) -> Goal:
    return search_goal(_article(wiki, rng).name)


def _open_article(wiki: Wiki, rng: random.Random) -> Goal:
    a = _article(wiki, rng)
    path = f"/a/{a.slug}"
    return Goal("open", 2, a.slug, {"name": a.name}, _page(path), [visit(path), done(f"This is {a.name}.")])


def _open_result(wiki: Wiki, rng: random.Random) -> Goal:
    a = _article(wiki, rng)
    return open_result_goal(a.name, a.slug, f"/a/{a.slug}")


def _second_page(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    return second_page_goal(t.name, t.slug, f"/t/{t.slug}")


def _region(wiki: Wiki, rng: random.Random) -> Goal:
    t, region = _topic(wiki, rng), rng.choice(words.REGIONS)
    path = f"/t/{t.slug}"
    query = {"region": region.lower()}
    plan = [visit(href(path, **query)), done(f"{t.name} are {region}.")]
    return Goal("region", 3, f"{t.slug}-{region}", {"nouns": t.name, "region": region}, _page(path, **query), plan)


def _open_oldest(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    first = _oldest(t.articles)
    path = f"/a/{first.slug}"
    plan = [_sorted(t, first), visit(path), done(f"This is {first.name}.")]
    return Goal("oldest", 3, t.slug, {"noun": t.noun}, _page(path), plan)


def _read(wiki: Wiki, rng: random.Random) -> Goal:
    a = _article(wiki, rng)
    label = rng.choice(list(a.facts()))
    plan = [visit(f"/a/{a.slug}"), _tell(a, label)]
    return Goal("read", 3, f"{a.slug}-{label}", {"name": a.name, "label": label}, _fact(a, label), plan)


def _compare(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    a, b = rng.sample(t.articles[: wiki.look.per_page], 2)
    label = rng.choice(["Year", *words.WIKI_NUMBERS[t.noun]])
    first, second = int(a.facts()[label]), int(b.facts()[label])
    high = max(first, second)
    evaluator = {"answer": number(high), "seen": [f"{a.slug}.{label}", f"{b.slug}.{label}"]}
    plan = [
        visit(f"/a/{a.slug}", f"{label} of {a.name} is {first}."),
        visit(f"/a/{b.slug}"),
        done(f"{label} is {first} and {second}. {high} is higher.", str(high)),
    ]
    fields = {"a": a.name, "b": b.name, "label": label}
    return Goal("compare", 4, f"{a.slug}-{b.slug}-{label}", fields, evaluator, plan)


def _read_oldest(wiki: Wiki, rng: random.Random) -> Goal:
    t = _topic(wiki, rng)
    first = _oldest(t.articles)
    label = rng.choice(list(first.facts()))
    plan = [_sorted(t, first), visit(f"/a/{first.slug}"), _tell(first, label)]
    return Goal("read_oldest", 4, f"{t.slug}-{label}", {"noun": t.noun, "label": label}, _fact(first, label), plan)


def _open_oldest_region(wiki: Wiki, rng: random.Random) -> Goal:
    t, region = _topic(wiki, rng), rng.choice(words.REGIONS)
    first = _oldest([a for a in t.articles if a.region == region])
    path = f"/a/{first.slug}"
    plan = [_sorted(t, first, region), visit(path), done(f"This is {first.name}.")]
    return Goal("oldest_region", 4, f"{t.slug}-{region}", {"noun": t.noun, "region": region}, _page(path), plan)


def _read_oldest_region(wiki: Wiki, rng: random.Random) -> Goal:
    t, region = _topic(wiki, rng), rng.choice(words.REGIONS)
    first = _oldest([a for a in t.articles if a.region == region])
    label = rng.choice(["Year", *words.WIKI_NUMBERS[t.noun]])
    plan = [_sorted(t, first, region), visit(f"/a/{first.slug}"), _tell(first, label)]
    fields = {"noun": t.noun, "region": region, "label": label}
    return Goal("read_oldest_region", 4, f"{t.slug}-{region}-{label}", fields, _fact(first, label), plan)


def _fact(article: Article, label: str) -> dict[str, Any]:
    value = article.facts()[label]
    return {"answer": number(int(value)) if value.isdigit() else text(value), "seen": [f"{article.slug}.{label}"]}


def _tell(article: Article, label: str) -> dict[str, str]:
    value = article.facts()[label]
    return done(f"{label} is {value}.", value)


def _sorted(topic: Topic, first: Article, region: str = "") -> dict[str, str]:
    return visit(href(f"/t/{topic.slug}", region=region.lower(), sort="year"), f"{first.name} is first.")


def _oldest(articles: tuple[Article, ...] | list[Article]) -> Article:
    return min(articles, key=lambda a: a.year)
