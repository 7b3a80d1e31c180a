"""What the small sites of each kind are about: their things, and what is told of them.

As on compact shops and wikis, a thing is called by an adjective and a noun, and the plural of the noun is its section.
Each thing has a number that lists show and are ordered by, one value of a filter, and two further numbers. All are
short words, for a model that reads words as wholes.
"""

from __future__ import annotations

from dataclasses import dataclass

from webdojo.sites.catalog import Attribute
from webdojo.sites.content.words import single


@dataclass(frozen=True)
class SmallKind:
    """The content of the small sites of one kind."""

    noun: str
    """What its things are called together: `message`."""
    nouns: tuple[str, ...]
    """Last words of names; none has more than 6 letters, and all plurals end in s."""
    order: Attribute
    orders: tuple[str, str]
    """Wordings of the control that orders a list by it."""
    filter: Attribute
    values: tuple[str, ...]
    """Of the filter; a site has four of them."""
    numbers: tuple[str, str]
    """Labels of two further numbers."""
    button: tuple[str, str]
    """Wordings of the one thing that can be done to a thing."""
    partner: str
    """The kind of the site that all of its pages link to, which has the same seed."""


def _order(label: str, least: str, unit: str = "") -> Attribute:
    return Attribute(label.lower(), label, "number", unit, True, "", "order", least)


def _filter(label: str) -> Attribute:
    return Attribute(label.lower(), label, filter="is")


NAMES = single("Anna Ben Carla Emil Fay Hugo Ines Karl Lena Nils Olga Paul")

SMALL: dict[str, SmallKind] = {
    "mail": SmallKind(
        "message",
        single("Letter Bill Memo Note Offer Parcel Notice Card Photo Order Draft Quote Survey Invite Poem Menu"),
        _order("Size", "smallest"),
        ("Smallest first", "Sort by size"),
        _filter("Sender"),
        NAMES,
        ("Pages", "Copies"),
        ("Star", "Add star"),
        "tracker",
    ),
    "tracker": SmallKind(
        "issue",
        single("Bug Crash Task Build Patch Test Error Leak Alert Delay Panel Icon Font Theme Hook Cache"),
        _order("Hours", "shortest"),
        ("Shortest first", "Sort by hours"),
        _filter("Status"),
        single("Open Closed Blocked Review Ready Merged"),
        ("Votes", "Lines"),
        ("Vote", "Support"),
        "travel",
    ),
    "travel": SmallKind(
        "offer",
        single("Hotel Hostel Cabin Lodge Villa Motel Inn Camp Cruise Flight Train Liner Tour Trip Safari Tram"),
        _order("Fare", "cheapest", "$"),
        ("Lowest fare first", "Sort by fare"),
        _filter("Month"),
        single("March April May June July August"),
        ("Seats", "Miles"),
        ("Book", "Reserve"),
        "news",
    ),
    "news": SmallKind(
        "article",
        single("Report Column Essay Guide Recipe Debate Comic Video Trial Storm Strike Rally Record Summit Award Poll"),
        _order("Minutes", "shortest"),
        ("Shortest first", "Sort by minutes"),
        _filter("Author"),
        NAMES,
        ("Views", "Words"),
        ("Save", "Read later"),
        "forum",
    ),
    "forum": SmallKind(
        "thread",
        single("Thread Idea Tip Joke Trick Rumor Riddle Hint Puzzle Rant Plan Event Claim Answer Boast Dream"),
        _order("Age", "newest"),
        ("Newest first", "Sort by age"),
        _filter("Board"),
        single("Cars Food Games Music Pets Sport"),
        ("Replies", "Likes"),
        ("Follow", "Watch"),
        "forms",
    ),
    "forms": SmallKind(
        "service",
        single("Permit Visa Grant Loan Badge Deed Waiver Exam Course Stamp Refund Ballot Pledge Rebate Lease Quota"),
        _order("Days", "fastest"),
        ("Fastest first", "Sort by days"),
        _filter("Office"),
        single("Tax Port City Court Health School"),
        ("Fee", "Sheets"),
        ("Apply", "Apply online"),
        "mail",
    ),
    "places": SmallKind(
        "place",
        single("Cafe Bar Diner Pub Park Bank Cinema Clinic Gym Salon Studio Pool Arena Chapel Garage Kiosk"),
        _order("Meters", "nearest"),
        ("Nearest first", "Sort by meters"),
        _filter("District"),
        single("Center Uptown Docks Hills Campus Border"),
        ("Tables", "Rating"),
        ("Visit", "Plan visit"),
        "admin",
    ),
    "admin": SmallKind(
        "entry",
        single("User Page Role Group Plugin Backup Server Key Banner Widget Script Folder Domain Cookie Token Robot"),
        _order("Load", "lightest"),
        ("Lightest first", "Sort by load"),
        _filter("State"),
        single("Live Hidden Locked Frozen Fresh Stale"),
        ("Hits", "Errors"),
        ("Publish", "Go live"),
        "places",
    ),
}
