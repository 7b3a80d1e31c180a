"""Tasks that begin in the tracker and need the shop's back office beside it."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Goal, Step, Template, World, added, done, shown
from webdojo.envs.apps.oscar import staff
from webdojo.envs.apps.trac import tasks


def _drawn(world: World, rng: random.Random) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """A ticket that is not closed, an order whose status can go on, and what instructions say of both."""
    ticket = rng.choice(tasks.active(world))
    order = rng.choice([order for order in world["beside"]["orders"] if order["status"] in staff.NEXT])
    fields = {"id": str(ticket["id"]), "number": order["number"], "shop": f"{_shop(world)}/dashboard/"}
    return ticket, order, fields


def _shop(world: World) -> str:
    return f"http://{world['beside']['host']}"


def _to_order(world: World, order: dict[str, Any]) -> list[Step]:
    return [{"do": "go", "path": f"{_shop(world)}/dashboard/"}, *staff.to_order(order)]


def _order_status(world: World, rng: random.Random) -> Goal:
    ticket, order, fields = _drawn(world, rng)
    message = f"Order {order['number']}: {order['status']}"
    facts = [
        shown(f"Order {order['number']} was shown", order["number"], order["status"]),
        added(
            f"Ticket {ticket['id']} has the comment", "ticket_change",
            ticket=ticket["id"], author=world["people"][0], field="comment", newvalue=message,
        ),
    ]  # fmt: skip
    ticket_page: Step = {"do": "go", "path": f"/ticket/{ticket['id']}"}
    plan = [*_to_order(world, order), ticket_page, *tasks.to_comment(message), done()]
    return Goal(f"{ticket['id']}-{order['number']}", fields, facts, plan)


def _owner_note(world: World, rng: random.Random) -> Goal:
    ticket, order, fields = _drawn(world, rng)
    facts = [
        shown(f"Ticket {ticket['id']} was shown", ticket["summary"], f"Owned by: {ticket['owner']}"),
        added(
            f"Order {order['number']} has the note", "order_ordernote",
            order_id=order["id"], user_id=1, message=ticket["owner"],
        ),
    ]  # fmt: skip
    plan = [*tasks.to_ticket(ticket), *_to_order(world, order), *staff.to_note(ticket["owner"]), done()]
    return Goal(f"{ticket['id']}-{order['number']}", fields, facts, plan)


def _order_done(world: World, rng: random.Random) -> Goal:
    ticket, order, fields = _drawn(world, rng)
    status, resolved = staff.NEXT[order["status"]], {"status": "closed", "resolution": "fixed"}
    facts = [
        staff.advanced(order, status),
        tasks.set_to(ticket, **resolved),
    ]
    log = [*staff.logged(order, status), *tasks.logged(ticket, world["people"][0], **resolved)]
    plan = [
        *_to_order(world, order),
        *staff.to_status(status),
        {"do": "go", "path": f"/ticket/{ticket['id']}"},
        *tasks.to_resolution("fixed"),
        done(),
    ]
    return Goal(f"{ticket['id']}-{order['number']}", fields | {"status": status}, facts, plan, log)


TEMPLATES = (
    Template(
        "order_status",
        _order_status,
        (
            "Ticket #{id} asks for the status of order {number}. Look it up in the shop, {shop}, and comment on the "
            "ticket with “Order {number}: ” and the status.",
            "Find out in the shop at {shop} which status order {number} has, and add it to ticket #{id} as the comment "
            "“Order {number}: …”, with the status in place of the dots.",
            "Comment on ticket #{id} with “Order {number}: ” and the status that the order has in the shop ({shop}).",
            "Somebody waits in ticket #{id} for news of order {number}. See its status at {shop}, and tell it there: "
            "“Order {number}: ”, then the status.",
            "What is the status of order {number} at {shop}? Answer in ticket #{id}, by the comment “Order {number}: ” "
            "and that status.",
        ),
        "developer",
        beside="oscar",
        beside_role="staff",
    ),
    Template(
        "owner_note",
        _owner_note,
        (
            "Add a note to order {number} of the shop, {shop}, that says who owns ticket #{id}: the user name alone.",
            "Who owns ticket #{id}? Write that user name, and nothing else, as a note on order {number} at {shop}.",
            "Order {number} in the shop ({shop}) needs a note with the user name of the owner of ticket #{id}, only "
            "that.",
            "Look up the owner of ticket #{id}, and leave the user name as a note, without more words, on order "
            "{number} at {shop}.",
            "At {shop}, order {number} should have a note: just the user name of whoever owns ticket #{id}.",
        ),
        "developer",
        beside="oscar",
        beside_role="staff",
    ),
    Template(
        "order_done",
        _order_done,
        (
            "Set order {number} of the shop, {shop}, to {status}, and close ticket #{id} as fixed.",
            "Close ticket #{id} as fixed once order {number} has the status {status} in the shop at {shop}; give it "
            "that status.",
            "Change the status of order {number} to {status} at {shop}, then resolve ticket #{id} as fixed.",
            "Order {number} is {status} now: say so in the shop ({shop}). With that, ticket #{id} is fixed; close it.",
            "Give order {number} the status {status} at {shop}. Ticket #{id} can then be closed as fixed.",
        ),
        "developer",
        beside="oscar",
        beside_role="staff",
    ),
)
