"""The words that articles are made of."""

from __future__ import annotations

from webdojo.sites.content.words import items

SECTIONS = items(
    "Business, Community, Culture, Food, Health, Letters, Local news, Music, Nature, Opinion, Politics, Science, "
    "Sports, Technology, Travel, Weekend"
)
STATUSES = ("Draft", "Published", "Archived")
ROLES = ("Reader", "Author", "Editor", "Administrator")
RIGHTS = ("Publish", "Moderate", "See reports", "Manage users", "Edit menus")
KINDS = ("Article", "Gallery", "Interview", "Recipe")
REASONS = ("Spam", "Insults", "Fake account", "At own request")
MONTHS = items("January, February, March, April, May, June, July, August, September, October, November, December")
THINGS = items(
    "bicycles, bakeries, night trains, street markets, lighthouses, paper maps, old cinemas, tea rooms, school "
    "gardens, river ferries, town choirs, repair cafes, wild bees, fruit trees, tram lines, stone walls, winter "
    "coats, board games, radio plays, corner shops, clay ovens, rain barrels, beach huts, railway clocks, wooden "
    "toys, kite makers, first novels, small museums, sheep dogs, brass bands, public baths, hill farms, mountain "
    "huts, second-hand books, spice gardens, steam engines"
)
HEADLINES = items(
    "A short history of {}, What {} teach us, The quiet return of {}, How to choose {}, In praise of {}, Why we still "
    "need {}, A week among {}, Our readers and their {}, The trouble with {}, Who pays for {}?, The people behind {}, "
    "Looking after {}, A guide to {}, Where have all the {} gone?, Learning to love {}, Letters about {}, Growing up "
    "with {}, Notes on {}, Five questions about {}, Behind the scenes: {}, Why children like {}, The secret life of "
    "{}, Winter is the time for {}, What remains of {}"
)
LEADS = (
    "It began with a phone call on a rainy morning, and it has kept us busy ever since.",
    "Everybody has an opinion on this, but few have looked at it closely.",
    "We went there with a notebook and came back with more questions than answers.",
    "Some things change so slowly that nobody takes notice.",
    "Ask three people in the street, and each will tell a different story.",
    "The picture in our minds is older than most of us.",
)
BODIES = (
    "Those who work there get up early and do not talk much before the first coffee.",
    "Figures are hard to come by, but the direction is clear to anyone who keeps their eyes open.",
    "The town council promised to look into the matter, and so did the council before it.",
    "What sounds simple takes patience, good tools and friends who do not mind the noise.",
    "On the way home we talked about what would be lost without it.",
    "There is a shelf full of books about it in the library, most of them unread.",
)
NEW_TITLES = items(
    "Summer on the river, Lost and found, The night bus, Bread and butter, Snow at last, Behind closed doors, A room "
    "with a stove, The last ferry, Open windows, Songs of the harbour, Paper planes, Early birds"
)
NEW_TEXTS = (
    "More about this next week.",
    "Here is what we know so far.",
    "Pictures will follow soon.",
    "This page is about our neighbours.",
    "Please send us your own stories.",
)
