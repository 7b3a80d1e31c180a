"""What a town of the kind `places` is made of: names of places, districts and streets, and what visitors say."""

from __future__ import annotations

import random

from webdojo.sites.content.people import FIRST_NAMES, LAST_NAMES
from webdojo.sites.content.words import items, single

_FAMILIES = tuple(name for name in LAST_NAMES if name.isalpha() and len(name) < 9)
_PEOPLE = tuple(name for name in FIRST_NAMES if name.isalpha() and len(name) < 8)
_COLOURED = single("Copper Velvet Golden Amber Scarlet Silver Indigo Crimson Ivory Emerald Russet Cobalt Coral Saffron")
_TIMED = single("Morning Sunday Midnight Evening Summer Winter April Harvest Twilight Holiday Lunar Solstice")
_TASTY = single("Olive Pepper Basil Ginger Fennel Thyme Walnut Juniper Lemon Chestnut Sesame Mustard Clove Fig")
_STARRY = single("Orion Lumen Astra Vega Aurora Comet Meteor Apollo Zenith Eclipse Phoenix Nova Titan Saturn")
_SHOWN = single(
    "Glass Salt Clocks Maps Bridges Wool Ships Tea Keys Radio Paper Toys Bees Bells Lace Trams Coins Masks Kites "
    "Puppets Lamps Stamps Cameras Buttons Fossils Canals Umbrellas Typewriters Lighthouses Carriages"
)

CATEGORIES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "Cafe": ("{0} {1}", _TIMED, ("Kettle", "Bean", "Saucer", "Roast", "Spoon")),
    "Bakery": ("{0} {1}", _COLOURED, ("Crust", "Loaf", "Oven", "Crumb")),
    "Restaurant": ("{0} {1}", _TASTY, ("Table", "Grill", "Kitchen", "Plate")),
    "Pharmacy": ("{0} {1}", _FAMILIES, ("Pharmacy", "Apothecary")),
    "Museum": ("{1} of {0}", _SHOWN, ("Museum", "House")),
    "Cinema": ("{0} {1}", _STARRY, ("Cinema", "Picture House", "Screens")),
    "Gym": ("{0} {1}", _STARRY, ("Gym", "Fitness Club", "Boxing Hall")),
    "Bank": ("{0} {1}", _FAMILIES, ("Savings Bank", "Credit Union")),
    "Bookshop": ("{0} {1}", _TIMED, ("Pages", "Chapter", "Bookshelf", "Volumes")),
    "Hairdresser": ("{0} {1}", _PEOPLE, ("Hair Studio", "Barbers", "Salon")),
    "Florist": ("{0} {1}", _COLOURED, ("Petal", "Bouquet", "Blossom", "Tulip")),
    "Dentist": ("{0} {1}", _FAMILIES, ("Dental Practice", "Dental Clinic")),
    "Hardware store": ("{0} {1}", _FAMILIES, ("Hardware", "Tools", "Ironmongers")),
    "Ice cream parlour": ("{0} {1}", _TASTY, ("Gelato", "Scoop", "Sundae")),
    "Bicycle shop": ("{0} {1}", _COLOURED, ("Wheels", "Pedal", "Saddle")),
    "Library": ("{0} {1}", _FAMILIES, ("Library", "Reading Room")),
    "Theatre": ("{0} {1}", _STARRY, ("Theatre", "Playhouse", "Stage")),
    "Swimming pool": ("{0} {1}", _FAMILIES, ("Baths", "Swimming Hall")),
}
"""How the names of a category are put together, and from which words."""

DISTRICTS = items(
    "Northgate, Eastfield, Old Harbour, Millbank, Castle Hill, Riverside, Kingsway, Garden Quarter, Station Square, "
    "Weavers Row, Lower Marsh, Fishmarket, Orchard End, Hopfields, Saint Anne, Tanners Yard, Glassworks, Brickfields, "
    "Observatory Hill, Swan Island, Cathedral Close, Southbank"
)
KNOWN_FOR = ("Street markets", "Old bridges", "Jazz bars", "Rose gardens", "Antiques", "Murals", "Boat trips")
MARKET_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")

STREETS = single(
    "Oak Mill Church Bridge Castle Garden Linden Harbour Market Station Walnut Rose Abbey Canal Hazel Priory Willow "
    "Tower School Juniper Orchard Maple Cooper Saddler Weaver Potter Miller Baker Dyer Tanner Fuller Mason Carter "
    "Heron Falcon Swallow Finch Raven Plover Kestrel Otter Badger Marten Beaver"
)
WAYS = ("Street", "Street", "Road", "Lane", "Row", "Walk")

TEXTS = {
    "start": (
        "A favourite of the people who live around the corner.",
        "Easy to miss from outside, and well worth the way.",
        "Run by the same family for as long as anyone remembers.",
        "Bright rooms, a patient team and no hurry at all.",
        "Everybody in town can tell you how to get here.",
        "It moved into the old customs house and kept the high windows.",
    ),
    "end": (
        "Bicycles can be left in the yard behind the house.",
        "Bring some patience at weekends.",
        "Dogs are welcome as long as they like people.",
        "The tram stops right in front of the door.",
        "Ask at the desk for the way to the roof terrace.",
        "There is a quiet corner at the back.",
    ),
}
DISTRICT_TEXTS = (
    "Narrow lanes, low houses and more cats than cars.",
    "The tram turns here, and so do most visitors. They miss the best part.",
    "Once a village of its own, and it has never quite agreed to be a part of the town.",
    "Brick chimneys stand between new workshops and cheap lunch places.",
)
REVIEWS = (
    *("Came in from the rain and stayed for hours.", "Friendly, quick and fair.", "I will bring my sister next time."),
    *("A little loud, but I did not mind.", "Could be cleaner, to be honest.", "Just what this street needed."),
    *("They remembered me from last year!", "Not what it used to be.", "Simple, honest, good."),
)


def place_names(rng: random.Random, count: int) -> list[tuple[str, str]]:
    """Draw `count` places as (category, name); no two share a name."""
    categories = rng.sample(sorted(CATEGORIES), 12)
    made: dict[str, str] = {}
    while len(made) < count:
        category = categories[len(made) % len(categories)]
        form, firsts, lasts = CATEGORIES[category]
        made.setdefault(form.format(rng.choice(firsts), rng.choice(lasts)), category)
    return [(category, name) for name, category in made.items()]
