"""The back office of a magazine: edit, publish and delete articles, look after users, read reports."""

from __future__ import annotations

import random
from collections.abc import Iterator

from webdojo.sites.admin import content
from webdojo.sites.admin.actions import actions
from webdojo.sites.blocks import Block, Card, Cards, Heading, Late, Lines
from webdojo.sites.catalog import Attribute, Collection, Entity, Value, fact_name
from webdojo.sites.content.people import people, towns
from webdojo.sites.content.words import slug
from webdojo.sites.goal import Fact, Goal, done, fact, place
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page, Redirect, Request
from webdojo.sites.verdict.answers import number, text

ARTICLES, USERS, AUTHORS, SECTIONS = 240, 70, 8, 6
MEASURES = ("Views", "Visitors", "Comments")
YEAR = 2026

ARTICLE = (
    Attribute("status", "Status", listed=True, filter="is", phrase="with the status {value}"),
    Attribute("section", "Section", listed=True, filter="is", phrase="in the section {value}"),
    Attribute("author", "Author", listed=True, filter="is", phrase="by {value}"),
    Attribute("type", "Type", filter="is", phrase="of the type {value}"),
    Attribute(
        "updated",
        "Last change",
        "date",
        "",
        True,
        "",
        "Oldest change first",
        "least recently changed",
        noun="date of the last change",
    ),
    Attribute(
        "views",
        "Views",
        "number",
        "",
        False,
        "min",
        "Fewest views first",
        "least viewed",
        "with {value} or more views",
        noun="number of views",
    ),
    Attribute(
        "words",
        "Words",
        "number",
        "",
        False,
        "max",
        "Shortest first",
        "shortest",
        "of at most {value} words",
        noun="number of words",
    ),
    Attribute("editing", "Editing", asked=False),
    Attribute("weight", "Weight", "number", asked=False),
    Attribute("scheduled", "Goes online", "date", asked=False),
)
USER = (
    Attribute("role", "Role", listed=True, filter="is", phrase="with the role {value}"),
    Attribute(
        "account", "Account", listed=True, filter="is", phrase="with the account state {value}", noun="account state"
    ),
    Attribute("town", "Town", filter="is", phrase="from {value}"),
    Attribute("joined", "Joined", "date", "", False, "", "Joined first", "longest-standing", noun="joining date"),
    Attribute(
        "last", "Last seen", "date", "", True, "", "Longest away first", "longest absent", noun="day of the last visit"
    ),
    Attribute(
        "posts", "Posts", "number", "", False, "min", phrase="with {value} or more posts", noun="number of posts"
    ),
)
_ARTICLE_LIMITS = {"views": (1000, 5000, 20000), "words": (400, 900, 1600)}
_USER_LIMITS = {"posts": (10, 50, 150)}


def _report(site: Admin, facts: int, rng: random.Random) -> Goal | None:
    """A goal that reads reports: one number, the sum of several months, or the leading section."""
    measure, section = rng.choice(MEASURES), rng.choice(site.names)
    if facts == 3 and rng.random() < 0.5:
        return _leader(site, measure, rng)
    if not 2 <= facts <= 5:
        return None
    months = sorted(rng.sample(range(12), facts - 1))
    figures = [site.figures[month, section][measure] for month in months]
    said = [content.MONTHS[month] for month in months]
    total, label = sum(figures), f"number of {measure.lower()} of the section {section}"
    when = f"{', '.join(said[:-1])} and {said[-1]} {YEAR} together" if said[1:] else f"{said[0]} {YEAR}"
    checks = (
        *(_read_off(month, section, measure) for month in months),
        fact(f"The answer is {total}", answer=number(total)),
    )
    visits = [
        {"do": "visit", "path": _path(month), "note": f"{measure} of {section} in {name}: {figure}.", "via": "/reports"}
        for month, name, figure in zip(months, said, figures, strict=True)
    ]
    plan = [*visits, done(f"The {measure} are {total}.", str(total))]
    key = f"{section}-{measure}-{'-'.join(said)}"
    cores = (f"the {label} in {when}", f"the {label} that the reports give for {when}")
    return Goal("report", key, {}, checks, plan, cores=cores, form="ask")


def _leader(site: Admin, measure: str, rng: random.Random) -> Goal | None:
    month = rng.randrange(12)
    ranked = sorted(site.names, key=lambda name: site.figures[month, name][measure], reverse=True)
    if site.figures[month, ranked[0]][measure] == site.figures[month, ranked[1]][measure]:
        return None
    when = f"{content.MONTHS[month]} {YEAR}"
    checks = (
        fact(f"The report on {when} was shown", visited=[place(_path(month))]),
        _read_off(month, ranked[0], measure),
        fact(f"The answer is {ranked[0]}", answer=text(ranked[0])),
    )
    plan = [
        {"do": "visit", "path": _path(month), "note": "", "via": "/reports"},
        done(f"{ranked[0]} has the most {measure}.", ranked[0]),
    ]
    cores = (f"the section that had the most {measure.lower()} in {when}",)
    return Goal("leader", f"{measure}-{when}", {}, checks, plan, cores=cores, form="ask")


def _read_off(month: int, section: str, measure: str) -> Fact:
    said = f"{measure} of {section} in {content.MONTHS[month]} were shown"
    return fact(said, seen=[fact_name(f"report-{month + 1}-{slug(section)}", measure)])


def _path(month: int) -> str:
    return f"/reports/{YEAR}-{month + 1:02d}"


class Admin(CatalogSite):
    """The back office of one magazine."""

    kind = "admin"
    pictured = False
    tagline = "The office behind the magazine"
    headings = ("Back office", "Control room", "Editorial desk", "Welcome back")
    goals = (_report, _report)

    def draw(self, rng: random.Random) -> list[Collection]:
        names, places = people(rng, USERS), towns(rng, 5)
        self.names = tuple(sorted(rng.sample(content.SECTIONS, SECTIONS)))
        self.figures = {(month, name): _figures(rng) for month in range(12) for name in self.names}
        self.actions = actions(self.names)
        articles = _articles(rng, self.names, names[:AUTHORS])
        users = [_user(rng, name, places, name in names[:AUTHORS]) for name in names]
        rng.shuffle(users)
        return [
            Collection("articles", "Articles", "article", "articles", ARTICLE, tuple(articles), _ARTICLE_LIMITS),
            Collection("users", "Users", "user", "users", USER, tuple(users), _USER_LIMITS),
        ]

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        if request.path.rstrip("/") == "/reports":
            crumbs = ((self.look.words["home"], "/"),)
            cards = tuple(Card(_month_name(month), _path(month)) for month in range(12))
            blocks: list[Block] = [Heading(self.say("Reports"), "Month by month", crumbs), Cards(cards), self._year()]
            return Page("reports", self.say("Reports"), {"blocks": blocks})
        for month in range(12):
            if request.path.rstrip("/") == _path(month):
                return self._month(month)
            if request.path == f"{_path(month)}/figures":
                return self._tables(month)
        return super().respond(request, overlay)

    def sections(self) -> list[tuple[str, str]]:
        return [*super().sections(), (self.say("Reports"), "/reports")]

    def paths(self) -> Iterator[str]:
        yield from super().paths()
        yield "/reports"
        for month in range(12):
            yield from (_path(month), f"{_path(month)}/figures")

    def way_to(self, path: str) -> tuple[str, str]:
        if path == "/reports":
            return "/", self.say("Reports")
        month = next((month for month in range(12) if path == _path(month)), None)
        return super().way_to(path) if month is None else ("/reports", _month_name(month))

    def _month(self, month: int) -> Page:
        """A report; on some sites it has to be made first, which takes a few seconds."""
        crumbs = ((self.look.words["home"], "/"), (self.say("Reports"), "/reports"))
        made = self._tables(month)
        late = random.Random(f"{self.host}-reports").random() < 0.5
        blocks = [Late("The report is being made.", f"{_path(month)}/figures")] if late else made.data["blocks"]
        heading = Heading(_month_name(month), "", crumbs)
        return Page("report", _month_name(month), {"blocks": [heading, *blocks]}, () if late else made.shows)

    def _tables(self, month: int) -> Page:
        rows = tuple((name, *(self.figures[month, name][measure] for measure in MEASURES)) for name in self.names)
        shows = tuple(
            fact_name(f"report-{month + 1}-{slug(name)}", measure) for name in self.names for measure in MEASURES
        )
        data = {"blocks": [Lines(("Section", *MEASURES), rows)], "bare": True}
        return Page("figures", _month_name(month), data, shows)

    def _year(self) -> Lines:
        rows = tuple(
            (name, *(sum(self.figures[month, name][measure] for month in range(12)) for measure in MEASURES))
            for name in self.names
        )
        return Lines(("Section", *MEASURES), rows, f"The year {YEAR}")


def _month_name(month: int) -> str:
    return f"{content.MONTHS[month]} {YEAR}"


def _figures(rng: random.Random) -> dict[str, int]:
    views = rng.randint(900, 48000)
    return {"Views": views, "Visitors": views * rng.randint(21, 64) // 100, "Comments": rng.randint(12, 890)}


def _articles(rng: random.Random, sections: tuple[str, ...], authors: list[str]) -> list[Entity]:
    titles: dict[str, None] = {}
    while len(titles) < ARTICLES:
        titles[content.headline(rng)] = None
    return [_article(rng, title, sections, authors) for title in titles]


def _article(rng: random.Random, title: str, sections: tuple[str, ...], authors: list[str]) -> Entity:
    values: dict[str, Value] = {
        "status": rng.choice(content.STATUSES),
        "section": rng.choice(sections),
        "author": rng.choice(authors),
        "type": rng.choice(content.KINDS),
        "updated": f"{rng.randint(2025, 2026)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        "views": int(rng.random() ** 3 * 60000) + rng.randint(10, 99),
        "words": rng.randint(180, 2400),
        "editing": "locked" if rng.random() < 0.07 else "open",
        "weight": rng.randint(1, 10),
        "scheduled": "",
    }
    return Entity(slug(title).strip("?").replace(":", ""), title, values, content.body(rng))


def _user(rng: random.Random, name: str, places: list[str], writes: bool) -> Entity:
    joined = rng.randint(2016, 2025)
    values: dict[str, Value] = {
        "role": rng.choice(content.ROLES[1:] if writes else content.ROLES),
        "account": "Suspended" if rng.random() < 0.15 and not writes else "Active",
        "town": rng.choice(places),
        "joined": f"{joined}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        "last": f"2026-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        "posts": int(rng.random() ** 2 * 300),
    }
    return Entity(slug(name), name, values)
