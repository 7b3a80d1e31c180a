"""The world of a tracker from a seed: people, tickets with comments, and wiki pages as plain records.

Worlds that train and held-out ones share no person, no summary of a ticket and no wiki page: the family names, the
things that tickets are about and the words of page names are divided between them.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from webdojo.sites import HELDOUT_SEED, host_of
from webdojo.sites.content.drawing import distinct
from webdojo.sites.content.people import FIRST_NAMES, LAST_NAMES
from webdojo.sites.content.words import ADJECTIVES, WIKI_NOUNS, items
from webdojo.sites.tracker import COMMENTS, HINTS, REPORTS

PEOPLE, TICKETS, PAGES = 12, 140, 30
TODAY = date(2026, 11, 2)
COMPONENTS = items("accounts, billing, mobile, reports, search, sync")
MILESTONES = items("spring release, summer release, autumn release, winter release")
VERSIONS = items("1.0, 1.5, 2.0")
TYPES = items("defect, enhancement, task")
PRIORITIES = items("blocker, critical, major, minor, trivial")
RESOLUTIONS = items("fixed, invalid, wontfix, duplicate, worksforme")
_THINGS = items(
    "login page, sign-up form, invoice export, search index, password reset, user profile, price table, time sheet, "
    "map view, photo upload, mail digest, import wizard, audit trail, calendar feed, payment form, address book, dark "
    "theme, side menu, activity stream, tax report, file picker, chat window, welcome tour, team overview"
)
_FAULTS = items(
    "is blank, shows an error, loads slowly, crashes, freezes, ignores the time zone, loses its settings, shows old "
    "data, overlaps the footer, flickers, drops long names, cannot be reached by keyboard, ends in a loop"
)
_PLACES = items(
    "on small screens, in private windows, behind a proxy, for guests, with long names, on slow networks, under heavy "
    "load, on the first visit, for large accounts, on tablets, with two tabs open, over a VPN"
)
_SENTENCES = items(
    "It was last checked in October, Ask in the team room before you change anything, Backups of it are made every "
    "night, It moves to the new data centre in spring, New members read this page first, The keys are with the office"
)


def make_world(seed: int) -> dict[str, Any]:
    """The records of a seed, as plain JSON."""
    heldout = seed >= HELDOUT_SEED
    rng = random.Random(f"trac-{seed}")
    last_names = [name for name in sorted(set(LAST_NAMES))[heldout::2] if name.isalpha()]
    people = distinct(PEOPLE, lambda: f"{rng.choice(FIRST_NAMES)}.{rng.choice(last_names)}".lower())
    things = _THINGS[heldout::2]
    summaries = distinct(
        TICKETS, lambda: f"{rng.choice(things).capitalize()} {rng.choice(_FAULTS)} {rng.choice(_PLACES)}"
    )
    nouns = WIKI_NOUNS[heldout::2]
    pages = distinct(PAGES, lambda: f"{rng.choice(ADJECTIVES)}{rng.choice(nouns)}")
    return {
        "seed": seed,
        "host": host_of("trac", seed),
        "today": TODAY.isoformat(),
        "people": people,
        "components": list(COMPONENTS),
        "milestones": list(MILESTONES),
        "versions": list(VERSIONS),
        "tickets": [_ticket(rng, id, summary, people) for id, summary in enumerate(summaries, 1)],
        "pages": [_page(rng, name, people) for name in pages],
    }


def _ticket(rng: random.Random, id: int, summary: str, people: list[str]) -> dict[str, Any]:
    status = rng.choice(("new", "new", "assigned", "accepted", "closed"))
    return {
        "id": id,
        "summary": summary,
        "description": f"{rng.choice(REPORTS)} {rng.choice(HINTS)}",
        "type": rng.choice(TYPES),
        "priority": rng.choice(PRIORITIES),
        "component": rng.choice(COMPONENTS),
        "milestone": rng.choice(MILESTONES),
        "reporter": rng.choice(people),
        "owner": rng.choice(people),
        "status": status,
        "resolution": rng.choice(RESOLUTIONS) if status == "closed" else "",
        "date": (TODAY - timedelta(days=2 * (TICKETS - id) + 1)).isoformat(),
        "comments": [(rng.choice(people), text) for text in rng.sample(COMMENTS, rng.randrange(3))],
    }


def _page(rng: random.Random, name: str, people: list[str]) -> dict[str, Any]:
    room = rng.randint(100, 999)
    text = (
        f"= {name} =\n\n{rng.choice(_SENTENCES)}. {rng.choice(_SENTENCES)}.\n\n * Room: {room}\n * Floor: {room // 100}"
    )
    return {"name": name, "text": text, "room": room, "author": rng.choice(people)}
