"""What the content of many kinds is drawn with."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import date
from typing import Literal, TypeVar

from webdojo.sites.blocks import Block, Post, Posts
from webdojo.sites.catalog import Attribute, Entity, Value, made_about
from webdojo.sites.content.words import slug
from webdojo.sites.site import Overlay

T = TypeVar("T")
_ABSENT = 12
_FIRST_DAY, _DAYS = date(2025, 1, 1).toordinal(), 780
Limits = Mapping[str, Sequence[Value]]
DATE_LIMITS: Sequence[Value] = ("2025-07-01", "2026-01-01", "2026-09-01")
"""Limits for the dates of what is `recent`."""


def distinct(count: int, draw: Callable[[], T], key: Callable[[T], Hashable] = lambda drawn: drawn) -> list[T]:
    """Draw until there are `count` things with different keys."""
    found: dict[Hashable, T] = {}
    while len(found) < count:
        drawn = draw()
        found[key(drawn)] = drawn
    return list(found.values())


def titled(count: int, draw: Callable[[], tuple[str, str]]) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Draw pairs of a sort and a title: those that a site has, and titles like them that it does not have."""
    drawn = distinct(count + _ABSENT, draw, lambda pair: slug(pair[1]))
    return drawn[_ABSENT:], tuple(title for _, title in drawn[:_ABSENT])


def recent(rng: random.Random, count: int) -> list[int]:
    """Draw `count` different days of the last two years for `day`, the latest first."""
    return sorted(rng.sample(range(_DAYS), count), reverse=True)


def day(number: int) -> str:
    """The date so many days after the beginning of 2025."""
    return date.fromordinal(_FIRST_DAY + number).isoformat()


def day_of(rng: random.Random, year: int) -> str:
    return f"{year}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def entity(name: str, /, texts: tuple[str, ...] = (), **values: Value) -> Entity:
    """The entity of a name, whose slug follows from it."""
    return Entity(slug(name), name, values, texts)


def measure(
    key: str,
    label: str,
    unit: str,
    filter: Literal["max", "min"],
    sort: str,
    least: str = "",
    phrase: str = "",
    noun: str = "",
    *,
    listed: bool = True,
) -> Attribute:
    """A number that lists are narrowed and ordered by; without a phrase, `with a reading time of at most 5 min`."""
    limit = {"max": "most", "min": "least"}[filter]
    phrase = phrase or f"with a {label.lower()} of at {limit} {{value}}"
    return Attribute(key, label, "number", unit, listed, filter, sort, least, phrase, noun=noun)


def counted(key: str, label: str, sort: str = "", least: str = "", *, listed: bool = False) -> Attribute:
    """A number of things that instructions limit as `with 5 or more votes` and ask for as `number of votes`."""
    things = label.lower()
    return measure(
        key, label, "", "min", sort, least, f"with {{value}} or more {things}", f"number of {things}", listed=listed
    )


def discussion(title: str, said: Iterable[Post], made: str, about: Entity, overlay: Overlay) -> list[Block]:
    """What was said about an entity, and what the session added in a collection; no block if there is nothing."""
    posts = [*said]
    for own in made_about(made, about.slug, overlay.state):
        points = own.get("points", own.get("rating", ""))
        posts.append(Post(str(own.get("reader", "You")), str(own["text"]), f"{points} points" if points != "" else ""))
    return [Posts(title, tuple(posts))] if posts else []
