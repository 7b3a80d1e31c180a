"""Datasette (https://datasette.io) over the catalogue of a library, whose librarian lends books."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from webdojo.envs.apps.application import Application
from webdojo.envs.apps.goal import Goal, Step, Template, World, added, answered, done, shown
from webdojo.sites import HELDOUT_SEED
from webdojo.sites.answers.values import number
from webdojo.sites.content.drawing import distinct
from webdojo.sites.content.people import FIRST_NAMES, LAST_NAMES
from webdojo.sites.content.words import ADJECTIVES, WIKI_NOUNS

BOOKS, AUTHORS = 240, 40


def _find(title: str) -> list[Step]:
    return [{"do": "write", "field": "_search", "text": title, "enter": True}]


def _pages(world: World, rng: random.Random) -> Goal:
    book = rng.choice(world["books"])
    facts = [
        shown("The book was shown", book["title"], str(book["pages"])),
        answered("The number of pages is right", number(book["pages"])),
    ]
    return Goal(str(book["id"]), {"title": book["title"]}, facts, [*_find(book["title"]), done(str(book["pages"]))])


def _count(world: World, rng: random.Random) -> Goal:
    author = rng.choice([book["author"] for book in world["books"]])
    count = sum(book["author"] == author for book in world["books"])
    rows = f"{count} rows" if count > 1 else "1 row"
    facts = [
        shown("The books were counted", f'{rows} where author = "{author}"'),
        answered("The count is right", number(count)),
    ]
    return Goal(author, {"author": author}, facts, [{"do": "click", "text": author}, done(str(count))])


def _lend(world: World, rng: random.Random) -> Goal:
    book, reader = rng.choice(world["books"]), rng.choice(world["readers"])
    plan = [
        *_find(book["title"]),
        {"do": "go", "path": "/db/lend"},
        {"do": "write", "field": "book", "text": str(book["id"])},
        {"do": "write", "field": "reader", "text": reader},
        {"do": "click", "text": "Run SQL"},
        done(),
    ]
    fact = added("The book is lent", "loan", book_id=book["id"], reader=reader)
    return Goal(f"{book['id']}-{reader}", {"title": book["title"], "reader": reader}, [fact], plan)


class Library(Application):
    name = "library"
    about = "Datasette with the catalogue of a library"
    folder = Path(__file__).parent
    templates: ClassVar[Mapping[str, Template]] = {
        "pages": Template("pages", _pages, ("How many pages has {title}?", "Find out how long {title} is, in pages.",
            "Look up {title} and tell its number of pages.", "{title}: how many pages?",
            "I want to read {title}. How many pages are that?"), start="/db/book"),
        "count": Template("count", _count, ("How many books of {author} are there?", "Count the books by {author}.",
            "Of how many books is {author} the author?", "{author} has written how many of the books here?",
            "Tell me the number of books by {author}."), start="/db/book"),
        "lend": Template("lend", _lend, ("Lend {title} to {reader}.", "{reader} takes {title} home. Note the loan.",
            "Write down that {title} is lent to {reader}.", "Record a loan: {title}, reader {reader}.",
            "{reader} wants to borrow {title}; enter it."), "librarian", "/db/book"),
    }  # fmt: skip

    def world(self, seed: int) -> dict[str, Any]:
        rng, heldout = random.Random(f"library-{seed}"), seed >= HELDOUT_SEED
        last_names = sorted(set(LAST_NAMES))[heldout::2]
        people = distinct(2 * AUTHORS, lambda: f"{rng.choice(FIRST_NAMES)} {rng.choice(last_names)}")
        nouns = WIKI_NOUNS[heldout::2]
        titles = distinct(BOOKS, lambda: f"The {rng.choice(ADJECTIVES)} {rng.choice(nouns)}")
        books = [
            {"id": id, "title": title, "author": rng.choice(people[:AUTHORS]), "pages": rng.randint(90, 900)}
            for id, title in enumerate(titles, 1)
        ]
        return {"books": books, "readers": people[AUTHORS:]}
