"""Issues of a team: find, assign and discuss them, and move them over boards."""

from __future__ import annotations

import random
from collections.abc import Iterator

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Board, Card, Cards, Field, Heading, Offer, Post, Posts
from webdojo.sites.catalog import Attribute, Collection, Entity, Value, fact_name, made_about
from webdojo.sites.content.people import people, towns
from webdojo.sites.content.words import slug
from webdojo.sites.goal import Goal, done, fact, place
from webdojo.sites.menu_goals import from_menu
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page, Redirect, Request
from webdojo.sites.tracker import content

ISSUES, PEOPLE, PROJECTS, ON_BOARD = 260, 14, 6, 12


def _ended(issue: Entity) -> str:
    return "already closed" if issue.values["status"] in content.ENDED else ""


TRIAGE = Action(
    "triage",
    "Triage",
    "{name} is sorted in.",
    (
        "set the priority of {name} to {priority} and its labels to {labels}",
        "triage {name}: priority {priority}, labels {labels}",
        "give {name} {priority} priority and exactly these labels: {labels}",
    ),
    collection="issues",
    fields=(
        Field("priority", "Priority", "radio", content.PRIORITIES),
        Field("labels", "Labels", "checks", content.LABELS),
    ),
)
COMMENT = Action(
    "comment",
    "Comment",
    "Your comment on {name} is there.",
    (
        "comment “{text}” on {name}",
        "write the comment “{text}” on {name}",
        "leave the words “{text}” as a comment on {name}",
    ),
    collection="issues",
    fields=(Field("text", "Comment", "textarea", examples=content.NEW_COMMENTS),),
    makes="comments",
)
LOG_WORK = Action(
    "log",
    "Log work",
    "Your hours are noted.",
    (
        "log {hours} hours of work on {name} for {day}",
        "note that I worked {hours} hours on {name} on {day}",
        "add {hours} hours on {day} to the work log of {name}",
    ),
    collection="issues",
    fields=(Field("hours", "Hours", "number", least=2, most=12), Field("day", "Day", "date", hint="2027-03")),
    makes="worklog",
    refuses=_ended,
)
VOTE = Action(
    "vote",
    "Vote for it",
    "You have voted for {name}.",
    ("vote for {name}", "give your vote to {name}", "support {name} with a vote"),
    collection="issues",
    sets={"voted": "yes"},
    refuses=lambda issue: _ended(issue) or ("voted for" if issue.values["voted"] == "yes" else ""),
)


COLOUR = Action(
    "colour",
    "Set colour",
    "{name} has another colour.",
    (
        "set the colour of {name} to {colour}",
        "give {name} the colour {colour}",
        "change the colour of {name} to {colour}",
    ),
    collection="projects",
    fields=(Field("colour", "Colour", "color", examples=content.COLOURS),),
)
WATCH = Action(
    "watch",
    "Watch",
    "You watch {name} now.",
    (
        "watch {name} by the menu of a right click on it in the list",
        "right-click {name} in a list of issues and watch it",
        "use the right-click menu of the list to watch {name}",
    ),
    collection="issues",
    sets={"watched": "yes"},
    refuses=_ended,
)


def actions(rng: random.Random, projects: list[str], names: list[str], first: str) -> tuple[Action, ...]:
    """All actions of a site with these projects and people; new issues begin in the column `first`."""
    create = Action(
        "create",
        "Create issue",
        "The issue was created.",
        (
            "create the issue “{name}” in {project} with {priority} priority and the text “{text}”",
            "file an issue in {project}, priority {priority}: title “{name}”, description “{text}”",
            "open a {priority} priority issue in {project}, titled “{name}” and saying “{text}”",
        ),
        fields=(
            Field("name", "Title", examples=tuple(content.title(rng) for _ in range(8))),
            Field("project", "Project", "select", tuple(projects)),
            Field("priority", "Priority", "radio", content.PRIORITIES),
            Field("text", "Description", "textarea", examples=content.NEW_TEXTS),
            Field("assignee", "Assignee", "select", tuple(sorted(names)), required=False),
            Field("labels", "Labels", "checks", content.LABELS, required=False),
            Field("estimate", "Estimate in hours", "number", required=False, least=2, most=80),
            Field("due", "Due on", "calendar", required=False, hint="2027-03"),
            Field("notify", "Keep me informed by e-mail", "checkbox", required=False),
        ),
        makes="issues",
        sets={"status": first, "created": "2027-03-01", "reporter": "You", "voted": "no"},
        also={
            "assignee": ", assigned to {assignee}",
            "labels": ", with the labels {labels}",
            "estimate": ", with an estimate of {estimate} hours",
            "due": ", due on {due}",
            "notify": ", and tick that I want to be kept informed",
        },
    )
    assign = Action(
        "assign",
        "Assign",
        "{name} has a new assignee.",
        ("assign {name} to {assignee}", "make {assignee} the assignee of {name}", "hand {name} over to {assignee}"),
        collection="issues",
        fields=(Field("assignee", "Assignee", "suggest", tuple(sorted(names))),),
    )
    return (create, assign, TRIAGE, COMMENT, LOG_WORK, VOTE, COLOUR)


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
