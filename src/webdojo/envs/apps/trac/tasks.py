"""Tasks of a developer who has logged in to the tracker, and of somebody who reads."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Goal, Step, Template, World, added, answered, changed, done, shown
from webdojo.envs.apps.trac.world import MILESTONES, PRIORITIES, RESOLUTIONS, TYPES
from webdojo.sites.answers.values import number, text
from webdojo.sites.tracker import NEW_COMMENTS, NEW_TEXTS

_NEW_THINGS = (
    "Export of the year",
    "Sound of the alarm",
    "Colour of the footer",
    "Order of the columns",
    "Second factor",
)
_NEW_FAULTS = ("is missing", "has the wrong size", "differs between pages", "is ignored", "should be an option")


def to_ticket(ticket: dict[str, Any]) -> list[Step]:
    return [{"do": "write", "field": "q", "text": f"#{ticket['id']}", "enter": True}]


def to_comment(message: str) -> list[Step]:
    return [{"do": "write", "field": "comment", "text": message}, {"do": "click", "text": "Submit changes"}]


def to_resolution(resolution: str) -> list[Step]:
    return [
        {"do": "click", "text": "Modify Ticket"},
        {"do": "click", "css": "#action_resolve"},
        {"do": "choose", "field": "action_resolve_resolve_resolution", "option": resolution},
        {"do": "click", "text": "Submit changes"},
    ]


def active(world: World) -> list[dict[str, Any]]:
    return [ticket for ticket in world["tickets"] if ticket["status"] != "closed"]


def logged(ticket: dict[str, Any], author: str, **changes: str) -> list[dict[str, Any]]:
    """What the tracker writes down of changes of a ticket, together with a comment that says nothing."""
    return [
        {
            "table": "ticket_change",
            "kind": "added",
            "values": {"ticket": ticket["id"], "author": author, "field": field, "newvalue": value},
        }
        for field, value in {**changes, "comment": ""}.items()
    ]


def _owner(world: World, rng: random.Random) -> Goal:
    ticket = rng.choice(world["tickets"])
    facts = [
        shown(f"Ticket {ticket['id']} was shown", ticket["summary"], f"Owned by: {ticket['owner']}"),
        answered(
            f"The answer is {ticket['owner']}", text(ticket["owner"]), [ticket["summary"]],
            sorted(set(world["people"]) - {ticket["owner"]}),
        ),
    ]  # fmt: skip
    return Goal(str(ticket["id"]), {"id": str(ticket["id"])}, facts, [*to_ticket(ticket), done(ticket["owner"])])


def _priority(world: World, rng: random.Random) -> Goal:
    ticket = rng.choice(world["tickets"])
    facts = [
        shown("The ticket was shown", ticket["summary"], f"Priority: {ticket['priority']}"),
        answered(
            f"The answer is {ticket['priority']}", text(ticket["priority"]), [ticket["summary"]],
            [each for each in PRIORITIES if each != ticket["priority"]],
        ),
    ]  # fmt: skip
    plan: list[Step] = [
        {"do": "write", "field": "q", "text": f'"{ticket["summary"]}"', "enter": True},
        {"do": "click", "href": f"/ticket/{ticket['id']}"},
        done(ticket["priority"]),
    ]
    return Goal(str(ticket["id"]), {"summary": ticket["summary"]}, facts, plan)


def _count(world: World, rng: random.Random) -> Goal:
    component, milestone = rng.choice(world["components"]), rng.choice(MILESTONES)
    found = [
        each for each in world["tickets"] if each["component"] == component and each["milestone"] == milestone
    ]  # of any status
    count = len(found)
    if not count:
        return _count(world, rng)
    facts = [
        shown("Their list was shown", f"({count} match{'es' if count > 1 else ''})"),
        answered(f"The answer is {count}", number(count)),
    ]
    address = f"/query?component={component}&milestone={milestone.replace(' ', '+')}&col=id&col=summary"
    fields = {"component": component, "milestone": milestone}
    return Goal(f"{component}-{milestone[:6]}", fields, facts, [{"do": "go", "path": address}, done(str(count))])


def _room(world: World, rng: random.Random) -> Goal:
    page = rng.choice(world["pages"])
    facts = [
        shown(f"The page {page['name']} was shown", page["name"], f"Room: {page['room']}"),
        answered(f"The answer is {page['room']}", number(page["room"]), [page["name"]]),
    ]
    plan: list[Step] = [
        {"do": "write", "field": "q", "text": page["name"], "enter": True},
        done(str(page["room"])),
    ]
    return Goal(page["name"], {"name": page["name"]}, facts, plan)


def _comment(world: World, rng: random.Random) -> Goal:
    ticket, message = rng.choice(world["tickets"]), rng.choice(NEW_COMMENTS)
    fact = added(
        f"Ticket {ticket['id']} has the comment", "ticket_change",
        ticket=ticket["id"], author=world["people"][0], field="comment", newvalue=message,
    )  # fmt: skip
    plan = [
        *to_ticket(ticket),
        *to_comment(message),
        done(),
    ]
    key = f"{ticket['id']}-{NEW_COMMENTS.index(message)}"
    return Goal(key, {"id": str(ticket["id"]), "message": message}, [fact], plan)


def set_to(ticket: dict[str, Any], **values: str) -> dict[str, Any]:
    says = ", ".join(f"the {field} of ticket {ticket['id']} is {value}" for field, value in values.items())
    return changed(says.capitalize(), "ticket", ticket["id"], **values)


def _resolve(world: World, rng: random.Random) -> Goal:
    ticket, resolution = rng.choice(active(world)), rng.choice(RESOLUTIONS[:3])
    plan = [
        *to_ticket(ticket),
        *to_resolution(resolution),
        done(),
    ]
    fields = {"id": str(ticket["id"]), "resolution": resolution}
    facts = [set_to(ticket, status="closed", resolution=resolution)]
    log = logged(ticket, world["people"][0], status="closed", resolution=resolution)
    return Goal(f"{ticket['id']}-{resolution}", fields, facts, plan, log)


def _prioritise(world: World, rng: random.Random) -> Goal:
    ticket = rng.choice(world["tickets"])
    priority = rng.choice([each for each in PRIORITIES if each != ticket["priority"]])
    plan = [
        *to_ticket(ticket),
        {"do": "click", "text": "Modify Ticket"},
        {"do": "choose", "field": "field_priority", "option": priority},
        {"do": "click", "text": "Submit changes"},
        done(),
    ]
    fields = {"id": str(ticket["id"]), "priority": priority}
    facts = [set_to(ticket, priority=priority)]
    log = logged(ticket, world["people"][0], priority=priority)
    return Goal(f"{ticket['id']}-{priority}", fields, facts, plan, log)


def _create(world: World, rng: random.Random) -> Goal:
    summary = f"{rng.choice(_NEW_THINGS)} {rng.choice(_NEW_FAULTS)}"
    body, component, kind = rng.choice(NEW_TEXTS), rng.choice(world["components"]), rng.choice(TYPES[1:])
    fact = added(
        "The ticket is there", "ticket",
        summary=summary, description=body, component=component, type=kind, reporter=world["people"][0],
    )  # fmt: skip
    plan = [
        {"do": "click", "text": "New Ticket"},
        {"do": "write", "field": "field_summary", "text": summary},
        {"do": "write", "field": "field_description", "text": body},
        {"do": "choose", "field": "field_type", "option": kind},
        {"do": "choose", "field": "field_component", "option": component},
        {"do": "click", "text": "Create ticket"},
        done(),
    ]
    fields = {"summary": summary, "body": body, "component": component, "kind": kind}
    return Goal(f"{summary.replace(' ', '-').lower()}-{component}", fields, [fact], plan)


TEMPLATES = (
    Template(
        "owner",
        _owner,
        (
            "Who owns ticket #{id}?",
            "What is the user name of the owner of ticket #{id}?",
            "Find out who is the owner of ticket #{id}.",
            "Tell me who ticket #{id} is owned by.",
            "Ticket #{id}: who is its owner?",
        ),
    ),
    Template(
        "priority",
        _priority,
        (
            "What is the priority of the ticket “{summary}”?",
            "Which priority has the ticket “{summary}”?",
            "Find the ticket “{summary}” and tell me its priority.",
            "How urgent is “{summary}”? Give me the priority of that ticket.",
            "Look for the ticket “{summary}”. What is its priority?",
        ),
    ),
    Template(
        "count",
        _count,
        (
            "How many tickets of the component {component} are in the milestone {milestone}, closed ones included?",
            "Count the tickets of component {component} in the milestone {milestone}, whatever their status.",
            "How many tickets, open or closed, has component {component} in the milestone {milestone}?",
            "Tell me the number of tickets of any status with component {component} and milestone {milestone}.",
            "With all states counted, how many {component} tickets does the milestone {milestone} have?",
        ),
    ),
    Template(
        "room",
        _room,
        (
            "Which room does the wiki page {name} give?",
            "What is the room number on the wiki page {name}?",
            "Find the wiki page {name} and tell me the room.",
            "Look up the room of {name} in the wiki.",
            "In the wiki, {name} has a room number. What is it?",
        ),
    ),
    Template(
        "comment",
        _comment,
        (
            "Add the comment “{message}” to ticket #{id}.",
            "Comment on ticket #{id}: “{message}”",
            "Write “{message}” as a comment on ticket #{id}.",
            "Leave a comment on ticket #{id} that says “{message}”",
            "Ticket #{id} should get the comment “{message}”",
        ),
        "developer",
    ),
    Template(
        "resolve",
        _resolve,
        (
            "Close ticket #{id} as {resolution}.",
            "Resolve ticket #{id} as {resolution}.",
            "Set the resolution of ticket #{id} to {resolution}, which closes it.",
            "Please close ticket #{id} with the resolution {resolution}.",
            "Ticket #{id} can be closed. Its resolution is {resolution}.",
        ),
        "developer",
    ),
    Template(
        "prioritise",
        _prioritise,
        (
            "Set the priority of ticket #{id} to {priority}.",
            "Change the priority of ticket #{id} to {priority}.",
            "Ticket #{id} is {priority} now. Change its priority.",
            "Please give ticket #{id} the priority {priority}.",
            "The priority of ticket #{id} should be {priority}.",
        ),
        "developer",
    ),
    Template(
        "create",
        _create,
        (
            "Create a ticket of type {kind} for the component {component}: “{summary}”, described as “{body}”",
            "File a new {kind} with the summary “{summary}”, the description “{body}” and the component {component}.",
            "Open a ticket “{summary}” (type {kind}, component {component}) that says “{body}”",
            "Write a new ticket. Type: {kind}. Component: {component}. Summary: “{summary}”. Description: “{body}”",
            "Please report “{summary}” as a {kind} of {component}, with the description “{body}”",
        ),
        "developer",
    ),
)
