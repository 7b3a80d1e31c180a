"""The back office of a magazine: edit, publish and delete articles, look after users, read reports."""

from __future__ import annotations

import random
from dataclasses import replace

from webdojo.sites.actions import Action
from webdojo.sites.answers.values import number, winner
from webdojo.sites.blocks import Block, Card, Cards, Field, Heading, Late, Lines
from webdojo.sites.catalog import Attribute, Collection, Entity, fact_name
from webdojo.sites.content.drawing import counted, day_of, distinct, entity
from webdojo.sites.content.people import ADDRESSES, USERS, people, towns
from webdojo.sites.content.words import items, slug
from webdojo.sites.goal import Fact, Goal, done, fact, visit
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page, Redirect, Request

SECTIONS = items(
    "Business, Community, Culture, Food, Health, Letters, Local news, Music, Nature, Opinion, Politics, Science, "
    "Sports, Technology, Travel, Weekend"
)
STATUSES = ("Draft", "Published", "Archived")
ROLES = ("Reader", "Author", "Editor", "Administrator")
KINDS = ("Article", "Gallery", "Interview", "Recipe")
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
NOTES = ("Writes about gardens.", "Back from a long break.", "Works in the afternoon.", "Speaks Danish.")
NEW_TEXTS = (
    "More about this next week.",
    "Here is what we know so far.",
    "Pictures will follow soon.",
    "This page is about our neighbours.",
    "Please send us your own stories.",
)
MEASURES = ("Views", "Visitors", "Comments")
YEAR = 2026
REPORTS = {f"{YEAR}-{number:02d}": name for number, name in enumerate(MONTHS, 1)}
"""Names of the months that there are reports on, by the last part of their paths."""

_LOCKED = ("editing", "locked", "locked by the legal team")

ACTIONS = (
    Action("edit", "Edit", "{name} is changed.", collection="articles")
    .asked(
        "edit {name}",
        "change {name}",
        "rework {name}",
        name=", setting the title to “{new_name}”",
        section=", moving it to the section {section}",
        status=", giving it the status {status}",
    )
    .with_fields(
        Field("name", "Title", options=NEW_TITLES),
        Field("section", "Section", "select"),
        Field("status", "Status", "radio", STATUSES),
    )
    .refusing(_LOCKED),
    Action("copy", "Duplicate", "There is a copy of {name} now.", collection="articles")
    .asked(
        "duplicate {name} into the section {section} and keep the name that is proposed for the copy",
        "make a copy of {name}, in the section {section} and named as the site proposes",
        "copy {name} to the section {section} under the name that the site suggests",
    )
    .with_fields(
        Field("section", "Section of the copy", "select"),
        Field("name", "Name of the copy", "prompt", required=False, default="Copy of {name}"),
    )
    .making("articles", status="Draft", updated="2027-03-01", editing="open")
    .refusing(_LOCKED),
    Action("publish", "Publish", "{name} is online.", collection="articles")
    .asked("publish {name}", "put {name} online", "have {name} published")
    .setting(status="Published")
    .refusing(_LOCKED, ("status", "Published", "already online")),
    Action("archive", "Archive", "{name} is in the archive.", collection="articles")
    .asked("archive {name}", "move {name} to the archive", "put {name} into the archive")
    .setting(status="Archived")
    .refusing(_LOCKED, ("status", "Archived", "already in the archive")),
    Action("schedule", "Schedule", "{name} has a date.", collection="articles")
    .asked(
        "schedule {name} to go online on {scheduled}",
        "set {scheduled} as the day on which {name} goes online",
        "plan {name} for {scheduled}",
    )
    .with_fields(Field("scheduled", "Goes online", "calendar", hint="2027-03"))
    .refusing(_LOCKED),
    Action("weigh", "Set weight", "{name} has another weight.", collection="articles")
    .asked(
        "give {name} the weight {weight}",
        "set the weight of {name} to {weight}",
        "rank {name} with a weight of {weight}",
    )
    .with_fields(Field("weight", "Weight", "range", least=1, most=10))
    .refusing(_LOCKED),
    Action("delete", "Delete", "{name} is gone.", collection="articles")
    .asked("delete {name}", "remove {name} for good", "delete {name} from the magazine")
    .with_fields(Field("sure", "Yes, delete it for good", "agree"))
    .setting(gone="yes")
    .refusing(_LOCKED),
    Action("write", "New page", "Your page is there as a draft.")
    .asked(
        "write a page of the type {type} for the section {section}, titled “{name}” and saying “{text}”",
        "add the page “{name}” to the section {section}: type {type}, text “{text}”",
        "create the page “{name}” in {section} with the type {type} and the text “{text}”",
        weight=", with the weight {weight}",
        scheduled=", going online on {scheduled}",
        comments=", with comments by readers allowed",
    )
    .with_fields(
        Field("name", "Title", options=NEW_TITLES),
        Field("section", "Section", "select"),
        Field("type", "Type", "radio", KINDS),
        Field("text", "Text", "textarea", NEW_TEXTS),
        Field("weight", "Weight from 1 to 10", "number", required=False, least=1, most=10),
        Field("scheduled", "Goes online", "date", required=False, hint="2027-03"),
        Field("comments", "Readers may comment", "checkbox", required=False),
    )
    .making("articles", status="Draft", author="You", updated="2027-03-01", editing="open"),
    Action("role", "Change role", "{name} has another role.", collection="users")
    .asked("change the role of {name} to {role}", "set the role of {name} to {role}", "give {name} the role {role}")
    .with_fields(Field("role", "Role", "select", ROLES)),
    Action("suspend", "Suspend", "{name} can no longer log in.", collection="users", confirm="Suspend {name}?")
    .asked(
        "suspend {name} for the reason “{reason}”",
        "suspend the account of {name}; the reason is “{reason}”",
        "suspend {name} and give “{reason}” as the reason",
    )
    .with_fields(Field("reason", "Reason", "radio", ("Spam", "Insults", "Fake account", "At own request")))
    .setting(account="Suspended")
    .refusing(("account", "Suspended", "already suspended")),
    Action("invite", "New user", "The account is there.")
    .asked(
        "create an account for {name} with the e-mail address {email}, the role {role} and the rights {rights}",
        "add the user {name} ({email}) as {role} with these rights: {rights}",
        "set up a user: name {name}, e-mail {email}, role {role}, rights {rights}",
        until=", the account ending on {until}",
        note=", with the note “{note}” for colleagues",
        letter=", and have a letter of welcome sent",
    )
    .with_fields(
        Field("name", "Name", options=USERS),
        Field("email", "E-mail", "email", ADDRESSES),
        Field("role", "Role", "select", ROLES),
        Field("rights", "Rights", "checks", ("Publish", "Moderate", "See reports", "Manage users", "Edit menus")),
        Field("until", "Account ends", "calendar", required=False, hint="2027-03"),
        Field("note", "Note for colleagues", "textarea", required=False, options=NOTES),
        Field("letter", "Send a letter of welcome", "checkbox", required=False),
    )
    .making("users", account="Active", joined="2027-03-01"),
)

ARTICLE = (
    Attribute("status", "Status", listed=True, filter="is", phrase="with the status “{value}”"),
    Attribute("section", "Section", listed=True, filter="is", phrase="in the section {value}"),
    Attribute("author", "Author", listed=True, filter="is", phrase="by {value}", person=True),
    Attribute("type", "Type", filter="is", phrase="with the type “{value}”"),
    Attribute(
        "updated",
        "Last change",
        "date",
        "",
        True,
        "",
        "Least recently changed first",
        "least recently changed",
        noun="date of the last change",
    ),
    counted("views", "Views", "Least viewed first", "least viewed"),
    replace(counted("words", "Words", "Shortest first", "shortest"), filter="max", phrase="with at most {value} words"),
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
    Attribute(
        "joined", "Joined", "date", "", False, "", "Longest-standing first", "longest-standing", noun="joining date"
    ),
    Attribute(
        "last",
        "Last seen",
        "date",
        "",
        True,
        "",
        "Longest-absent first",
        "longest-absent",
        noun="day of the last visit",
    ),
    counted("posts", "Posts"),
)
_ARTICLE_LIMITS = {"views": (1000, 5000, 20000), "words": (400, 900, 1600)}


def _report(site: Admin, facts: int, rng: random.Random) -> Goal | None:
    """A goal that reads reports: one number, the sum of several months, or the leading section."""
    measure, section = rng.choice(MEASURES), rng.choice(site.names)
    if facts == 3 and rng.random() < 0.5:
        return _leader(site, measure, rng)
    if not 2 <= facts <= 5:
        return None
    months = sorted(rng.sample(tuple(REPORTS), facts - 1))
    figures = [site.figures[month, section][measure] for month in months]
    said = [REPORTS[month] for month in months]
    total, label = sum(figures), f"number of {measure.lower()} of the section {section}"
    when = f"{', '.join(said[:-1])} and {said[-1]} {YEAR} together" if said[1:] else f"{said[0]} {YEAR}"
    others = [each for each in MEASURES if each != measure]
    checks = (
        *(_read_off(month, section, measure) for month in months),
        fact(f"The answer is {total}", answer={**number(total, parts=figures), "rivals": others}),
    )
    visits = [
        visit(f"/reports/{month}", f"{measure} of {section} in {name}: {figure}.", "/reports")
        for month, name, figure in zip(months, said, figures, strict=True)
    ]
    plan = [*visits, done(f"The {measure} are {total}.", str(total))]
    key = f"{section}-{measure}-{'-'.join(said)}"
    cores = (f"the {label} in {when}", f"the {label} that the {site.say('Reports').lower()} give for {when}")
    return Goal("report", key, {}, checks, plan, cores=cores, form="ask")


def _leader(site: Admin, measure: str, rng: random.Random) -> Goal | None:
    month = rng.choice(tuple(REPORTS))
    figures = {name: site.figures[month, name][measure] for name in site.names}
    best, second = sorted(figures, key=lambda name: figures[name], reverse=True)[:2]
    if figures[best] == figures[second]:
        return None
    when = _title(month)
    checks = (
        _read_off(month, second, measure),
        _read_off(month, best, measure),
        fact(
            f"The answer is {best}",
            answer={
                **winner([(name,) for name in site.names], site.names.index(best), list(figures.values())),
                "rivals": [each for each in (*MEASURES, *map(_title, REPORTS)) if each not in (measure, when)],
            },
        ),
    )
    plan = [visit(f"/reports/{month}", via="/reports"), done(f"{best} has the most {measure}.", best)]
    cores = (f"the section that had the most {measure.lower()} in {when}",)
    return Goal("leader", f"{measure}-{when}", {}, checks, plan, cores=cores, form="ask")


def _read_off(month: str, section: str, measure: str) -> Fact:
    return fact(f"{measure} of {section} in {REPORTS[month]} were shown", seen=[_shown(month, section, measure)])


def _shown(month: str, section: str, measure: str) -> str:
    return fact_name(f"report-{int(month[-2:])}-{slug(section)}", measure)


def _title(month: str) -> str:
    return f"{REPORTS[month]} {YEAR}"


class Admin(CatalogSite):
    kind = "admin"
    pictured = False
    tagline = "The office behind the magazine"
    headings = ("Back office", "Control room", "Editorial desk", "Welcome back")
    goals = (_report, _report)

    def draw(self, rng: random.Random) -> list[Collection]:
        names, places = people(rng, 70), towns(rng, 5)
        authors = names[:8]
        self.names = tuple(sorted(rng.sample(SECTIONS, 6)))
        self.figures = {(month, name): _figures(rng) for month in REPORTS for name in self.names}
        self.actions = tuple(action.offering(section=self.names) for action in ACTIONS)
        self.ways = {"/reports": ("/", self.say("Reports"))}
        for month in REPORTS:
            path = f"/reports/{month}"
            self.ways |= {path: ("/reports", _title(month)), f"{path}/figures": (path, _title(month))}
        titles = distinct(240, lambda: rng.choice(HEADLINES).format(rng.choice(THINGS)))
        articles = [_article(rng, title, self.names, authors) for title in titles]
        users = [_user(rng, name, places, name in authors) for name in names]
        rng.shuffle(users)
        return [
            Collection(
                "articles", "Articles", "article", "articles", ARTICLE, tuple(articles), _ARTICLE_LIMITS, title="title"
            ),
            Collection("users", "Users", "user", "users", USER, tuple(users), {"posts": (10, 50, 150)}, people=True),
        ]

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        home = (self.look.words["home"], "/")
        match request.path.strip("/").split("/"):
            case ["reports"]:
                title = self.say("Reports")
                cards = Cards(tuple(Card(_title(month), f"/reports/{month}") for month in REPORTS))
                year = self._lines(*REPORTS, title=f"The year {YEAR}")
                return Page("reports", title, {"blocks": [Heading(title, "Month by month", (home,)), cards, year]})
            case ["reports", month, *rest] if month in REPORTS and rest in ([], ["figures"]):
                blocks: list[Block] = [self._lines(month)]
                shows = tuple(_shown(month, name, measure) for name in self.names for measure in MEASURES)
                if rest:
                    return Page("figures", _title(month), {"blocks": blocks, "bare": True}, shows)
                if random.Random(f"{self.host}-reports").random() < 0.5:
                    blocks, shows = [Late("The report is being made.", f"/reports/{month}/figures")], ()
                heading = Heading(_title(month), "", (home, (self.say("Reports"), "/reports")))
                return Page("report", _title(month), {"blocks": [heading, *blocks]}, shows)
        return super().respond(request, overlay)

    def _lines(self, *months: str, title: str = "") -> Lines:
        rows = tuple(
            (name, *(sum(self.figures[month, name][measure] for month in months) for measure in MEASURES))
            for name in self.names
        )
        return Lines(("Section", *MEASURES), rows, title)


def _figures(rng: random.Random) -> dict[str, int]:
    views = rng.randint(900, 48000)
    return {"Views": views, "Visitors": views * rng.randint(21, 64) // 100, "Comments": rng.randint(12, 890)}


def _article(rng: random.Random, title: str, sections: tuple[str, ...], authors: list[str]) -> Entity:
    return entity(
        title,
        status=rng.choice(STATUSES),
        section=rng.choice(sections),
        author=rng.choice(authors),
        type=rng.choice(KINDS),
        updated=day_of(rng, rng.randint(2025, 2026)),
        views=int(rng.random() ** 3 * 60000) + rng.randint(10, 99),
        words=rng.randint(180, 2400),
        editing="locked" if rng.random() < 0.07 else "open",
        weight=rng.randint(1, 10),
        scheduled="",
        texts=(rng.choice(LEADS), " ".join(rng.sample(BODIES, 2))),
    )


def _user(rng: random.Random, name: str, places: list[str], writes: bool) -> Entity:
    joined = rng.randint(2016, 2025)
    return entity(
        name,
        role=rng.choice(ROLES[1:] if writes else ROLES),
        account="Suspended" if rng.random() < 0.15 and not writes else "Active",
        town=rng.choice(places),
        joined=day_of(rng, joined),
        last=day_of(rng, 2026),
        posts=int(rng.random() ** 2 * 300),
    )
