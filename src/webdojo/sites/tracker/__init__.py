"""Issues of a team: find, assign and discuss them, and move them over boards."""

from __future__ import annotations

import random
from collections.abc import Iterator

from webdojo.sites.blocks import Block, Board, Card, Cards, Heading, Offer, Post, Posts
from webdojo.sites.catalog import Attribute, Collection, Entity, Value, fact_name, made_about
from webdojo.sites.catalog_goals import from_menu
from webdojo.sites.content.people import people, towns
from webdojo.sites.content.words import slug
from webdojo.sites.goal import Goal, done, fact, place
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page, Redirect, Request
from webdojo.sites.tracker import content
from webdojo.sites.tracker.actions import WATCH, actions

ISSUES, PEOPLE, PROJECTS, ON_BOARD = 260, 14, 6, 12

ISSUE = (
    Attribute("project", "Project", listed=True, filter="is", phrase="in the project {value}"),
    Attribute("status", "Status", listed=True, filter="is", phrase="with the status \u201c{value}\u201d"),
    Attribute("priority", "Priority", listed=True, filter="is", phrase="of {value} priority"),
    Attribute("assignee", "Assignee", filter="is", phrase="assigned to {value}"),
    Attribute("reporter", "Reporter", phrase="reported by {value}"),
    Attribute("created", "Created", "date", "", True, "", "Oldest first", "oldest", noun="creation date"),
    Attribute(
        "votes", "Votes", "number", "", False, "min", phrase="with {value} or more votes", noun="number of votes"
    ),
    Attribute(
        "estimate",
        "Estimate",
        "number",
        "hours",
        False,
        "max",
        "Quickest first",
        "quickest",
        "estimated at {value} or less",
    ),
    Attribute("labels", "Labels", "text", asked=False),
    Attribute("voted", "Your vote", asked=False),
    Attribute("watched", "Watched by you", asked=False),
)
_LIMITS = {"votes": (5, 20, 50), "estimate": (10, 40, 100)}
PERSON = (
    Attribute("role", "Role", listed=True, filter="is", phrase="with the role {value}"),
    Attribute("town", "Town", listed=True, filter="is", phrase="in {value}"),
    Attribute("joined", "Joined", "date", "", False, "", "Joined first", "longest-serving", noun="joining date"),
    Attribute("hours", "Hours a week", "number", "hours", False, "", "Fewest hours first", noun="weekly working time"),
)
PROJECT = (
    Attribute("area", "Area", listed=True, filter="is", phrase="in the area {value}"),
    Attribute("lead", "Lead", listed=True),
    Attribute("started", "Started", "date", "", False, "", "Oldest first", "oldest", noun="start date"),
    Attribute("budget", "Budget", "number", "$", True, "", "Smallest budget first"),
    Attribute("colour", "Colour", asked=False),
)


def _drag(site: Tracker, facts: int, rng: random.Random) -> Goal | None:
    """A goal that moves cards of one board to other columns."""
    project = rng.choice(site.collections["projects"].entities)
    cards = site.boards[project.slug]
    if not 2 <= facts <= 5 or len(cards) < facts - 1:
        return None
    moves = [
        (issue, rng.choice([column for column in site.columns if column != issue.values["status"]]))
        for issue in rng.sample(cards, facts - 1)
    ]
    where = f"/board/{project.slug}"
    said = " and ".join(f"\u201c{issue.name}\u201d to the column \u201c{column}\u201d" for issue, column in moves)
    cores = (f"move {said} on the board of {project.name}", f"drag {said} on the board of {project.name}")
    state = {f"issues/{issue.slug}/status": column for issue, column in moves}
    checks = (
        fact(f"The board of {project.name} was shown", visited=[place(where)]),
        *(fact(f"{i.name} is in {c}", state={f"issues/{i.slug}/status": c}) for i, c in moves),
    )
    plan = [{"do": "drag", "card": issue.slug, "column": column, "at": where} for issue, column in moves]
    key = f"{where}-{'-'.join(f'{issue.slug}-{column}' for issue, column in moves)}"
    return Goal("drag", key, {}, checks, [*plan, done("The cards are there.")], state=state, cores=cores)


class Tracker(CatalogSite):
    """The issue tracker of one team."""

    kind = "tracker"
    pictured = False
    tagline = "Issues, boards and who does what"
    headings = ("What is next?", "Our open work", "Good morning, team", "Plan it, do it")
    goals = (_drag, _drag, from_menu)
    menu = (WATCH,)

    def draw(self, rng: random.Random) -> list[Collection]:
        self.columns = rng.choice(content.STATUSES)
        names, places = people(rng, PEOPLE), towns(rng, 4)
        staff = [_person(rng, name, places) for name in names]
        projects = [_project(rng, name, names) for name in rng.sample(content.PROJECTS, PROJECTS)]
        issues = _issues(rng, [project.name for project in projects], names, self.columns)
        self.boards = {project.slug: _newest(issues, project.name) for project in projects}
        self.actions = actions(rng, [project.name for project in projects], names, self.columns[0])
        return [
            Collection("issues", "Issues", "issue", "issues", ISSUE, tuple(issues), _LIMITS),
            Collection("people", "People", "person", "people", PERSON, tuple(staff)),
            Collection("projects", "Projects", "project", "projects", PROJECT, tuple(projects)),
        ]

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        match request.path.strip("/").split("/"):
            case ["boards"]:
                cards = tuple(Card(p.name, f"/board/{p.slug}") for p in self.collections["projects"].entities)
                heading = Heading("Boards", "One for each project", ((self.look.words["home"], "/"),))
                return Page("boards", "Boards", {"blocks": [heading, Cards(cards)]})
            case ["board", name] if name in self.boards:
                if request.method == "POST":
                    self._move(name, request.values, overlay)
                    return Redirect(f"/board/{name}")
                return self._board(name, overlay)
        return super().respond(request, overlay)

    def sections(self) -> list[tuple[str, str]]:
        return [*super().sections(), ("Boards", "/boards")]

    def paths(self) -> Iterator[str]:
        yield from super().paths()
        yield "/boards"
        yield from (f"/board/{name}" for name in self.boards)

    def way_to(self, path: str) -> tuple[str, str]:
        match path.strip("/").split("/"):
            case ["boards"]:
                return "/", "Boards"
            case ["board", name]:
                return "/boards", self.collections["projects"].by_slug[name].name
        return super().way_to(path)

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        """What people said about an issue, and the board of a project."""
        if page.name != "entity":
            return []
        entity: Entity = page.data["entity"]
        match page.data["collection"].slug:
            case "projects":
                return [Cards((Card(f"Board of {entity.name}", f"/board/{entity.slug}"),), "Board")]
            case "issues":
                authors = [person.name for person in self.collections["people"].entities]
                said = [Post(author, text) for author, text in content.comments(entity.slug, authors)]
                made = made_about("comments", entity.slug, overlay.state)
                mine = [Post("You", str(values["text"])) for values in made]
                return [Posts("Comments", (*said, *mine))]
        return []

    def _board(self, name: str, overlay: Overlay) -> Page:
        issues = self.collection("issues", overlay).by_slug
        shown = [issues[issue.slug] for issue in self.boards[name]]
        cards = [
            (i.values["status"], Card(i.name, f"/issues/{i.slug}", slug=i.slug, offers=self._moves(name, i)))
            for i in shown
        ]
        columns = tuple((column, tuple(c for status, c in cards if status == column)) for column in self.columns)
        title = f"Board of {self.collections['projects'].by_slug[name].name}"
        crumbs = ((self.look.words["home"], "/"), ("Boards", "/boards"))
        blocks = [
            Heading(title, "The newest issues; drag a card to move it.", crumbs),
            Board(f"/board/{name}", columns),
        ]
        return Page("kanban", title, {"blocks": blocks}, tuple(fact_name(i.slug, "Status") for i in shown))

    def _moves(self, board: str, issue: Entity) -> tuple[Offer, ...]:
        """What a right click on a card offers."""
        return tuple(
            Offer(f"Move to {column}", f"/board/{board}", values={"card": issue.slug, "column": column})
            for column in self.columns
            if column != issue.values["status"]
        )

    def _move(self, name: str, values: dict[str, str], overlay: Overlay) -> None:
        moved = next((issue for issue in self.boards[name] if issue.slug == values.get("card")), None)
        column = values.get("column")
        if moved is None or column not in self.columns:
            return
        key = f"issues/{moved.slug}/status"
        overlay.state[key] = column
        if column == moved.values["status"]:
            del overlay.state[key]


def _newest(issues: list[Entity], project: str) -> list[Entity]:
    own = [issue for issue in issues if issue.values["project"] == project]
    return sorted(own, key=lambda issue: str(issue.values["created"]), reverse=True)[:ON_BOARD]


def _issues(rng: random.Random, projects: list[str], names: list[str], columns: tuple[str, ...]) -> list[Entity]:
    titles: dict[str, None] = {}
    while len(titles) < ISSUES:
        titles[content.title(rng)] = None
    return [_issue(rng, name, projects, names, columns) for name in titles]


def _issue(rng: random.Random, name: str, projects: list[str], names: list[str], columns: tuple[str, ...]) -> Entity:
    reporter, assignee = rng.sample(names, 2)
    values: dict[str, Value] = {
        "project": rng.choice(projects),
        "status": rng.choice(columns),
        "priority": rng.choice(content.PRIORITIES),
        "assignee": assignee,
        "reporter": reporter,
        "created": f"2026-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        "votes": int(rng.random() ** 3 * 120),
        "estimate": rng.randint(2, 160),
        "labels": rng.choice(content.LABELS),
        "voted": "no",
    }
    return Entity(slug(name), name, values, content.report(rng))


def _person(rng: random.Random, name: str, places: list[str]) -> Entity:
    values: dict[str, Value] = {
        "role": rng.choice(content.ROLES),
        "town": rng.choice(places),
        "joined": f"{rng.randint(2015, 2026)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        "hours": rng.randint(16, 40),
    }
    return Entity(slug(name), name, values)


def _project(rng: random.Random, name: str, names: list[str]) -> Entity:
    values: dict[str, Value] = {
        "area": rng.choice(content.AREAS),
        "lead": rng.choice(names),
        "started": f"{rng.randint(2021, 2025)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        "budget": 500 * rng.randint(8, 190),
        "colour": "#808080",
    }
    return Entity(slug(name), name, values)
