"""The public services of a county: apply step by step, make appointments, complain."""

from __future__ import annotations

import random

from webdojo.sites.catalog import Attribute, Collection, Entity, Value
from webdojo.sites.content.people import towns
from webdojo.sites.content.words import slug
from webdojo.sites.forms import content
from webdojo.sites.forms.actions import actions
from webdojo.sites.pages import CatalogSite

SERVICES, DISTRICTS = 200, 8

SERVICE = (
    Attribute("type", "Type", listed=True, filter="is", phrase="of the type {value}"),
    Attribute("district", "District", listed=True, filter="is", phrase="in the district {value}"),
    Attribute("department", "Department", filter="is", phrase="of the department {value}"),
    Attribute("way", "How to apply", filter="is", phrase="to apply for {value}", noun="way to apply"),
    Attribute("fee", "Fee", "number", "$", True, "max", "Cheapest first", "cheapest", "for at most {value}"),
    Attribute(
        "days",
        "Processing time",
        "number",
        "days",
        True,
        "max",
        "Fastest first",
        "fastest",
        "with a processing time of at most {value}",
    ),
    Attribute(
        "valid", "Valid for", "number", "months", False, "min", phrase="valid for {value} or more", noun="validity"
    ),
    Attribute("open", "Applications", asked=False),
)
OFFICE = (
    Attribute("town", "Town", listed=True, filter="is", phrase="in {value}"),
    Attribute("late", "Open late on", listed=True, filter="is", phrase="open late on {value}", noun="late opening day"),
    Attribute("closes", "Closes at", filter="is", phrase="closing at {value}", noun="closing time"),
    Attribute(
        *("wait", "Usual wait", "number", "minutes", True, "max", "Shortest wait first", "least busy"),
        phrase="with a wait of {value} or less",
    ),
    Attribute("desks", "Desks", "number", "", False, "min", phrase="with {value} or more desks", noun="desk count"),
    Attribute("since", "Opened", "date", "", False, "", "Oldest first", "oldest", noun="opening date"),
    Attribute("open", "Appointments", asked=False),
)  # fmt: skip
_SERVICE_LIMITS = {"fee": (20, 60, 120), "days": (7, 21, 45), "valid": (12, 36, 60)}
_OFFICE_LIMITS = {"wait": (10, 20, 40), "desks": (4, 8, 16)}


class Forms(CatalogSite):
    """The public services of one county."""

    kind = "forms"
    pictured = False
    tagline = "Public services, step by step"
    headings = ("How can we help you?", "Your county online", "What do you need today?", "Public services")

    def draw(self, rng: random.Random) -> list[Collection]:
        districts = towns(rng, DISTRICTS)
        departments = rng.sample(content.DEPARTMENTS, 6)
        kinds = [(kind, what) for kind, names in content.TYPES.items() for what in names]
        pairs = rng.sample([(kind, what, place) for kind, what in kinds for place in districts], SERVICES)
        owners = {what: rng.choice(departments) for _, what in kinds}
        services = [_service(rng, kind, what, place, owners[what]) for kind, what, place in pairs]
        houses = rng.sample([(what, place) for what in content.OFFICES for place in districts], 30)
        offices = [_office(rng, what, place) for what, place in houses]
        self.actions = actions(districts)
        return [
            Collection("services", "Services", "service", "services", SERVICE, tuple(services), _SERVICE_LIMITS),
            Collection("offices", "Offices", "office", "offices", OFFICE, tuple(offices), _OFFICE_LIMITS),
        ]


def _service(rng: random.Random, kind: str, what: str, place: str, department: str) -> Entity:
    name = f"{what} {place}"
    values: dict[str, Value] = {
        "type": kind,
        "district": place,
        "department": department,
        "way": content.WAYS[min(rng.randrange(6), 3) % 3],
        "fee": rng.randint(2, 180),
        "days": rng.randint(2, 75),
        "valid": rng.randint(3, 84),
        "open": "suspended" if rng.random() < 0.1 else "open",
    }
    return Entity(slug(name), name, values, content.service_texts(rng))


def _office(rng: random.Random, what: str, place: str) -> Entity:
    name = f"{what} {place}"
    values: dict[str, Value] = {
        "town": place,
        "late": rng.choice(content.WEEKDAYS),
        "closes": rng.choice(content.CLOSING),
        "wait": rng.randint(3, 75),
        "desks": rng.randint(2, 24),
        "since": f"{rng.randint(1960, 2020)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        "open": "closed for repairs" if rng.random() < 0.12 else "open",
    }
    return Entity(slug(name), name, values, content.office_texts(rng))
