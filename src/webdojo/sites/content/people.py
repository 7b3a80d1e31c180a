"""Names of people, towns and companies for the content of sites, from Faker's lists."""

from __future__ import annotations

import random

from faker.providers.address.en_US import Provider as Address
from faker.providers.person.en_US import Provider as Person

from webdojo.sites.content.drawing import distinct
from webdojo.sites.content.words import items

FIRST_NAMES: tuple[str, ...] = tuple(Person.first_names)
LAST_NAMES: tuple[str, ...] = tuple(Person.last_names)
USERS = ("Ada Brook", "Ben Castle", "Cleo Winter", "Dan Marsh", "Eva Stone", "Finn Rivers", "Grace Hill", "Hugo Field")
"""People whose names goals fill in."""
ADDRESSES = items(
    "ada.brook@mail.example, ben.castle@post.example, cleo.winter@office.example, dan.marsh@mail.example, "
    "eva.stone@post.example, finn.rivers@home.example, grace.hill@office.example, team@harbour.example, "
    "desk@library.example"
)
"""E-mail addresses that goals fill in."""
_TOWN_STARTS: tuple[str, ...] = tuple(dict.fromkeys(name for name in LAST_NAMES if name.isalpha() and len(name) < 8))
_TOWN_ENDS: tuple[str, ...] = tuple(Address.city_suffixes)


def people(rng: random.Random, count: int) -> list[str]:
    """Draw `count` different full names."""
    return distinct(count, lambda: f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}")


def towns(rng: random.Random, count: int) -> list[str]:
    """Draw `count` different towns, each of one word."""
    return distinct(count, lambda: rng.choice(_TOWN_STARTS) + rng.choice(_TOWN_ENDS))
