"""The world of a wiki from a seed: people, articles with their edits, talk pages and categories as plain records.

The ids of pages are those that they have in the database. Worlds that train and held-out ones share no title of an
article, no person, no town, no category, no summary of an edit and no sentence of a discussion: family names, nouns and
sentences are divided between them.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from webdojo.sites import HELDOUT_SEED, host_of
from webdojo.sites.content.drawing import distinct
from webdojo.sites.content.people import FIRST_NAMES, LAST_NAMES
from webdojo.sites.content.words import REGIONS, WIKI_NOUNS, WIKI_NUMBERS, items

ARTICLES, PEOPLE, TOWNS, DISCUSSIONS, WATCHED = 140, 26, 12, 40, 8
PASSWORD = "webdojo-17"
LAST_EDIT = datetime(2025, 6, 30, 18)
UNITS = {"Length": "km", "Depth": "m", "Height": "m", "Width": "km", "Rooms": ""}
_SITES = items("stone, clay, gravel, chalk, sand, basalt, slate, limestone")
_HISTORY = (
    (
        "The first settlers named it after their leader.",
        "It was drawn on a map for the first time by a monk.",
        "A flood changed its shape within one night.",
        "For a century it belonged to a family of merchants.",
        "It was closed to the public during two wars.",
        "A school class rediscovered it on a trip.",
    ),
    (
        "Traders have passed it since the days of the salt road.",
        "An old letter calls it the pride of the province.",
        "A fire destroyed most of what stood there.",
        "The council bought it for a single coin.",
        "It lay forgotten until a road was built.",
        "A painter made it known far beyond the region.",
    ),
)
_VISITS = (
    (
        "A path for wheelchairs leads around it.",
        "Guided tours begin at noon.",
        "Dogs have to be kept on a lead.",
        "The best view is from the eastern side.",
        "Parking is free on working days.",
    ),
    (
        "The last bus leaves at eight in the evening.",
        "Visitors should bring solid shoes.",
        "Children get in for half the price.",
        "Boats can be rented in summer.",
        "There is a small café at the entrance.",
    ),
)
_SUMMARIES = (
    items("added a source, fixed the spelling, better wording, new figures, more detail, from the town archive"),
    items("tidied up, checked the numbers, shorter sentence, as discussed, one more fact, after my visit"),
)
_QUESTIONS = (
    items("Source of the figures, Spelling of the name, Too short, Which map, Photos wanted"),
    items("Is this up to date, Order of the sections, Merge with another page, Old name, Where is it exactly"),
)
_SAID = (
    (
        "I could not find this in any book.",
        "Does anybody know more about it?",
        "The town archive says something else.",
        "I will look it up next week.",
        "Fine with me.",
    ),
    (
        "My guide book disagrees with the page.",
        "Who could check this on the spot?",
        "The sign at the entrance has another date.",
        "Let us wait for the new survey.",
        "That sounds right to me.",
    ),
)


def make_world(seed: int) -> dict[str, Any]:
    """The records of a seed, as plain JSON."""
    half = int(seed >= HELDOUT_SEED)
    rng = random.Random(f"mediawiki-{seed}")
    last_names = [name for name in sorted(set(LAST_NAMES)) if name.isalpha() and len(name) < 9][half::2]
    names = distinct(PEOPLE, lambda: f"{rng.choice(FIRST_NAMES)} {rng.choice(last_names)}")
    towns = distinct(TOWNS, lambda: f"{rng.choice(last_names)}{rng.choice(('ton', 'field', 'ford', 'mouth'))}")
    nouns = WIKI_NOUNS[half::2]
    titles = distinct(ARTICLES, lambda: (rng.choice(last_names), rng.choice(nouns)))
    articles = [_article(rng, half, f"{name} {noun}", noun, towns) for name, noun in titles]
    for article in articles:
        article["see"] = [other["title"] for other in rng.sample(articles, rng.randint(1, 2)) if other is not article]
    for article in articles:
        article["edits"] = _edits(rng, half, article, names[1:])
    talks = [_discussion(rng, half, article, names[2:]) for article in rng.sample(articles, DISCUSSIONS)]
    categories = [
        {"title": f"Category:{name}", "edits": [_edit(rng, names[2:], text, "new category", LAST_EDIT)]}
        for name, text in (
            *((f"{noun}s", f"Articles about {noun.lower()}s.") for noun in nouns),
            *((town, f"What there is to see in {town}.") for town in towns),
        )
    ]
    pages = [_main_page(rng, names, nouns, towns), *articles, *talks, *categories]
    for id, page in enumerate(pages, 1):
        page["id"] = id
    return {
        "seed": seed,
        "host": host_of("mediawiki", seed),
        "password": PASSWORD,
        "people": [
            {"id": id, "name": name, "token": hashlib.sha256(f"{seed}-{name}".encode()).hexdigest()[:32]}
            for id, name in enumerate(names, 1)
        ],
        "towns": towns,
        "kinds": [f"{noun}s" for noun in nouns],
        "articles": [page["id"] for page in articles],
        "talks": [page["id"] for page in talks],
        "watched": sorted(page["id"] for page in rng.sample(articles, WATCHED)),
        "pages": pages,
    }


def _article(rng: random.Random, half: int, title: str, noun: str, towns: Sequence[str]) -> dict[str, Any]:
    first, second = WIKI_NUMBERS[noun]
    return {
        "title": title,
        "kind": f"{noun}s",
        "facts": {
            "Year": rng.randint(1100, 1990),
            first: rng.randint(12, 990),
            second: rng.randint(12, 990),
            "Region": rng.choice(REGIONS),
            "Town": rng.choice(towns),
        },
        "ground": rng.choice(_SITES),
        "history": rng.sample(_HISTORY[half], 2),
        "visits": rng.sample(_VISITS[half], 2),
    }


def unit_of(label: str) -> str:
    return UNITS.get(label, "")


def table(facts: dict[str, Any]) -> str:
    """The box of facts at the top of an article."""
    rows = "".join(f"|-\n! {label}\n| {f'{value} {unit_of(label)}'.strip()}\n" for label, value in facts.items())
    return f'{{| class="wikitable"\n{rows}|}}'


def text_of(article: dict[str, Any], facts: dict[str, Any], history: Sequence[str], visits: Sequence[str]) -> str:
    """The wikitext of an article; its sections are History, Visit and See also."""
    title, noun = article["title"], article["kind"][:-1].lower()
    see = "\n".join(f"* [[{other}]]" for other in article["see"])
    return (
        f"{table(facts)}\n"
        f"'''{title}''' is a {noun} near {facts['Town']}, on ground of {article['ground']}.\n\n"
        f"== History ==\n{' '.join(history)}\n\n== Visit ==\n{' '.join(visits)}\n\n== See also ==\n{see}\n\n"
        f"[[Category:{article['kind']}]]\n[[Category:{facts['Town']}]]"
    )


def _edits(rng: random.Random, half: int, article: dict[str, Any], people: Sequence[str]) -> list[dict[str, Any]]:
    """One to five edits: an article begins short, gets its sentences and figures, and no edit repeats another."""
    facts, history, visits = article["facts"], article["history"], article["visits"]
    first, second = list(facts)[1:3]
    stages = [
        text_of(article, facts, history, visits),
        text_of(article, facts, history, visits[:1]),
        text_of(article, {**facts, first: facts[first] + rng.randint(1, 9)}, history, visits[:1]),
        text_of(article, {**facts, first: facts[first] + 10}, history[:1], visits[:1]),
        text_of(article, {**facts, first: facts[first] + 10, second: facts[second] + 5}, history[:1], visits[:1]),
    ][: rng.randint(1, 5)][::-1]
    when = LAST_EDIT - timedelta(days=rng.randint(1, 300))
    users = rng.sample(people, len(stages))
    summaries = ["new article", *rng.sample(_SUMMARIES[half], len(stages) - 1)]
    return [
        _edit(rng, [user], text, summary, when - timedelta(days=40 * (len(stages) - at)))
        for at, (user, text, summary) in enumerate(zip(users, stages, summaries, strict=True))
    ]


def _edit(rng: random.Random, people: Sequence[str], text: str, summary: str, when: datetime) -> dict[str, Any]:
    time = when - timedelta(minutes=rng.randrange(1440))
    return {"user": rng.choice(people), "text": text, "summary": summary, "time": time.strftime("%Y%m%d%H%M%S")}


def _discussion(rng: random.Random, half: int, article: dict[str, Any], people: Sequence[str]) -> dict[str, Any]:
    heading = rng.choice(_QUESTIONS[half])
    (asked, answered), (first, second) = rng.sample(people, 2), rng.sample(_SAID[half], 2)
    text = f"== {heading} ==\n{first} – {asked}\n: {second} – {answered}"
    edit = _edit(rng, [answered], text, heading, LAST_EDIT)
    return {"title": f"Talk:{article['title']}", "heading": heading, "edits": [edit]}


def _main_page(rng: random.Random, names: Sequence[str], nouns: Sequence[str], towns: Sequence[str]) -> dict[str, Any]:
    kinds = "\n".join(f"* [[:Category:{noun}s|{noun}s]]" for noun in nouns)
    places = "\n".join(f"* [[:Category:{town}|{town}]]" for town in towns)
    text = f"Welcome to the wiki of our region.\n\n== Sights ==\n{kinds}\n\n== Towns ==\n{places}"
    return {"title": "Main Page", "edits": [_edit(rng, names[:1], text, "welcome", LAST_EDIT)]}
