"""Tasks of the shop's staff, in its dashboard."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import (
    ANY,
    Fact,
    Goal,
    Step,
    Template,
    World,
    added,
    answered,
    changed,
    done,
    removed,
    shown,
)
from webdojo.envs.apps.oscar.customer import pounds, total
from webdojo.envs.apps.oscar.world import FOR_MODERATION
from webdojo.sites.answers.values import number, text

NEXT = {"Pending": "Processing", "Processing": "Shipped", "Shipped": "Complete"}
_NOTES = (
    "Customer asked for a gift box.",
    "Deliver after six in the evening.",
    "Called about the invoice, all settled.",
    "Leave it with the neighbour at number 9.",
    "Wants to be told a day before delivery.",
)


def to_order(order: dict[str, Any]) -> list[Step]:
    return [
        {"do": "click", "text": "Fulfilment"},
        {"do": "click", "text": "Orders", "href": "/dashboard/orders/"},
        {"do": "write", "field": "order_number", "text": order["number"], "enter": True},
    ]


def _to_product(product: dict[str, Any], tab: str) -> list[Step]:
    return [
        {"do": "click", "text": "Catalogue"},
        {"do": "click", "text": "Products", "href": "/dashboard/catalogue/"},
        {"do": "write", "field": "title", "text": product["title"], "enter": True},
        {"do": "click", "text": product["title"], "href": "/dashboard/catalogue/products/"},
        {"do": "click", "text": tab},
    ]


def to_note(message: str) -> list[Step]:
    return [
        {"do": "click", "css": "a[href='#notes']"},
        {"do": "write", "field": "message", "text": message},
        {"do": "click", "text": "Save note"},
    ]


def _choose(field: str, option: str) -> list[Step]:
    """Choose from a list of the dashboard, which a script draws in place of the browser's own."""
    return [
        {"do": "click", "css": f"#id_{field} + .select2-container"},
        {"do": "click", "css": ".select2-results__option", "text": option},
    ]


def _to_reviews() -> list[Step]:
    return [
        {"do": "click", "text": "Content"},
        {"do": "click", "text": "Reviews", "href": "/dashboard/reviews/"},
    ]


def _advance(world: World, rng: random.Random) -> Goal:
    order = rng.choice([order for order in world["orders"] if order["status"] in NEXT])
    status = NEXT[order["status"]]
    plan = [*to_order(order), *to_status(status), done()]
    fields = {"number": order["number"], "status": status}
    return Goal(order["number"], fields, [advanced(order, status)], plan, logged(order, status))


def advanced(order: dict[str, Any], status: str) -> Fact:
    return changed(f"Order {order['number']} is {status}", "order_order", order["id"], status=status)


def to_status(status: str) -> list[Step]:
    return [*_choose("new_status", status), {"do": "click", "text": "Change status"}]


def logged(order: dict[str, Any], status: str) -> list[dict[str, Any]]:
    """What the shop writes down of a new status."""
    return [
        {
            "table": "order_orderstatuschange",
            "kind": "added",
            "values": {"order_id": order["id"], "new_status": status},
        },
        {"table": "order_ordernote", "kind": "added", "values": {"order_id": order["id"], "note_type": "System"}},
    ]


def _note(world: World, rng: random.Random) -> Goal:
    order, message = rng.choice(world["orders"]), rng.choice(_NOTES)
    says = f"Order {order['number']} has the note"
    fact = added(says, "order_ordernote", order_id=order["id"], user_id=1, message=message)
    plan = [*to_order(order), *to_note(message), done()]
    key = f"{order['number']}-{_NOTES.index(message)}"
    return Goal(key, {"number": order["number"], "message": message}, [fact], plan)


def _customer(world: World, rng: random.Random) -> Goal:
    order = rng.choice(world["orders"])
    names = {each["id"]: f"{each['first']} {each['last']}" for each in world["customers"]}
    name = names[order["customer"]]
    facts = [
        shown(f"Order {order['number']} was shown", order["number"], name),
        answered(f"The answer is {name}", text(name), [order["number"]], sorted(set(names.values()) - {name})),
    ]
    return Goal(order["number"], {"number": order["number"]}, facts, [*to_order(order), done(name)])


def _sum(world: World, rng: random.Random) -> Goal:
    order = rng.choice(world["orders"])
    amount = pounds(total(world, order))
    facts = [
        shown(f"The total of order {order['number']} was shown", order["number"], amount),
        answered(f"The answer is {amount}", number(float(total(world, order)), "£"), [order["number"]]),
    ]
    return Goal(order["number"], {"number": order["number"]}, facts, [*to_order(order), done(amount)])


def _stock_alert(product: dict[str, Any]) -> dict[str, Any]:
    return {"table": "partner_stockalert", "kind": "added", "values": {"stockrecord_id": product["id"]}}


def _restock(world: World, rng: random.Random) -> Goal:
    product = rng.choice(world["products"])
    count = rng.choice([count for count in range(100, 200) if count != product["stock"]])
    says = f"{product['title']} has a stock of {count}"
    fact = changed(says, "partner_stockrecord", product["id"], num_in_stock=count)
    plan = [
        *_to_product(product, "Stock and pricing"),
        {"do": "write", "field": "stockrecords-0-num_in_stock", "text": str(count)},
        {"do": "click", "text": "Save"},
        done(),
    ]
    return Goal(f"{product['id']}-{count}", {"name": product["title"], "count": str(count)}, [fact], plan)


def _reprice(world: World, rng: random.Random) -> Goal:
    product = rng.choice(world["products"])
    price = f"{rng.randint(20_000, 30_000) / 100:.2f}"
    says = f"{product['title']} costs {pounds(price)}"
    fact = changed(says, "partner_stockrecord", product["id"], price=float(price))
    plan = [
        *_to_product(product, "Stock and pricing"),
        {"do": "write", "field": "stockrecords-0-price", "text": price},
        {"do": "click", "text": "Save"},
        done(),
    ]
    fields = {"name": product["title"], "price": pounds(price)}
    return Goal(f"{product['id']}-{price}", fields, [fact], plan, [_stock_alert(product)])


def _stock(world: World, rng: random.Random) -> Goal:
    product = rng.choice([product for product in world["products"] if product["stock"]])
    count = product["stock"]
    facts = [
        shown(f"The stock of {product['title']} was shown", product["title"], str(count)),
        answered(f"The answer is {count}", number(count), [product["title"]]),
    ]
    plan = [*_to_product(product, "Stock and pricing"), done(str(count))]
    return Goal(str(product["id"]), {"name": product["title"]}, facts, plan)


def _one_review(world: World, rng: random.Random, status: int | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """A review that nobody takes for another, and how it is named."""
    review = rng.choice([each for each in world["reviews"] if status is None or each["status"] == status])
    people = {each["id"]: f"{each['first']} {each['last']}" for each in world["customers"]}
    goods = {each["id"]: each["title"] for each in world["products"]}
    return review, {"name": goods[review["product"]], "author": people[review["customer"]], "title": review["title"]}


def _rated(review: dict[str, Any]) -> dict[str, Any]:
    key = {"id": review["product"]}
    return {"table": "catalogue_product", "kind": "changed", "key": key, "values": {"rating": ANY}}


def _approve(world: World, rng: random.Random) -> Goal:
    review, named = _one_review(world, rng, FOR_MODERATION)
    says = f"The review of {named['name']} by {named['author']} is approved"
    fact = changed(says, "reviews_productreview", review["id"], status=1)
    plan = [
        *_to_reviews(),
        {"do": "write", "field": "name", "text": named["author"].split()[1], "enter": True},
        {"do": "click", "text": "Actions", "near": named["name"]},
        {"do": "click", "text": "Edit", "near": named["name"]},
        *_choose("status", "Approved"),
        {"do": "click", "text": "Save"},
        done(),
    ]
    return Goal(str(review["id"]), named, [fact], plan, [_rated(review)])


def _delete_review(world: World, rng: random.Random) -> Goal:
    review, named = _one_review(world, rng)
    says = f"There is no review of {named['name']} by {named['author']}"
    fact = removed(says, "reviews_productreview", review["id"])
    plan = [
        *_to_reviews(),
        {"do": "write", "field": "name", "text": named["author"].split()[1], "enter": True},
        {"do": "click", "text": "Actions", "near": named["name"]},
        {"do": "click", "text": "Delete", "near": named["name"]},
        {"do": "click", "text": "Delete"},
        done(),
    ]
    return Goal(str(review["id"]), named, [fact], plan, [_rated(review)])


_AS = ("staff", "/dashboard/")
TEMPLATES = (
    Template(
        "advance",
        _advance,
        (
            "Set the status of order {number} to {status}.",
            "Change order {number} to {status}.",
            "Order {number} is {status} now. Change its status in the dashboard.",
            "Please mark order {number} as {status}.",
            "The status of order {number} should be {status}.",
        ),
        *_AS,
    ),
    Template(
        "note",
        _note,
        (
            "Add the note “{message}” to order {number}.",
            "Leave a note on order {number}: “{message}”",
            "Order {number} needs a note that says “{message}”",
            "Save “{message}” as a note with order {number}.",
            "Please write a note for order {number}. It should say “{message}”",
        ),
        *_AS,
    ),
    Template(
        "customer",
        _customer,
        (
            "Who placed order {number}?",
            "What is the name of the customer of order {number}?",
            "Find out whose order {number} is.",
            "Tell me the full name of the customer who placed order {number}.",
            "Order {number}: which customer is it from?",
        ),
        *_AS,
    ),
    Template(
        "sum",
        _sum,
        (
            "What is the total of order {number}?",
            "How much did order {number} come to?",
            "Look up the total of order {number} in the dashboard.",
            "Tell me the order total of number {number}.",
            "What has the customer of order {number} paid in total?",
        ),
        *_AS,
    ),
    Template(
        "restock",
        _restock,
        (
            "Set the number in stock of {name} to {count}.",
            "We have {count} pieces of {name} now. Change the number in stock.",
            "Change the stock of {name} to {count}.",
            "Please update the stock record of {name}: {count} in stock.",
            "The number in stock of {name} should be {count}.",
        ),
        *_AS,
    ),
    Template(
        "reprice",
        _reprice,
        (
            "Set the price of {name} to {price}.",
            "Change the price of {name} to {price}.",
            "{name} costs {price} from today. Change its price.",
            "Please make the price of {name} {price}.",
            "The price of {name} should be {price}.",
        ),
        *_AS,
    ),
    Template(
        "stock",
        _stock,
        (
            "How many pieces of {name} are in stock?",
            "What is the number in stock of {name}?",
            "Look up how many {name} we have in stock.",
            "Tell me the number in stock of {name}.",
            "What stock of {name} does the dashboard show?",
        ),
        *_AS,
    ),
    Template(
        "approve",
        _approve,
        (
            "Approve the review “{title}” of {name} by {author}.",
            "The review of {name} that {author} wrote waits for moderation. Approve it.",
            "Set the status of {author}'s review of {name} to approved.",
            "Please approve what {author} wrote about {name}.",
            "{author}'s review of {name} is fine, so approve it.",
        ),
        *_AS,
    ),
    Template(
        "delete_review",
        _delete_review,
        (
            "Delete the review “{title}” of {name} by {author}.",
            "Remove the review that {author} wrote of {name}.",
            "Delete what {author} wrote about {name} from the reviews.",
            "{author} wants the review of {name} to be gone. Delete it.",
            "Please delete {author}'s review of {name}.",
        ),
        *_AS,
    ),
)
