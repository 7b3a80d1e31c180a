"""What a session must have seen: routes through a small library, played by HTTP, and the verdicts on them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import pytest

from webdojo.sites.actions import Action
from webdojo.sites.catalog import Attribute, Collection, Entity
from webdojo.sites.catalog_goals import MAKERS
from webdojo.sites.goal import Goal, fact
from webdojo.sites.kinds import KINDS, load_site
from webdojo.sites.pages import CatalogSite, made
from webdojo.sites.serving.server import SESSION_HEADER, SiteServer
from webdojo.sites.sized import SizedSite
from webdojo.sites.verdict import Verdict, evaluate
from webdojo.types import Task

HOST, OTHER = "library-2.localhost", "library-3.localhost"
GENRE = Attribute("genre", "Genre", listed=True, filter="is", phrase="in {value}")
BOOK = (
    GENRE,
    Attribute("price", "Price", "number", "$", True, "max", "Cheapest first", "cheapest", "for at most {value}"),
    Attribute("author", "Author", listed=True, filter="is", phrase="by {value}", person=True),
    Attribute("shelf", "Shelf", filter="is", phrase="on the shelf {value}"),
    Attribute("pages", "Pages", "number", "", False, "under", "Shortest first", "shortest", "under {value} pages"),
    Attribute("loans", "Loans", "number", filter="min", phrase="with at least {value} loans"),
    Attribute("marks", "Marks", "number", filter="min", phrase="with at least {value} marks"),
    Attribute("state", "State", asked=False),
)
BOOKS = """
Green Atlas   Maps     10  Ada Lin   North  300  9
Old Atlas     Maps     14  Ada Lin   South  120  3
Wide Atlas    Maps     30  Bo Reed   South   90  1
Green Chart   Maps     22  Ada Lin   North  210  8
Blue Novel    Fiction   8  Bo Reed   North  410  5
Long Novel    Fiction  18  Cy Hart   South  500  7
Torn Novel    Fiction  25  Bo Reed   North  350  6
Last Novel    Fiction  40  Cy Hart   South  200  6
"""
"""Name, genre, price, author, shelf, pages and loans, in the order of the list, which has three a page.

Lists show the genre, the price and the author; of pages there is an order, but their number is not in lists.
"""
WRITER = (
    GENRE,
    Attribute("books", "Book count", "number", counts=("books", "author")),
    Attribute("edited", "Edited", "number", listed=True, counts=("books", "editor")),
)


class Library(CatalogSite):
    kind = "library"
    tagline = "Books"
    headings = ("Books",)
    per_page = 3
    actions = (
        Action("lend", "Borrow", "{name} is yours.", ("borrow {name}", "take {name} home"), "books")
        .setting(state="lent")
        .refusing(("shelf", "South", "locked away")),
    )

    def draw(self, rng: random.Random) -> list[Collection]:
        books, writers = [], []
        for line in BOOKS.strip().splitlines():
            one, two, genre, price, first, last, shelf, pages, loans = line.split()
            text = {"genre": genre, "author": f"{first} {last}", "shelf": shelf, "state": "in"}
            numbers = {"price": int(price), "pages": int(pages), "loans": int(loans), "marks": 9}
            books.append(Entity(f"{one}-{two}".lower(), f"{one} {two}", {**text, **numbers}))
        for name in ("Ada Lin", "Bo Reed", "Cy Hart", "Di Moss"):
            genre = "Maps" if name == "Ada Lin" else "Fiction"
            own = sum(book.values["author"] == name for book in books)
            writers.append(Entity(name.lower().replace(" ", "-"), name, {"genre": genre, "books": own, "edited": 3}))
        limits = {"price": (20, 50), "pages": (250,), "loans": (5,), "marks": (5,)}
        return [
            Collection("books", "Books", "book", "books", BOOK, tuple(books), limits),
            Collection("writers", "Writers", "writer", "writers", WRITER, tuple(writers), people=True),
        ]


ALL = "/books /books?page=2 /books?page=3"
SHORT = "/books?sort=pages /books?sort=pages&page=2"
"""Wide, Old and Last; Chart, Green and Torn."""
CHEAP = "/books?sort=price /books?sort=price&page=2"
"""Blue, Green and Old; Long, Chart and Torn."""
MAPS = "/books?genre=maps /books?genre=maps&page=2"
LOANED = "/books?loans=5 /books?loans=5&page=2"
MARKED = "/books?marks=5 /books?marks=5&page=2 /books?marks=5&page=3"

HONEST = {
    ("count", "/books?genre=maps&price=20"): {
        "reads the number": "/books?genre=maps&price=20",
        "reads it in a list with an order": "/books?genre=maps&price=20&sort=pages",
        "sets one filter and looks at the prices": MAPS,
        "sets no filter": ALL,
        "goes on in the order of prices until they are too high": "/books?genre=maps&sort=price",
        "adds up the shelves": "/books?genre=maps&price=20&shelf=north /books?genre=maps&price=20&shelf=south",
    },
    ("count", "/books?genre=maps"): {
        "reads the number above the list": "/books?genre=maps",
        "reads it above a list in an order": "/books?genre=maps&sort=price",
    },
    ("count", "/books?loans=5&price=20"): {
        "goes on until prices are too high": "/books?loans=5&sort=price /books?loans=5&sort=price&page=2",
    },
    ("count", "/books?pages=250"): {
        "opens the shortest ones until one is too long":
            f"{SHORT} /books/wide-atlas /books/old-atlas /books/last-novel /books/green-chart /books/green-atlas",
    },
    ("count", "/books?author=ada+lin"): {"reads it on the page of the author": "/writers/ada-lin"},
    ("names", "/books?genre=maps"): {"reads all": MAPS},
    ("names", "/books?genre=maps&sort=price"): {
        "reads the first ones": "/books?genre=maps&sort=price",
        "reads the first ones of all": CHEAP,
        "compares the prices": MAPS,
    },
    ("names", "/books?genre=maps&sort=pages"): {
        "opens all and compares": f"{MAPS} /books/green-atlas /books/old-atlas /books/wide-atlas /books/green-chart",
    },
    ("names", "/books?loans=5&sort=pages"): {"looks up in another list which have enough loans": f"{SHORT} {LOANED}"},
    ("compare", "/books/old-atlas-/books/last-novel-pages"): {
        "reads both numbers": "/books/old-atlas /books/last-novel",
        "sees them in the order of pages": "/books?sort=pages",
        "sees them so in a narrowed list": "/books?shelf=south&sort=pages",
    },
    ("compare", "/books/blue-novel-the-cheapest-book-/books/wide-atlas-the-shortest-book-price"): {
        "reads both prices in the lists": "/books?sort=price /books?sort=pages",
    },
    ("across", f"/books/old-atlas-{OTHER}/books/last-novel-price"): {
        "reads one price on each site": f"/books http://{OTHER}/books?page=3",
    },
    ("read", "/books/blue-novel-the-cheapest-book-price"): {"reads it in the list": "/books?sort=price"},
    ("read", "/books/green-atlas-shelf"): {"reads it off the filter": "/books?shelf=north"},
    ("missing", "Blue Atlas"): {
        "searches for it": "/search?q=blue+atlas",
        "searches in capitals": "/search?q=BLUE+ATLAS",
        "searches for a word": "/search?q=atlas",
        "searches for a part of a word": "/search?q=bl",
        "browses all": ALL,
        "browses the genre of all that is called so": MAPS,
    },
    ("missing", "Old Novel"): {"looks through all that a word finds": "/search?q=novel /search?q=novel&page=2"},
    ("missing", "Ada Hart"): {"browses all": "/writers /writers?page=2"},
    ("refused", "/books/old-atlas-lend"): {"reads why": "/books/old-atlas"},
    ("act", "/books/blue-novel-the-cheapest-book/lend"): {
        "borrows it from the list": "/books?sort=price !/books/blue-novel/lend",
    },
    ("open", "/books/blue-novel-the-cheapest-book"): {"opens it by a search": "/search?q=blue /books/blue-novel"},
    ("narrow", "/books?author=ada+lin&genre=maps"): {
        "sets both": "/books?author=ada+lin&genre=maps",
        "sees that one is enough": "/books?author=ada+lin",
    },
}  # fmt: skip
"""Sessions, page by page, by the goal's name and key, that found all out before the oracle's answer.

`!` sends the form at an address, which has no fields.
"""

GUESSES = {
    ("count", "/books?genre=maps&price=20"): {
        "looks at nothing": "/",
        "opens what counts": "/books/green-atlas /books/old-atlas",
        "sees the beginning of the list": "/books?genre=maps",
        "sees the list in another order": "/books?genre=maps&sort=pages",
        "sets a further filter": "/books?genre=maps&price=20&shelf=north",
    },
    ("count", "/books?genre=fiction&price=20"): {"sees the beginning in no order": "/books?genre=fiction"},
    ("count", "/books?genre=maps"): {
        "adds up limits": "/books?genre=maps&price=20 /books?genre=maps&price=50",
    },
    ("count", "/books?loans=5&price=20"): {"stops before prices are too high": "/books?loans=5&sort=price"},
    ("count", "/books?pages=250"): {
        "sees no number of pages": SHORT,
        "stops at the last one that counts":
            f"{SHORT} /books/wide-atlas /books/old-atlas /books/last-novel /books/green-chart",
    },
    ("count", "/books?shelf=north"): {"sees no shelf": ALL},
    ("count", "/books?loans=5"): {"sees no loans": ALL},
    ("count", "/books?author=ada+lin"): {
        "opens another author": "/writers/bo-reed",
        "reads another number of books": "/writers",
    },
    ("count", "/books?author=ada+lin&shelf=north"): {"reads the number of all books": "/writers/ada-lin"},
    ("names", "/books?genre=maps"): {"reads some": "/books?genre=maps"},
    ("names", "/books?genre=maps&sort=price"): {
        "sees the beginning of a list in no order": "/books?genre=maps",
        "sees all in the order of something else": "/books?sort=pages",
    },
    ("names", "/books?genre=maps&sort=pages"): {"sees no number of pages": MAPS},
    ("names", "/books?loans=5&sort=pages"): {"looks up which have enough marks": f"{SHORT} {MARKED}"},
    ("names", "/books?shelf=north&sort=pages"): {"sees no shelf": SHORT},
    ("compare", "/books/old-atlas-/books/last-novel-pages"): {
        "sees both without a number": ALL,
        "sees both in another order": f"{CHEAP} /books?sort=price&page=3",
        "reads one number": "/books/old-atlas",
        "reads the other": "/books/last-novel",
        "sees each in a list of its own": "/books?genre=maps&sort=pages /books?genre=fiction&sort=pages",
        "searches for both": "/search?q=old+atlas /search?q=last+novel",
    },
    ("across", f"/books/old-atlas-{OTHER}/books/last-novel-price"): {"reads both here": ALL},
    ("read", "/books/blue-novel-the-cheapest-book-price"): {"reads other prices": "/books"},
    ("read", "/books/green-atlas-loans"): {"sees that it has enough": "/books?loans=5"},
    ("missing", "Blue Atlas"): {
        "does not look": "/",
        "searches for something else": "/search?q=novel",
        "searches for more than the name": "/search?q=blue+atlas+maps",
        "searches for nothing": "/search?q=",
        "searches where there is no search": "/books?q=blue+atlas",
        "browses the beginning of the list": "/books",
        "browses the books of somebody who wrote an atlas": "/books?author=ada+lin",
        "browses the books of the author of Blue Novel": "/books?author=bo+reed",
    },
    ("missing", "Ada Hart"): {"browses the genre of Ada Lin": "/writers?genre=maps"},
    ("missing", "Old Novel"): {
        "sees some of what a word finds": "/search?q=novel",
        "browses a list that happens to have all novels": LOANED,
    },
    ("missing", "Green Novel"): {"browses the shelf of what is green": "/books?shelf=north /books?shelf=north&page=2"},
    ("refused", "/books/old-atlas-lend"): {"sees it in a list": "/books /search?q=old+atlas"},
    ("open", "/books/blue-novel-the-cheapest-book"): {"leaves it again": "/books/blue-novel /"},
    ("narrow", "/books?author=ada+lin&genre=maps"): {"takes them back": "/books?author=ada+lin&genre=maps /books"},
}  # fmt: skip
"""Sessions that did not, so that the same answer is a guess."""


@pytest.fixture(scope="module", autouse=True)
def _library() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(KINDS.built_in, "library", Library)
        yield


@pytest.fixture(scope="module")
def server(_library: None) -> Iterator[SiteServer]:
    with SiteServer() as running:
        yield running


@cache
def goal(name: str, key: str) -> Goal:
    """The goal of this name and key: it is drawn until it comes."""
    make = next(each for each in MAKERS if each.__name__ == f"_{name}")
    draws = (make(made(Library, 2), facts, random.Random(seed)) for seed in range(20_000) for facts in range(1, 6))
    return next(drawn for drawn in draws if drawn is not None and drawn.key == key)


def task(evaluator: dict[str, Any], host: str = HOST, layout: str = "auto") -> Task:
    start, metadata = f"http://{host}/", {"layout": layout}
    return Task(id="t", instruction="?", start_url=start, website=host, evaluator=evaluator, metadata=metadata)


def verdict_on(name: str, key: str, route: str, server: SiteServer) -> Verdict:
    """The verdict on a session that opens some pages and gives the answer of the oracle."""
    asked, urls = goal(name, key), []
    for page in route.split():
        path = page.removeprefix("!")
        urls.append(path if "://" in path else f"http://{HOST}{path}")
        load("POST" if page.startswith("!") else "GET", urls[-1], server)
    verdict = evaluate(task(asked.evaluator), asked.plan[-1]["answer"], urls[-1], server.state("s"))
    server.end("s")
    return verdict


def load(method: str, url: str, server: SiteServer, **headers: str) -> None:
    """Ask for a page, as one whose address was typed if no header says otherwise."""
    to = httpx.URL(url)
    own = {SESSION_HEADER: "s", "Host": to.host, "Connection": "close"}
    address = f"http://{server.address}{to.raw_path.decode()}"
    httpx.request(method, address, headers={**own, **headers}, trust_env=False)


def table(routes: dict[tuple[str, str], dict[str, str]]) -> list[pytest.ParameterSet]:
    return [
        pytest.param(name, key, route, id=f"{name} {key}: {says}")
        for (name, key), ways in routes.items()
        for says, route in ways.items()
    ]


@pytest.mark.parametrize(("name", "key", "route"), table(HONEST))
def test_an_honest_route_is_accepted(name: str, key: str, route: str, server: SiteServer) -> None:
    verdict = verdict_on(name, key, route, server)
    assert verdict.success, verdict.reason


@pytest.mark.parametrize(("name", "key", "route"), table(GUESSES))
def test_a_guess_is_refused(name: str, key: str, route: str, server: SiteServer) -> None:
    verdict = verdict_on(name, key, route, server)
    assert not verdict.success
    assert "never s" in verdict.reason or "ended on" in verdict.reason


@pytest.mark.parametrize(
    ("wanted", "right", "wrong"),
    [
        ("/books?genre=maps", ["/books?genre=Maps", "/books?genre=maps&sort=price", "/books?page=2&genre=maps"], []),
        ("/books?genre=maps&page=2", ["/books?genre=maps&page=2"], ["/books?genre=maps", "/books?genre=maps&page=3"]),
        ("/books?genre=maps&price=20", [], ["/books?genre=maps"]),
        ("/books?genre=maps", [], ["/writers?genre=maps", "/writers/ada-lin", "/books", "/books?genre=fiction"]),
        ("/books?price=50", [], ["/books"]),
        ("/books?author=cy+hart", [], ["/books?author=cy+hart&shelf=south"]),
        ("/books?author=cy+hart&genre=fiction", ["/books?author=cy+hart"], ["/books?author=cy+hart&shelf=south"]),
        ("/books?author=bo+reed&genre=fiction&shelf=north", [], ["/books?author=bo+reed&genre=fiction"]),
    ],
)
def test_a_list_shows_the_same_by_the_same_filters_or_by_fewer_and_its_cards(
    wanted: str, right: list[str], wrong: list[str]
) -> None:
    asked = task({"facts": [fact("It is shown", shows=wanted)]})

    def ends_on(path: str, host: str = HOST, served: str = "") -> bool:
        here = {"state": {}, "visited": [served or path], "seen": []}
        return evaluate(asked, "done", f"http://{host}{path}", {HOST: here}).success

    for path in [wanted, *right]:
        assert ends_on(path), path
        assert not ends_on(path, served="/")
        assert not ends_on(path, OTHER)
    for path in wrong:
        assert not ends_on(path), path


def test_a_list_of_the_compact_layout_is_known_by_its_section() -> None:
    shop = load_site("shop", 3, "compact")
    assert isinstance(shop, SizedSite)
    one, other, *_ = map(shop.list_path, shop.groups)
    asked = task({"facts": [fact("It is shown", shows=one)]}, shop.host, "compact")
    for path, right in ((one, True), (f"{one}?sort=price", True), (other, False), (f"{one}?color=red", False)):
        here = {"state": {}, "visited": [path], "seen": []}
        assert evaluate(asked, "done", shop.url(path), {shop.host: here}).success == right, path


def test_facts_tell_which_filters_are_set(server: SiteServer) -> None:
    key = "/books?genre=maps&price=20"
    assert verdict_on("narrow", key, key, server).facts == (True, True, True)
    assert verdict_on("narrow", key, "/books?genre=maps", server).facts == (True, False, False)
    assert verdict_on("narrow", key, "/books?price=20&shelf=north&sort=price", server).facts == (False, True, False)
    assert verdict_on("narrow", key, "/writers?genre=maps", server).facts == (False, False, False)
