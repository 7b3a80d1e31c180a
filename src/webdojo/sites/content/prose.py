"""Running text for the full-size layout: descriptions, reviews, article paragraphs.

Text is a pure function of the thing's name and holds no digits, so that it can never contradict a
fact or offer a second number as an answer.
"""

from __future__ import annotations

import random

from webdojo.sites.content.words import items

_OPEN = (
    "The {name} is made for people who use their {noun} every day.",
    "Our buyers found the {name} in a small workshop by the sea.",
    "Few things do their job as quietly as the {name}.",
    "The {name} has been part of our range since the beginning.",
    "There is a reason why the {name} keeps coming back.",
)
_MIDDLE = (
    "Each piece is finished by hand and checked twice before it leaves.",
    "It is light enough to carry and strong enough to last.",
    "The colour holds well, even in a bright room.",
    "It goes with almost everything you already own.",
    "The shape is old, but the materials are new.",
    "Nothing about it asks for attention, and yet people ask where it is from.",
)
_CLOSE = (
    "Sent in a plain box that can go back to us.",
    "Clean it with a damp cloth.",
    "A good present, and an easy one to wrap.",
    "Repairs are free for as long as you own it.",
)
_REVIEWS = (
    "Better than I hoped.",
    "Does what it says.",
    "My sister wants one too.",
    "Arrived early and well packed.",
    "A little smaller than I thought, but lovely.",
    "I would buy it again.",
    "Not what I needed, but well made.",
)
_PEOPLE = items("Ada, Ben, Cleo, Dan, Eva, Finn, Grace, Hugo, Ines, Jack, Kira, Leo, Maya, Nils")
_LEAD = (
    "{name} is a {noun} in the {region} of the country.",
    "{name} is one of the best known {nouns} of the {region}.",
    "In the {region}, {name} is the {noun} that most visitors see first.",
)
_BODY = (
    "It was first described by travellers who had lost their way.",
    "Old maps show it under other names, none of which are used today.",
    "The people who live near it meet there every summer.",
    "Painters came in great numbers once the railway was open.",
    "Its early history is known mainly from letters.",
    "Much of what is written about it goes back to a single book.",
    "A society looks after it and publishes a yearly report.",
    "In winter it is closed to visitors, except by arrangement.",
    "Several songs mention it, usually as a place to come home to.",
)
_TAIL = (
    "Access is free, and the path is marked.",
    "Its name appears on the arms of the nearest town.",
    "Research on it goes on.",
    "It has been protected by law for several generations.",
)
TAGLINES = (
    "Good things, plainly made",
    "Since before you were born",
    "Everything in its place",
    "Small shop, big shelves",
    "Made to be used",
    "Chosen with care",
)
MOTTOS = (
    "Written by everyone, read by many",
    "The open guide to places",
    "What we know so far",
    "Facts, places and a little history",
    "A reference for the curious",
    "Look it up",
)


def description(name: str, noun: str) -> list[str]:
    """Two paragraphs about a product."""
    rng = random.Random(f"description-{name}")
    first = f"{rng.choice(_OPEN)} {rng.choice(_MIDDLE[:3])}".format(name=name, noun=noun.lower())
    return [first, f"{rng.choice(_MIDDLE[3:])} {rng.choice(_CLOSE)}"]


def reviews(name: str) -> list[tuple[str, str]]:
    """Two or three (person, text) about a product."""
    rng = random.Random(f"reviews-{name}")
    count = rng.randint(2, 3)
    return list(zip(rng.sample(_PEOPLE, count), rng.sample(_REVIEWS, count), strict=True))


def article(name: str, noun: str, region: str) -> list[str]:
    """Three paragraphs of an article; the first says what the thing is and where."""
    rng = random.Random(f"article-{name}")
    body = rng.sample(_BODY, 5)
    lead = rng.choice(_LEAD).format(name=name, noun=noun.lower(), nouns=f"{noun.lower()}s", region=region)
    return [f"{lead} {body[0]}", f"{body[1]} {body[2]} {body[3]}", f"{body[4]} {rng.choice(_TAIL)}"]
