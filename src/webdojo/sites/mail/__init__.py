"""A mail box: folders of messages to read, answer, file, label and write, and the people who send them."""

from __future__ import annotations

import random
from datetime import date

from webdojo.sites.catalog import Attribute, Collection, Entity, Value
from webdojo.sites.catalog_goals import from_menu
from webdojo.sites.content.people import people, towns
from webdojo.sites.content.words import BRANDS, slug
from webdojo.sites.mail import letters
from webdojo.sites.mail.actions import (
    COMPOSE,
    DELETE,
    FOLDERS,
    FORWARD,
    INVITE,
    LABEL,
    MOVE,
    PIN,
    REPLY,
    SNOOZE,
    STAR,
    UNREAD,
)
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import href

_ABSENT = 12
_FIRST_DAY, _DAYS = date(2025, 1, 1).toordinal(), 780
_TAGLINES = ("Your mail, sorted", "Mail without the noise", "Read, write, done", "Letters for busy people")
MESSAGE = (
    Attribute("folder", "Folder", filter="is", phrase="in the {value} folder"),
    Attribute("sender", "Sender", listed=True, filter="is", phrase="from {value}"),
    Attribute("date", "Date", "date", "", True, "min", "Oldest first", "oldest", "dated {value} or later"),
    Attribute(
        "size",
        "Size",
        "number",
        "KB",
        True,
        "max",
        "Smallest first",
        "smallest",
        "of at most {value}",
        noun="size in KB",
    ),
    Attribute("attachment", "Attachment", filter="is", phrase="with \u201c{value}\u201d as the attachment"),
    Attribute("star", "Star", filter="is", phrase="marked as {value}", asked=False),
    Attribute("status", "Status", filter="is", phrase="with the status {value}", asked=False),
    Attribute("labels", "Labels", asked=False),
    Attribute("pinned", "Pinned", asked=False),
    Attribute("recipient", "Recipient"),
    Attribute("reference", "Reference"),
    Attribute("amount", "Amount", "number", "$"),
    Attribute("due", "Due date", "date"),
    Attribute("tracking", "Tracking code"),
    Attribute("courier", "Courier"),
    Attribute("arrival", "Expected day", "date"),
    Attribute("room", "Meeting room"),
    Attribute("day", "Day of the event", "date"),
    Attribute("host", "Host"),
    Attribute("deadline", "Deadline", "date"),
    Attribute("pages", "Number of pages", "number"),
    Attribute("place", "Meeting place"),
    Attribute("phone", "Phone extension", "number"),
    Attribute("seat", "Seat"),
    Attribute("hall", "Hall"),
)
_MESSAGE_LIMITS: dict[str, tuple[Value, ...]] = {
    "size": (100, 500, 1000),
    "date": ("2025-07-01", "2026-01-01", "2026-09-01"),
}
CONTACT = (
    Attribute("group", "Group", listed=True, filter="is", phrase="in the group {value}"),
    Attribute("town", "Town", listed=True, filter="is", phrase="from {value}"),
    Attribute("added", "Date added", "date", "", True, "", "Longest known first", "longest known"),
    Attribute(
        "letters",
        "Message count",
        "number",
        "",
        True,
        "min",
        "Fewest messages first",
        phrase="with a message count of at least {value}",
    ),
    Attribute("extension", "Extension", "number"),
)


class Mail(CatalogSite):
    """One person's mail."""

    kind = "mail"
    headings = ("Welcome back", "Your mail box", "Good morning", "Here is your mail")
    menu = (PIN,)
    goals = (from_menu,)
    actions = (STAR, UNREAD, DELETE, REPLY, FORWARD, MOVE, LABEL, SNOOZE, COMPOSE, INVITE)

    def draw(self, rng: random.Random) -> list[Collection]:
        self.tagline = rng.choice(_TAGLINES)
        owner, *names = people(rng, 13)
        companies = [
            f"{brand} {end}"
            for brand, end in zip(rng.sample(BRANDS, 5), rng.sample(letters.COMPANY_ENDS, 5), strict=True)
        ]
        senders = {
            "company": companies,
            "colleague": names[:6],
            "friend": names[6:],
            "stranger": rng.sample(letters.STRANGERS, 2),
        }
        places = towns(rng, 8)
        subjects = _subjects(rng, rng.randint(220, 340) + _ABSENT)
        absent, subjects = subjects[:_ABSENT], subjects[_ABSENT:]
        days = sorted(rng.sample(range(_DAYS), len(subjects)), reverse=True)
        sizes = rng.sample(range(4, 2400), len(subjects))
        messages = [_message(rng, *each, owner, senders, places) for each in zip(subjects, days, sizes, strict=True)]
        count = dict.fromkeys((*names, *companies), 0)
        for message in messages:
            if message.values["sender"] in count:
                count[str(message.values["sender"])] += 1
        added = rng.sample(range(800, 4000), len(count))
        group = {name: sort.capitalize() for sort, those in senders.items() for name in those}
        contacts = [
            _contact(rng, name, group[name], day, count[name], places) for name, day in zip(count, added, strict=True)
        ]
        gone = tuple(subject for _, subject in absent)
        return [
            Collection("messages", "Messages", "message", "messages", MESSAGE, tuple(messages), _MESSAGE_LIMITS, gone),
            Collection(
                "contacts", "Contacts", "contact", "contacts", CONTACT, tuple(contacts), {"letters": (10, 15, 20)}
            ),
        ]

    def sections(self) -> list[tuple[str, str]]:
        folders = [(folder, href("/messages", folder=folder.lower())) for folder in FOLDERS]
        messages, *others = super().sections()
        return [messages, *folders, *others]


def _subjects(rng: random.Random, count: int) -> list[tuple[str, str]]:
    """Draw `count` different subjects, each with its sort of letter."""
    sorts, subjects = tuple(letters.LETTERS), dict[str, tuple[str, str]]()
    while len(subjects) < count:
        sort = rng.choice(sorts)
        subject = rng.choice(letters.LETTERS[sort].subjects)
        subject = subject.format(
            **{gap: rng.choice(options) for gap, options in letters.GAPS.items() if gap in subject}
        )
        subjects[slug(subject)] = (sort, subject)
    return list(subjects.values())


def _message(
    rng: random.Random,
    about: tuple[str, str],
    day: int,
    size: int,
    owner: str,
    senders: dict[str, list[str]],
    places: list[str],
) -> Entity:
    sort, subject = about
    letter = letters.LETTERS[sort]
    sender, recipient = rng.choice(senders[letter.sender]), owner
    folder = "Spam" if sort == "spam" else rng.choice(("Inbox", "Inbox", "Archive"))
    if letter.sender in ("colleague", "friend") and rng.random() < 0.3:
        sender, recipient = owner, sender
        folder = rng.choice(("Sent", "Sent", "Drafts"))
    values: dict[str, Value] = {
        "folder": folder,
        "sender": sender,
        "date": _day(day),
        "size": size,
        "attachment": rng.choice(letters.FILES),
        "star": rng.choice(("Not starred", "Not starred", "Starred")),
        "status": "Read" if sender == owner else rng.choice(("Read", "Unread")),
        "recipient": recipient,
        **{key: _detail(rng, key, day, senders, places) for key in letter.says},
    }
    if letter.sender == "company":
        values["automatic"] = "yes"
    return Entity(slug(subject), subject, values, tuple(rng.sample(letter.texts, 2)))


def _detail(rng: random.Random, key: str, day: int, senders: dict[str, list[str]], places: list[str]) -> Value:
    """What a letter says of one thing."""
    match key:
        case "reference" | "tracking":
            return "".join(rng.choices("ABCDEFGHKLMNPRSTVWXYZ", k=3)) + str(rng.randint(1000, 9999))
        case "amount":
            return rng.randint(12, 1900)
        case "due" | "arrival" | "day" | "deadline":
            return _day(day + rng.randint(3, 40))
        case "pages":
            return rng.randint(2, 90)
        case "phone":
            return rng.randint(200, 9900)
        case "seat":
            return f"{rng.choice('ABCDEFGHJK')}{rng.randint(1, 40)}"
        case "host":
            return rng.choice(senders["colleague"])
        case "place":
            return rng.choice(places)
    return rng.choice({"courier": letters.COURIERS, "room": letters.ROOMS, "hall": letters.HALLS}[key])


def _contact(rng: random.Random, name: str, group: str, day: int, count: int, places: list[str]) -> Entity:
    values: dict[str, Value] = {
        "group": group,
        "town": rng.choice(places),
        "added": _day(-day),
        "letters": count,
        "extension": rng.randint(200, 9900),
    }
    return Entity(slug(name), name, values)


def _day(number: int) -> str:
    return date.fromordinal(_FIRST_DAY + number).isoformat()
