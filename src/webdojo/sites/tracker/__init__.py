"""Issues of a team: find, assign and discuss them, and move them over boards."""

from __future__ import annotations

import random
from dataclasses import replace

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Board, Card, Cards, Field, Heading, Offer, Post
from webdojo.sites.catalog import Attribute, Collection, Entity, fact_name
from webdojo.sites.catalog_goals import from_menu
from webdojo.sites.content.drawing import counted, day_of, discussion, distinct, entity, measure
from webdojo.sites.content.people import people, towns
from webdojo.sites.content.words import items
from webdojo.sites.goal import Goal, done, fact, place
from webdojo.sites.instructions.references import enumerated
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page, Redirect, Request

PROJECTS = items(
    "Atlas, Beacon, Billing, Checkout, Compass, Console, Courier, Dashboard, Gateway, Harbor, Identity, Inbox, "
    "Ledger, Lighthouse, Mobile, Orchard, Payments, Pipeline, Platform, Portal, Reports, Scheduler, Studio, Warehouse"
)
AREAS = ("Customers", "Infrastructure", "Finance", "Growth", "Research", "Support")
STATUSES = (
    ("Backlog", "Selected", "In progress", "Done"),
    ("Open", "In progress", "In review", "Closed"),
    ("New", "Accepted", "In testing", "Resolved"),
    ("To do", "Doing", "Waiting", "Done"),
    ("Ideas", "Next up", "Building", "Shipped"),
)
"""The columns of the boards of a site; the last ends an issue."""
PRIORITIES = ("Low", "Medium", "High", "Urgent")
LABELS = ("bug", "design", "docs", "performance", "privacy", "regression", "security", "translation")
ROLES = ("Analyst", "Designer", "Developer", "Manager", "Tester", "Writer")
_THINGS = items(
    "login page, sign-up form, invoice export, search index, password reset, user profile, price table, time sheet, "
    "map view, photo upload, mail digest, import wizard, audit trail, calendar feed, payment form, address book, dark "
    "theme, side menu, activity stream, tax report, file picker, chat window, mobile header, welcome tour, billing "
    "summary, team overview, stock alert, refund flow, tag editor, video player, help center, news ticker, seat "
    "planner, route finder, printer queue, backup job, mail template, license check, rate limiter, cookie banner, "
    "currency switch, home screen"
)
_FAULTS = items(
    "is blank, shows an error, loads slowly, crashes, freezes, ignores the time zone, loses its settings, shows old "
    "data, overlaps the footer, asks twice for a password, uses the wrong currency, flickers, drops long names, "
    "counts guests twice, jumps to the top, cannot be reached by keyboard, ends in a loop"
)
_PLACES = items(
    "on small screens, in Safari, in private windows, behind a proxy, for guests, on the staging server, with long "
    "names, on slow networks, under heavy load, on the first visit, for large accounts, in right-to-left languages, "
    "on tablets, during the nightly sync, with two tabs open, over a VPN"
)
_WISHES = items(
    "Rewrite the {}, Write tests for the {}, Document the {}, Translate the {}, Measure the {}, Add filters to the "
    "{}, Add keyboard shortcuts to the {}, Let admins hide the {}, Make the {} printable, Explain the {} to "
    "newcomers, Remove dead code from the {}, Give the {} a preview, Simplify the {}"
)
REPORTS = (
    "A customer told us about this on the phone, and we could repeat it right away.",
    "It happens every time, whatever the account. The log has nothing unusual.",
    "Nobody knows when it began. An older build behaves in the same way.",
    "There is a recording of it in the team folder.",
    "It is hard to repeat, but three people have seen it by now.",
    "Support gets letters about this, and they are not friendly.",
    "We talked about it in the planning meeting and agreed that it is worth the effort.",
)
HINTS = (
    "Have a look at the request headers before changing any code.",
    "The old team left notes about this in the handbook.",
    "A reload helps for a while. That is no solution, of course.",
    "My guess is a cache that is never emptied.",
    "Please keep the public interface as it is.",
    "It would be good to have a test that fails without the fix.",
)
COMMENTS = (
    "I can see the same here.",
    "Is anybody looking into this?",
    "It went away when I cleared the cache, but came back the next morning.",
    "Please add a screenshot, I cannot picture it.",
    "We had something like this before, in quite another corner.",
    "Thank you for the good description!",
    "I would rather solve this on the server.",
    "Our biggest customer asks about it in every call.",
    "Happy to review a patch.",
    "Could we talk about it in the next meeting?",
)
COLOURS = ("#1e66d0", "#b3261e", "#1b7f4b", "#7a3fb0", "#c77700", "#0b7a8a", "#33373d")
NEW_COMMENTS = (
    "I will look into it tomorrow.",
    "This also happens on my laptop.",
    "Let us talk about it on Monday.",
    "The logs are attached to the mail I sent you.",
    "Looks like a caching problem to me.",
    "Customers keep asking about this.",
)
NEW_TEXTS = (
    "Seen by two customers this week.",
    "Please check the logs first.",
    "It worked in the last release.",
    "There is a recording in the team folder.",
    "Nobody can work around it.",
)


def _title(rng: random.Random) -> str:
    thing = rng.choice(_THINGS)
    if rng.random() < 0.3:
        return rng.choice(_WISHES).format(thing)
    return f"{thing.capitalize()} {rng.choice(_FAULTS)} {rng.choice(_PLACES)}"


ON_BOARD = 12
_ENDED = tuple(("status", columns[-1], "already closed") for columns in STATUSES)
WATCH = (
    Action("watch", "Watch", "You watch {name} now.", collection="issues")
    .asked(
        "watch {name} from its right-click menu in the list",
        "go to a list of issues, right-click {name} there and watch it",
        "use the right-click menu of the list to watch {name}",
    )
    .setting(watched="yes")
    .refusing(*_ENDED)
)
ACTIONS = (
    Action("create", "Create issue", "The issue was created.")
    .asked(
        "create the issue “{name}” in {project} with {priority} priority and the text “{text}”",
        "file an issue in {project}, priority {priority}: title “{name}”, description “{text}”",
        "add an issue of {priority} priority to {project}, titled “{name}” and saying “{text}”",
        assignee=", assigned to {assignee}",
        labels=", with the labels {labels}",
        estimate=", with an estimate of {estimate} hours",
        due=", due on {due}",
        notify=", and tick that I want to be kept informed",
    )
    .with_fields(
        Field("name", "Title"),
        Field("project", "Project", "select"),
        Field("priority", "Priority", "radio", PRIORITIES),
        Field("text", "Description", "textarea", NEW_TEXTS),
        Field("assignee", "Assignee", "select", required=False),
        Field("labels", "Labels", "checks", LABELS, required=False),
        Field("estimate", "Estimate in hours", "number", required=False, least=2, most=80),
        Field("due", "Due on", "calendar", required=False, hint="2027-03"),
        Field("notify", "Keep me informed by e-mail", "checkbox", required=False),
    )
    .making("issues", status="", created="2027-03-01", reporter="You", voted="no"),
    Action("assign", "Assign", "{name} has a new assignee.", collection="issues")
    .asked("assign {name} to {assignee}", "make {assignee} the assignee of {name}", "hand {name} over to {assignee}")
    .with_fields(Field("assignee", "Assignee", "suggest")),
    Action("triage", "Triage", "{name} is sorted in.", collection="issues")
    .asked(
        "set the priority of {name} to {priority} and its labels to {labels}",
        "triage {name}: priority {priority}, labels {labels}",
        "change the priority of {name} to {priority} and its labels to just {labels}",
    )
    .with_fields(Field("priority", "Priority", "radio", PRIORITIES), Field("labels", "Labels", "checks", LABELS)),
    Action("comment", "Comment", "Your comment on {name} is there.", collection="issues")
    .asked(
        "comment “{text}” on {name}",
        "write the comment “{text}” on {name}",
        "leave the words “{text}” as a comment on {name}",
    )
    .with_fields(Field("text", "Comment", "textarea", NEW_COMMENTS))
    .making("comments"),
    Action("log", "Log work", "Your hours are noted.", collection="issues")
    .asked(
        "log {hours} hours of work for {day} on {name}",
        "note that on {day} I worked {hours} hours on {name}",
        "add {hours} hours on {day} to the work log of {name}",
    )
    .with_fields(Field("hours", "Hours", "number", least=2, most=12), Field("day", "Day", "date", hint="2027-03"))
    .making("worklog")
    .refusing(*_ENDED),
    Action("vote", "Vote for it", "You have voted for {name}.", collection="issues")
    .asked("vote for {name}", "give your vote to {name}", "support {name} with a vote")
    .setting(voted="yes")
    .refusing(*_ENDED, ("voted", "yes", "voted for")),
    Action("colour", "Set colour", "{name} has another colour.", collection="projects")
    .asked(
        "set the colour of {name} to {colour}",
        "give {name} the colour {colour}",
        "change the colour of {name} to {colour}",
    )
    .with_fields(Field("colour", "Colour", "color", COLOURS)),
)
ISSUE = (
    Attribute("project", "Project", listed=True, filter="is", phrase="in the project {value}"),
    Attribute("status", "Status", listed=True, filter="is", phrase="with the status \u201c{value}\u201d"),
    Attribute("priority", "Priority", listed=True, filter="is", phrase="of {value} priority"),
    Attribute("assignee", "Assignee", filter="is", phrase="assigned to {value}", person=True),
    Attribute("reporter", "Reporter", person=True),
    Attribute("created", "Created", "date", "", True, "", "Oldest first", "oldest", noun="creation date"),
    counted("votes", "Votes"),
    replace(
        measure("estimate", "Estimate", "hours", "max", "Quickest first", "quickest", "estimated at {value} or less"),
        listed=False,
    ),
    Attribute("labels", "Labels", "text", asked=False),
    Attribute("voted", "Your vote", asked=False),
    Attribute("watched", "Watched by you", asked=False),
)
_LIMITS = {"votes": (5, 20, 50), "estimate": (10, 40, 100)}
PERSON = (
    Attribute("role", "Role", listed=True, filter="is", phrase="with the role {value}"),
    Attribute("town", "Town", listed=True, filter="is", phrase="in {value}"),
    Attribute(
        "joined", "Joined", "date", "", False, "", "Longest-serving first", "longest-serving", noun="joining date"
    ),
    Attribute(
        "hours", "Hours a week", "number", "hours", False, "", "Fewest hours first", noun="number of hours a week"
    ),
)
PROJECT = (
    Attribute("area", "Area", listed=True, filter="is", phrase="in the area {value}"),
    Attribute("lead", "Lead", listed=True, person=True),
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
    said = enumerated([f"\u201c{issue.name}\u201d to the column \u201c{column}\u201d" for issue, column in moves])
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
    kind = "tracker"
    pictured = False
    tagline = "Issues, boards and who does what"
    headings = ("What is next?", "Our open work", "Good morning, team", "Plan it, do it")
    goals = (_drag, _drag, from_menu)
    menu = (WATCH,)

    def draw(self, rng: random.Random) -> list[Collection]:
        self.columns = rng.choice(STATUSES)
        names, places = people(rng, 14), towns(rng, 4)
        staff = [
            entity(
                name,
                role=rng.choice(ROLES),
                town=rng.choice(places),
                joined=day_of(rng, rng.randint(2015, 2026)),
                hours=rng.randint(16, 40),
            )
            for name in names
        ]
        projects = [
            entity(
                name,
                area=rng.choice(AREAS),
                lead=rng.choice(names),
                started=day_of(rng, rng.randint(2021, 2025)),
                budget=500 * rng.randint(8, 190),
                colour="#808080",
            )
            for name in rng.sample(PROJECTS, 6)
        ]
        named = [project.name for project in projects]
        titles = distinct(260, lambda: _title(rng))
        issues = [_issue(rng, title, named, names, self.columns) for title in titles]
        newest = sorted(issues, key=lambda issue: str(issue.values["created"]), reverse=True)
        self.boards = {
            project.slug: [issue for issue in newest if issue.values["project"] == project.name][:ON_BOARD]
            for project in projects
        }
        self.ways = {"/boards": ("/", "Boards"), **{f"/board/{each.slug}": ("/boards", each.name) for each in projects}}
        options = {"name": [_title(rng) for _ in range(8)], "project": named, "assignee": sorted(names)}
        create, *others = (action.offering(**options) for action in ACTIONS)
        self.actions = (create.setting(status=self.columns[0]), *others)
        return [
            Collection("issues", "Issues", "issue", "issues", ISSUE, tuple(issues), _LIMITS, title="title"),
            Collection("people", "People", "person", "people", PERSON, tuple(staff), people=True),
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
                rng = random.Random(f"comments-{entity.slug}")
                count = rng.randint(1, 4)
                said = map(Post, rng.sample(authors, count), rng.sample(COMMENTS, count))
                return discussion("Comments", said, "comments", entity, overlay)
        return []

    def _board(self, name: str, overlay: Overlay) -> Page:
        issues = self.collection("issues", overlay).by_slug
        shown = [issues[issue.slug] for issue in self.boards[name]]
        columns = tuple(
            (column, tuple(self._card(name, issue) for issue in shown if issue.values["status"] == column))
            for column in self.columns
        )
        title = f"Board of {self.collections['projects'].by_slug[name].name}"
        crumbs = ((self.look.words["home"], "/"), ("Boards", "/boards"))
        heading = Heading(title, "The newest issues; drag a card to move it.", crumbs)
        blocks = [heading, Board(f"/board/{name}", columns)]
        shows = tuple(fact_name(issue.slug, "Status") for issue in shown)
        return Page("kanban", title, {"blocks": blocks}, shows)

    def _card(self, board: str, issue: Entity) -> Card:
        """An issue on a board; a right click on it offers the other columns."""
        others = [column for column in self.columns if column != issue.values["status"]]
        offers = tuple(
            Offer(f"Move to {column}", f"/board/{board}", values={"card": issue.slug, "column": column})
            for column in others
        )
        return Card(issue.name, f"/issues/{issue.slug}", slug=issue.slug, offers=offers)

    def _move(self, name: str, values: dict[str, str], overlay: Overlay) -> None:
        moved = next((issue for issue in self.boards[name] if issue.slug == values.get("card")), None)
        column = values.get("column")
        if moved is None or column not in self.columns:
            return
        key = f"issues/{moved.slug}/status"
        overlay.state[key] = column
        if column == moved.values["status"]:
            del overlay.state[key]


def _issue(rng: random.Random, title: str, projects: list[str], names: list[str], columns: tuple[str, ...]) -> Entity:
    reporter, assignee = rng.sample(names, 2)
    return entity(
        title,
        project=rng.choice(projects),
        status=rng.choice(columns),
        priority=rng.choice(PRIORITIES),
        assignee=assignee,
        reporter=reporter,
        created=day_of(rng, 2026),
        votes=int(rng.random() ** 3 * 120),
        estimate=rng.randint(2, 160),
        labels=rng.choice(LABELS),
        voted="no",
        texts=(rng.choice(REPORTS), rng.choice(HINTS)),
    )
