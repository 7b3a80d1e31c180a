"""The world of a magazine from a seed: pages, authors, categories, images, redirects and what a form received.

The ids of records are those that they have in the database. Worlds that train and held-out ones share no title of a
page or an image, no section, category or place, no person, no text of an article and no address that leads elsewhere:
the words, family names and numbers that these are made of are divided between them.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from webdojo.sites import HELDOUT_SEED, host_of
from webdojo.sites.content.drawing import distinct
from webdojo.sites.content.people import FIRST_NAMES, LAST_NAMES
from webdojo.sites.content.words import ADJECTIVES, WIKI_NOUNS, items, slug
from webdojo.sites.news import GAPS, TEXTS

HOME, FIRST_SECTION, EVENTS_PAGE, FORM_PAGE, FIRST_PAGE = 3, 4, 9, 10, 11
"""Ids of pages; articles and then events begin at the last."""
SECTIONS, ARTICLES, EVENTS = 5, 130, 40
AUTHORS, CATEGORIES, EDITORS, IMAGES, REDIRECTS, SUBMISSIONS = 24, 8, 6, 40, 40, 60
TODAY = date(2026, 11, 2)
PASSWORD = "webdojo-17"
DAYS = items("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday")
JOBS = items("Reporter, Columnist, Critic, Correspondent, Photographer, Editor at large")
CATEGORY_NAMES = items(
    "Architecture, Bicycles, Craft, Education, Energy, Families, Gardens, Health, History, Housing, Markets, Music, "
    "Nature, Parks, Schools, Seasons, Theatre, Transport, Volunteers, Weather"
)
STATUSES = ("live",) * 88 + ("changed",) * 14 + ("draft",) * 18 + ("moderation",) * 10
"""What articles are: public, public with a draft of another title, a draft alone, a draft that waits for approval."""
_THINGS = (
    *GAPS["place"],
    *items("town archive, farm shop, sailing club, toy museum, night bus, village hall, bird reserve, open-air stage"),
)
_TITLES = (
    "What {who} say about the {thing} and its {adjective} past",
    "The {adjective} return of the {thing}",
    "A {adjective} plan for the {thing}",
    "How {who} saved the {adjective} {thing}",
    "Why the {thing} will stay {adjective}",
    "Ten {adjective} facts about the {thing}",
    "One {adjective} day at the {thing}",
)
_EVENTS = items(
    "Concert, Workshop, Fair, Lecture, Exhibition, Walk, Market, Tournament, Reading, Festival, Parade, Picnic, "
    "Debate, Screening"
)
_KINDS = items("Stories, Notes, Files, Pages")
_PLACES = items("Hall, House, Barn, Rooms")
_MESSAGES = {
    False: ("I can bring my own tools.", "I am new in town.", "I have helped before.", "I would like to work outside."),
    True: ("Mornings are best for me.", "I come with a friend.", "I can drive a van.", "I speak three languages."),
}


def make_world(seed: int) -> dict[str, Any]:
    """The records of a seed, as plain JSON."""
    heldout = seed >= HELDOUT_SEED
    rng = random.Random(f"wagtail-{seed}")
    last_names = sorted(set(LAST_NAMES))[heldout::2]
    count = AUTHORS + EDITORS + SUBMISSIONS
    drawn = distinct(count, lambda: (rng.choice(FIRST_NAMES), rng.choice(last_names)), lambda name: name[1])
    people = [{"first": first, "last": last, "name": f"{first} {last}"} for first, last in drawn]
    sections = _sections(rng, heldout)
    images = distinct(IMAGES, lambda: f"{rng.choice(ADJECTIVES)} {rng.choice(WIKI_NOUNS[heldout::2])}")
    articles = _articles(rng, heldout, sections)
    public = [each["id"] for each in articles if each["status"] == "live"]
    numbers = rng.sample(range(1_000 + heldout, 9_000, 2), REDIRECTS)
    return {
        "seed": seed,
        "host": host_of("wagtail", seed),
        "today": TODAY.isoformat(),
        "password": PASSWORD,
        "editors": [
            {"id": 1, "first": "Sam", "last": "Keeper", "name": "Sam Keeper", "login": "sam"},
            *(
                {"id": id, **person, "login": slug(person["name"])}
                for id, person in enumerate(people[AUTHORS : AUTHORS + EDITORS], 2)
            ),
        ],
        "authors": [
            {"id": id, **person, "job": rng.choice(JOBS), "email": f"{slug(person['name'])}@magazine.example"}
            for id, person in enumerate(people[:AUTHORS], 1)
        ],
        "categories": [
            {"id": id, "name": name} for id, name in enumerate(rng.sample(CATEGORY_NAMES[heldout::2], CATEGORIES), 1)
        ],
        "days": list(DAYS),
        "sections": sections,
        "articles": articles,
        "events": _events(rng, heldout, last_names),
        "images": [{"id": id, "title": title} for id, title in enumerate(images, 1)],
        "redirects": [
            {"id": id, "path": f"/archive/{number}", "page": rng.choice(public)} for id, number in enumerate(numbers, 1)
        ],
        "submissions": [
            {
                "id": id,
                "name": person["name"],
                "email": f"{slug(person['name'])}@mail.example",
                "day": rng.choice(DAYS),
                "message": rng.choice(_MESSAGES[heldout]),
                "date": _ago(rng.randint(1, 300)),
            }
            for id, person in enumerate(people[AUTHORS + EDITORS :], 1)
        ],
    }


def new_title(rng: random.Random, heldout: bool) -> str:
    """A title for an article; one in fifty or so is there already."""
    title = rng.choice(_TITLES).format(
        who=rng.choice(GAPS["who"]), thing=rng.choice(_THINGS[heldout::2]), adjective=rng.choice(ADJECTIVES).lower()
    )
    return title[0].upper() + title[1:]


def _ago(days: int) -> str:
    return f"{TODAY - timedelta(days=days)}T09:00"


def _sections(rng: random.Random, heldout: bool) -> list[dict[str, Any]]:
    """The texts of an article are those of what its section is about."""
    subjects = list(TEXTS)[heldout::2]
    titles = rng.sample([(subject, f"{subject} {kind}") for subject in subjects for kind in _KINDS], SECTIONS)
    return [
        {"id": id, "title": title, "subject": subject, "slug": slug(title)}
        for id, (subject, title) in enumerate(titles, FIRST_SECTION)
    ]


def _articles(rng: random.Random, heldout: bool, sections: list[dict[str, Any]]) -> list[dict[str, Any]]:
    titles = distinct(ARTICLES + STATUSES.count("changed"), lambda: new_title(rng, heldout))
    statuses, spare = rng.sample(STATUSES, ARTICLES), titles[ARTICLES:]
    articles = []
    for at, (title, status) in enumerate(zip(titles, statuses, strict=False)):
        section = rng.choice(sections)
        creator, editor = rng.sample(range(2, EDITORS + 2), 2)
        first, second = rng.sample(TEXTS[section["subject"]], 2)
        articles.append(
            {
                "id": FIRST_PAGE + at,
                "title": title,
                "slug": slug(title),
                "section": section["id"],
                "author": rng.randint(1, AUTHORS),
                "category": rng.randint(1, CATEGORIES),
                "minutes": rng.randint(2, 40),
                "intro": f"{first} {second}",
                "image": rng.randint(1, IMAGES) if rng.random() < 0.3 else None,
                "status": status,
                "draft_title": spare.pop() if status == "changed" else title,
                "creator": creator,
                "editor": editor,
                "date": _ago(2 * (ARTICLES - at) + 1),
            }
        )
    return articles


def _events(rng: random.Random, heldout: bool, last_names: list[str]) -> list[dict[str, Any]]:
    titles = distinct(EVENTS, lambda: f"{rng.choice(ADJECTIVES)} {rng.choice(_EVENTS[heldout::2])}")
    return [
        {
            "id": id,
            "title": title,
            "slug": slug(title),
            "day": (TODAY + timedelta(days=rng.randint(30, 200))).isoformat(),
            "place": f"{rng.choice(last_names)} {rng.choice(_PLACES)}",
            "fee": rng.randint(3, 60),
            "editor": rng.randint(2, EDITORS + 1),
            "date": _ago(rng.randint(1, 100)),
        }
        for id, title in enumerate(titles, FIRST_PAGE + ARTICLES)
    ]
