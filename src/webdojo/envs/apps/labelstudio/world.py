"""The world of a labelling team from a seed: people, projects, tasks and their labels as plain records.

The ids of records are those that they have in the database. Worlds that train and held-out ones share no project, no
person, no customer, no number of an order and no text: family names, adjectives, brands, numbers and sentences are
divided between them.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from webdojo.sites import HELDOUT_SEED, host_of
from webdojo.sites.content.drawing import distinct
from webdojo.sites.content.people import FIRST_NAMES, LAST_NAMES
from webdojo.sites.content.words import ADJECTIVES, BRANDS, SHOP_NOUNS, items, slug

PEOPLE, PROJECTS, TASKS = 9, 8, 45
"""People; projects; tasks of each project, which are more than a page of its list has at first."""
NOW = datetime(2026, 11, 2)
PASSWORD = "webdojo-17"
KINDS = {
    "reviews": ("Positive", "Negative", "Mixed"),
    "mails": ("Billing", "Delivery", "Returns", "Account"),
    "calls": ("Urgent", "Normal", "Later"),
}
"""The sorts of projects, with the labels that their tasks get."""
LABELLED, SKIPPED, NEW = "labelled", "skipped", "new"
"""The states of a task."""
_MINUTES = 40 * 24 * 60
_SAID = items(
    "It came two days early, The box was open when it came, I have paid for it twice, My address is wrong on the bill, "
    "It still works after a year, The handle broke in the first week, I would like to send it back, "
    "Nobody answers my questions, The colour is not that of the picture, My parents want one as well, "
    "I cannot log in to see my order, The invoice has no number, The driver left it in the rain, "
    "It is smaller than I thought, Your shop was quick to help, I need it before the weekend, "
    "One part is missing, The price was lower last week, It smells of paint, I have changed my mind"
)
_ASKED = items(
    "Label what the text is about, Read the whole text before you choose, Ask in the team room if you are not sure, "
    "Choose one label only, Skip texts that are cut off, Do not judge the spelling, Take your time with long texts, "
    "The order number is no part of the text"
)


def make_world(seed: int) -> dict[str, Any]:
    """The records of a seed, as plain JSON."""
    heldout = seed >= HELDOUT_SEED
    rng = random.Random(f"labelstudio-{seed}")
    last_names = [name for name in sorted(set(LAST_NAMES))[heldout::2] if name.isalpha()]
    goods = distinct(PROJECTS, lambda: (rng.choice(ADJECTIVES[heldout::2]), rng.choice(SHOP_NOUNS)), lambda it: it[1])
    projects = [_project(rng, id, *good, heldout) for id, good in enumerate(goods, 1)]
    count = PROJECTS * TASKS
    numbers = rng.sample(range(10_000 + heldout, 100_000, 2), count)
    minutes = rng.sample(range(_MINUTES), count)
    customers = distinct(count, lambda: f"{rng.choice(FIRST_NAMES)} {rng.choice(last_names)}")
    return {
        "seed": seed,
        "host": host_of("labelstudio", seed),
        "now": NOW.isoformat(),
        "password": PASSWORD,
        "people": _people(rng, last_names),
        "projects": projects,
        "tasks": [
            _task(rng, at, projects[at // TASKS], numbers[at], minutes[at], customers[at], heldout)
            for at in range(count)
        ],
    }


def _people(rng: random.Random, last_names: list[str]) -> list[dict[str, Any]]:
    """The team; the first is who has logged in. Their pictures are the first two letters of their names, and pages
    write out names that are short."""
    first_names = distinct(
        PEOPLE, lambda: rng.choice([name for name in FIRST_NAMES if len(name) <= 6]), lambda it: it[:2]
    )
    short = [name for name in last_names if len(name) <= 7]
    people = zip(first_names, distinct(PEOPLE, lambda: rng.choice(short)), strict=True)
    return [
        {"id": id, "first": first, "last": last, "email": f"{slug(first)}{rng.randint(10, 99)}@{slug(last)}.example"}
        for id, (first, last) in enumerate(people, 1)
    ]


def _project(rng: random.Random, id: int, adjective: str, noun: str, heldout: bool) -> dict[str, Any]:
    kind = list(KINDS)[id % len(KINDS)]
    description, *instructions = rng.sample(_ASKED[heldout::2], 3)
    return {
        "id": id,
        "title": f"{adjective} {noun} {kind}",
        "noun": noun.lower(),
        "labels": list(KINDS[kind]),
        "description": f"{description}.",
        "instructions": " ".join(f"{each}." for each in instructions),
        "made": (NOW - timedelta(days=120 - 9 * id)).isoformat(),
    }


def _task(
    rng: random.Random, at: int, project: dict[str, Any], number: int, minute: int, customer: str, heldout: bool
) -> dict[str, Any]:
    first, second = rng.sample(_SAID[heldout::2], 2)
    brand = rng.choice(BRANDS[heldout::2])
    state = rng.choices((LABELLED, SKIPPED, NEW), (12, 1, 7))[0]
    return {
        "id": at + 1,
        "inner": at % TASKS + 1,
        "project": project["id"],
        "order": str(number),
        "customer": customer,
        "text": f"{first}, my {brand} {project['noun']} from order {number}. {second}.",
        "state": state,
        "label": rng.choice(project["labels"]) if state == LABELLED else "",
        "by": 0 if state == NEW else rng.randint(1, PEOPLE),
        "made": (NOW - timedelta(minutes=minute + 60)).isoformat(),
    }
