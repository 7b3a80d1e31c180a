"""The words that sites are made of.

Names of things are an adjective and a noun of at most 13 letters together; a noun's plural is the
category (or topic) that its things are in. Pages on the grid use only these words,
those of `small/kinds.py`, and digits.
"""

from __future__ import annotations

import re

_PART = re.compile(r"[^\W_]+")


def single(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


def items(text: str) -> tuple[str, ...]:
    """The items of a text between its commas."""
    return tuple(part.strip() for part in text.split(","))


ADJECTIVES = single(
    "Quiet Bold Royal Soft Grand Misty Sunny Iron Stone Silver Velvet Wild Noble Lucky Happy Frosty Ocean Lunar "
    "Solar Rustic Modern Simple Fancy Swift Brave Gentle Hidden Proud Calm Crisp Polar Desert Cedar Maple Coral "
    "Pearl Amber Copper Tiger Eagle"
)
"""Longest: 6 letters."""

SHOP_NOUNS = single("Mug Lamp Chair Hat Clock Bowl Coat Desk Ring Vase Kite Drum Tent Rug Sofa Boot")
WIKI_NOUNS = single(
    "River Hill Lake Castle Bridge Tower Forest Island Valley Garden Temple Harbor Canyon Museum Palace Bay"
)

BRANDS = single(
    "Nova Acme Orbit Pixel Zest Luma Vega Fable Juno Atlas Echo Bloom Comet Delta Ember Folio Glint Haven Ivory Jolt "
    "Karma Lotus Mango Quill"
)

COLORS = single("Red Blue Gold Pink Gray Teal")
SIZES = single("Small Medium Large")
REGIONS = single("North South East West")

WIKI_NUMBERS = {
    "River": ("Length", "Depth"),
    "Hill": ("Height", "Width"),
    "Lake": ("Depth", "Width"),
    "Castle": ("Height", "Rooms"),
    "Bridge": ("Length", "Height"),
    "Tower": ("Height", "Rooms"),
    "Forest": ("Width", "Length"),
    "Island": ("Length", "Width"),
    "Valley": ("Depth", "Length"),
    "Garden": ("Width", "Length"),
    "Temple": ("Height", "Rooms"),
    "Harbor": ("Depth", "Width"),
    "Canyon": ("Depth", "Length"),
    "Museum": ("Rooms", "Height"),
    "Palace": ("Rooms", "Width"),
    "Bay": ("Depth", "Width"),
}
"""The two numeric facts, besides the year, that an article about a noun has."""

SYNONYMS: dict[str, tuple[str, ...]] = {
    "cart": ("Cart", "Basket", "Bag"),
    "add": ("Add to {cart}", "Buy"),
    "home": ("Home",),
    "search": ("Search", "Find"),
    "go": ("Go", "Search", "Find"),
    "next": ("Next", "More"),
    "prev": ("Prev", "Back"),
    "remove": ("Remove", "Delete"),
    "cheap": ("Sort by price", "Low price first", "Cheap first"),
    "oldest": ("Sort by year", "Oldest first"),
    "stock": ("In stock",),
    "under": ("Under",),
    "related": ("See also", "Related", "More to see"),
    "added": ("Added", "In your {cart}"),
    "empty": ("Empty", "No items"),
    "none": ("No results",),
    "total": ("Total",),
    "sold": ("Sold out",),
    "all": ("All", "Show all"),
    "results": ("Results",),
}
"""Wordings of each control; a site's seed picks one of each. `{cart}` is the site's word for its cart."""

WORDINGS: dict[str, tuple[str, ...]] = {
    "Apply": ("Apply", "Show", "Update", "Filter"),
    "Order": ("Order", "Sort", "Sort by"),
    "Any": ("Any", "All", "-"),
    "Load more": ("Load more", "Show more", "More"),
    "Done": ("Done", "Thank you", "All set"),
    "Where to go": ("Where to go", "Explore", "Start here", "Sections"),
    "Just in": ("Just in", "Picked for you", "New today", "Worth a look"),
    "Send": ("Send", "Submit", "Post"),
    "Save": ("Save", "Save changes", "Update"),
    "Book": ("Book", "Reserve", "Book now"),
    "Delete": ("Delete", "Remove"),
    "Create issue": ("Create issue", "New issue", "Report an issue"),
    "Assign": ("Assign", "Hand over", "Set assignee"),
    "Triage": ("Triage", "Sort in", "Rate"),
    "Log work": ("Log work", "Add hours", "Track time"),
    "Vote for it": ("Vote for it", "Vote", "Support"),
    "Edit": ("Edit", "Save changes", "Save"),
    "Publish": ("Publish", "Put online", "Go live"),
    "Archive": ("Archive", "Move to archive", "File away"),
    "Schedule": ("Schedule", "Set date", "Plan"),
    "Set weight": ("Set weight", "Apply weight", "Rank"),
    "Change role": ("Change role", "Set role", "Update role"),
    "Suspend": ("Suspend", "Block", "Lock account"),
    "New user": ("New user", "Add user", "Invite someone"),
    "New page": ("New page", "Write", "Add content"),
    "Reports": ("Reports", "Statistics", "Figures"),
    "Apply for it": ("Apply for it", "Start application", "Apply online"),
    "Register": ("Register", "Start registration", "Sign up for it"),
    "Make appointment": ("Make appointment", "Book a slot", "Reserve a time"),
    "Complain": ("Complain", "Send complaint", "File a complaint"),
    "Continue": ("Continue", "Next step", "Go on"),
    "Follow": ("Follow", "Subscribe", "Watch"),
    "Map": ("Map", "Town map", "On the map", "City map"),
    "Find a place": ("Find a place", "Place finder", "Locator", "What is near"),
    "Open now": ("Open now", "Only open now", "Open at this hour"),
    "Reviews": ("Reviews", "What visitors say", "Voices", "Opinions"),
    "Reply": ("Reply", "Answer", "Respond"),
    "Sections": ("Sections", "Menu", "Browse", "All pages"),
    "Comment": ("Comment", "Add a comment", "Join in"),
    "Vote up": ("Vote up", "Upvote", "Agree"),
    "Report": ("Report", "Flag"),
    "Mark solved": ("Mark solved", "Solved it", "Close as solved"),
    "New thread": ("New thread", "Start a thread", "Ask something"),
    "Compose": ("Compose", "New message", "Write"),
    "Forward": ("Forward", "Pass on"),
    "Move": ("Move", "Move to folder"),
    "Star": ("Star", "Add star"),
    "Snooze": ("Snooze", "Remind me"),
    "Newsletter": ("Newsletter", "Get our newsletter", "News by mail"),
    "Send a tip": ("Send a tip", "Tell us", "Tip us off"),
    "Most read": ("Most read", "What others read", "Popular"),
    "Vote": ("Vote", "Reader poll", "Poll of the day"),
    "Ask": ("Ask", "Ask a question", "Get in touch"),
    "Invite": ("Invite", "Send invitation"),
    "Rate": ("Rate", "Rate this"),
    "Save article": ("Save article", "Read later", "Bookmark"),
}
"""Wordings of the controls of sites made of blocks, by the plain one; a site's seed picks one of each."""

SHOP_LABELS = ("Price", "Size", "Color", "Stars", "Stock")
WIKI_LABELS = ("Year", "Region", "Length", "Depth", "Height", "Width", "Rooms")
WIKI_TEXT = (
    "Found in the {region}.",
    "Known since {year}.",
    "In the {region} since {year}.",
    "A {noun} in the {region}.",
)

SHOP_HEADINGS = ("Shop", "Items", "Welcome")
WIKI_HEADINGS = ("Topics", "Wiki", "Welcome")


def plural(noun: str) -> str:
    """Category name of a noun."""
    return noun + "s"


def slug(name: str) -> str:
    """A name as it stands in a URL: `Quiet River` is `quiet-river`."""
    return "-".join(_PART.findall(name.lower()))
