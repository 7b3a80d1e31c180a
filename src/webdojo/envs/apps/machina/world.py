"""The world of a forum from a seed: members, forums, topics, posts and polls as plain records.

The ids of records are those that they have in the database. Worlds that train and held-out ones share no member, no
forum, no subject of a topic, no text of a post and no poll: the themes that they are about and the family names are
divided between them. All dates lie in the past, so that what an episode adds is the newest.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from webdojo.sites import HELDOUT_SEED, host_of
from webdojo.sites.content.drawing import distinct
from webdojo.sites.content.people import FIRST_NAMES, LAST_NAMES
from webdojo.sites.forum import BOARDS, OPENINGS, REPLIES, THEMES, TITLES, Theme

MEMBERS, TOPICS, BOARDS_OF_A_THEME = 48, 100, 4
MODERATOR, ME = 1, 2
"""Ids of the moderator, and of the member whom tasks are about."""
OPEN, LOCKED, MOVED = 0, 1, 2
"""What a topic may be, its `status` in the database."""
PLAIN, STICKY, ANNOUNCEMENT = 0, 1, 2
"""How a topic is listed, its `type` in the database."""
ON_A_PAGE = 15
"""How many posts of a topic the forum shows on one page."""
PASSWORD = "webdojo-17"
_NEWEST = datetime(2025, 6, 2, 18)
_REPLIES = (0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 16)
_QUEUED = (3, 2, 2, 1, 1, 1, 1, 1)
"""How many posts each of some members has in the moderation queue."""
_SAID = (
    "Last week I saw {thing} that {fault} {place}.",
    "The one time I tried to {deed} {thing} {place}, it went well.",
    "Nobody should {deed} {thing} {place} without a plan.",
    "My brother has {thing} that {fault}, but only {place}.",
    "I would rather {deed} {thing} {place} than get another one.",
    "If {thing} {fault} {place}, I just wait.",
)
"""What only one post of a forum says."""
_QUESTIONS = ("What would you {deed} first {place}?", "Which one {fault} most often {place}?", "What is best {place}?")


def make_world(seed: int) -> dict[str, Any]:
    """The records of a seed, as plain JSON."""
    heldout = seed >= HELDOUT_SEED
    rng = random.Random(f"machina-{seed}")
    themes = rng.sample(THEMES[heldout::2], 2)
    categories, forums = _forums(rng, themes)
    people = _people(rng, heldout)
    topics = _topics(rng, themes, forums, people)
    posts = _posts(rng, heldout, themes, forums, topics, people)
    return {
        "seed": seed,
        "host": host_of("machina", seed),
        "password": PASSWORD,
        "moderator": {"id": MODERATOR, "name": "moderator"},
        "members": people,
        "categories": categories,
        "forums": forums,
        "topics": topics,
        "posts": posts,
        "polls": _polls(rng, themes, forums, topics, people),
        "subscriptions": _subscriptions(rng, topics, people),
    }


def _forums(rng: random.Random, themes: list[Theme]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A category for each theme, and its forums; a category is a forum, too, and has one of their ids."""
    categories, forums = [], []
    for at, theme in enumerate(themes):
        first = at * (BOARDS_OF_A_THEME + 1) + 1
        categories.append({"id": first, "name": theme.name.title(), "about": theme.heading})
        for id, board in enumerate(rng.sample(sorted(BOARDS), BOARDS_OF_A_THEME), first + 1):
            name = f"{theme.name.title()} {rng.choice(BOARDS[board])}"
            forums.append({"id": id, "name": name, "category": first, "theme": at, "board": board})
    return categories, forums


def _people(rng: random.Random, heldout: bool) -> list[dict[str, Any]]:
    """Members, first the one whom tasks are about."""
    last_names = [name for name in sorted(set(LAST_NAMES))[heldout::2] if name.isalpha()]
    pairs = distinct(MEMBERS, lambda: (rng.choice(FIRST_NAMES), rng.choice(last_names)), lambda pair: pair[1])
    return [
        {
            "id": id,
            "name": f"{first}.{last}".lower(),
            "first": first,
            "last": last,
            "signature": f"Greetings from the {last}s" if id % 3 == 0 else "",
        }
        for id, (first, last) in enumerate(pairs, ME)
    ]


def _filled(rng: random.Random, theme: Theme, sentences: tuple[str, ...]) -> str:
    """One of these sentences with words of a theme."""
    thing, other = rng.sample(theme.things, 2)
    return rng.choice(sentences).format(
        thing=thing,
        other=other,
        deed=rng.choice(theme.deeds),
        fault=rng.choice(theme.faults),
        place=rng.choice(theme.places),
    )


def _topics(
    rng: random.Random, themes: list[Theme], forums: list[dict[str, Any]], people: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Topics, newest last; the member whom tasks are about has started some."""

    def draw() -> tuple[dict[str, Any], str]:
        forum = rng.choice(forums)
        return forum, _filled(rng, themes[forum["theme"]], TITLES[forum["board"]])

    drawn = distinct(TOPICS, draw, lambda pair: pair[1])
    mine, locked, sticky, announcements = (set(rng.sample(range(1, TOPICS + 1), count)) for count in (9, 8, 6, 3))
    return [
        {
            "id": id,
            "forum": forum["id"],
            "subject": subject,
            "starter": ME if id in mine else rng.choice(people[1:])["id"],
            "status": LOCKED if id in locked else OPEN,
            "type": ANNOUNCEMENT if id in announcements else STICKY if id in sticky else PLAIN,
        }
        for id, (forum, subject) in enumerate(drawn, 1)
    ]


def _posts(
    rng: random.Random, heldout: bool, themes: list[Theme], forums: list[dict[str, Any]],
    topics: list[dict[str, Any]], people: list[dict[str, Any]],
) -> list[dict[str, Any]]:  # fmt: skip
    """The posts of all topics, one topic after the other; each has a `quote` that no other post has."""
    about = {forum["id"]: themes[forum["theme"]] for forum in forums}
    others = [each["id"] for each in people[1:]]
    answered = {each["id"] for each in rng.sample([each for each in topics if each["starter"] != ME], 20)}
    queued = [
        author for author, count in zip(rng.sample(others, len(_QUEUED)), _QUEUED, strict=True) for _ in range(count)
    ]
    waiting = dict(zip(rng.sample([each["id"] for each in topics], len(queued)), queued, strict=True))
    posts: list[dict[str, Any]] = []
    quotes: set[str] = set()
    for topic in topics:
        authors = [topic["starter"], *(rng.choice(others) for _ in range(rng.choice(_REPLIES)))]
        if topic["id"] in answered:
            authors.insert(rng.randint(1, len(authors)), ME)
        if topic["id"] in waiting:
            authors.append(waiting[topic["id"]])
        began = _NEWEST - timedelta(days=3 * (len(topics) - topic["id"]) + 2)
        for at, author in enumerate(authors):
            while (quote := _filled(rng, about[topic["forum"]], _SAID)) in quotes:
                pass
            quotes.add(quote)
            opening = rng.choice((REPLIES if at else OPENINGS)[heldout::2])
            posts.append(
                {
                    "id": len(posts) + 1,
                    "topic": topic["id"],
                    "author": author,
                    "subject": f"Re: {topic['subject']}" if at else topic["subject"],
                    "text": f"{opening} {quote}",
                    "quote": quote,
                    "approved": topic["id"] not in waiting or at < len(authors) - 1,
                    "time": (began + timedelta(minutes=97 * at)).isoformat(),
                }
            )
    return posts


def _polls(
    rng: random.Random, themes: list[Theme], forums: list[dict[str, Any]], topics: list[dict[str, Any]],
    people: list[dict[str, Any]],
) -> list[dict[str, Any]]:  # fmt: skip
    """Polls of some topics, in which others have voted: no two options of one have as many votes."""
    about = {forum["id"]: themes[forum["theme"]] for forum in forums}
    chosen = rng.sample([each for each in topics if each["starter"] != ME and each["status"] == OPEN], 14)
    polls = []
    for id, topic in enumerate(chosen, 1):
        theme, count = about[topic["forum"]], rng.choice((3, 4))
        votes = rng.sample(range(1, 12), count)
        voters = iter(rng.sample([each["id"] for each in people[1:]], sum(votes)))
        options = [
            {"text": thing.partition(" ")[2].capitalize(), "voters": [next(voters) for _ in range(given)]}
            for thing, given in zip(rng.sample(theme.things, count), votes, strict=True)
        ]
        polls.append({"id": id, "topic": topic["id"], "question": _filled(rng, theme, _QUESTIONS), "options": options})
    ids = iter(range(1, TOPICS))
    for poll in polls:
        for option in poll["options"]:
            option["id"] = next(ids)
    return polls


def _subscriptions(
    rng: random.Random, topics: list[dict[str, Any]], people: list[dict[str, Any]]
) -> list[dict[str, int]]:
    """Who follows which topic: first the member whom tasks are about, ten of them."""
    mine = [(topic["id"], ME) for topic in rng.sample(topics, 10)]
    others = distinct(40, lambda: (rng.choice(topics)["id"], rng.choice(people[1:])["id"]))
    return [{"id": id, "topic": topic, "member": member} for id, (topic, member) in enumerate([*mine, *others], 1)]


def replies(world: dict[str, Any]) -> Counter[int]:
    """How many replies can be seen in each topic, by its id."""
    count = Counter(post["topic"] for post in world["posts"] if post["approved"])
    return Counter({topic["id"]: count[topic["id"]] - 1 for topic in world["topics"]})
