"""The words that issues are made of."""

from __future__ import annotations

import random

from webdojo.sites.content.words import items

PROJECTS = items(
    "Atlas, Beacon, Billing, Checkout, Compass, Console, Courier, Dashboard, Gateway, Harbor, Identity, Inbox, "
    "Ledger, Lighthouse, Mobile, Orchard, Payments, Pipeline, Platform, Portal, Reports, Scheduler, Studio, Warehouse"
)
AREAS = ("Customers", "Infrastructure", "Finance", "Growth", "Research", "Support")
STATUSES = (
    ("Backlog", "Selected", "In progress", "Done"),
    ("Open", "In progress", "In review", "Closed"),
    ("New", "Accepted", "In testing", "Resolved"),
    ("To do", "Doing", "Waiting", "Done"),
    ("Ideas", "Next up", "Building", "Shipped"),
)
"""The columns of the boards of a site; the last ends an issue."""
ENDED = frozenset(columns[-1] for columns in STATUSES)
PRIORITIES = ("Low", "Medium", "High", "Urgent")
LABELS = ("bug", "design", "docs", "performance", "privacy", "regression", "security", "translation")
ROLES = ("Analyst", "Designer", "Developer", "Manager", "Tester", "Writer")
_THINGS = items(
    "login page, sign-up form, invoice export, search index, password reset, user profile, price table, time sheet, "
    "map view, photo upload, mail digest, import wizard, audit trail, calendar feed, payment form, address book, dark "
    "theme, side menu, activity stream, tax report, file picker, chat window, mobile header, welcome tour, billing "
    "summary, team overview, stock alert, refund flow, tag editor, video player, help center, news ticker, seat "
    "planner, route finder, printer queue, backup job, mail template, license check, rate limiter, cookie banner, "
    "currency switch, home screen"
)
_FAULTS = items(
    "is blank, shows an error, loads slowly, crashes, freezes, ignores the time zone, loses its settings, shows old "
    "data, overlaps the footer, asks twice for a password, uses the wrong currency, flickers, drops long names, "
    "counts guests twice, jumps to the top, cannot be reached by keyboard, ends in a loop"
)
_PLACES = items(
    "on small screens, in Safari, in private windows, behind a proxy, for guests, on the staging server, with long "
    "names, on slow networks, under heavy load, on the first visit, for large accounts, in right-to-left languages, "
    "on tablets, during the nightly sync, with two tabs open, over a VPN"
)
_WISHES = items(
    "Rewrite the {}, Write tests for the {}, Document the {}, Translate the {}, Measure the {}, Add filters to the "
    "{}, Add keyboard shortcuts to the {}, Let admins hide the {}, Make the {} printable, Explain the {} to "
    "newcomers, Remove dead code from the {}, Give the {} a preview, Simplify the {}"
)
REPORTS = (
    "A customer told us about this on the phone, and we could repeat it right away.",
    "It happens every time, whatever the account. The log has nothing unusual.",
    "Nobody knows when it began. An older build behaves in the same way.",
    "There is a recording of it in the team folder.",
    "It is hard to repeat, but three people have seen it by now.",
    "Support gets letters about this, and they are not friendly.",
    "We talked about it in the planning meeting and agreed that it is worth the effort.",
)
HINTS = (
    "Have a look at the request headers before changing any code.",
    "The old team left notes about this in the handbook.",
    "A reload helps for a while. That is no solution, of course.",
    "My guess is a cache that is never emptied.",
    "Please keep the public interface as it is.",
    "It would be good to have a test that fails without the fix.",
)
COMMENTS = (
    "I can see the same here.",
    "Is anybody looking into this?",
    "It went away when I cleared the cache, but came back the next morning.",
    "Please add a screenshot, I cannot picture it.",
    "We had something like this before, in quite another corner.",
    "Thank you for the good description!",
    "I would rather solve this on the server.",
    "Our biggest customer asks about it in every call.",
    "Happy to review a patch.",
    "Could we talk about it in the next meeting?",
)
COLOURS = ("#1e66d0", "#b3261e", "#1b7f4b", "#7a3fb0", "#c77700", "#0b7a8a", "#33373d")
NEW_COMMENTS = (
    "I will look into it tomorrow.",
    "This also happens on my laptop.",
    "Let us talk about it on Monday.",
    "The logs are attached to the mail I sent you.",
    "Looks like a caching problem to me.",
    "Customers keep asking about this.",
)
NEW_TEXTS = (
    "Seen by two customers this week.",
    "Please check the logs first.",
    "It worked in the last release.",
    "There is a recording in the team folder.",
    "Nobody can work around it.",
)


def title(rng: random.Random) -> str:
    """The title of an issue."""
    thing = rng.choice(_THINGS)
    if rng.random() < 0.3:
        return rng.choice(_WISHES).format(thing)
    return f"{thing.capitalize()} {rng.choice(_FAULTS)} {rng.choice(_PLACES)}"
