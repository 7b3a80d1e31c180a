"""Actions on issues."""

from __future__ import annotations

import random

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Entity
from webdojo.sites.tracker import content


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
