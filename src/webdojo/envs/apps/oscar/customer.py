"""Tasks of a customer who has logged in, and of somebody who looks around."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

from webdojo.envs.apps.goal import ANY, Goal, Step, Template, World, added, answered, changed, done, shown
from webdojo.sites.answers.values import number, text, winner
from webdojo.sites.content.people import FIRST_NAMES
from webdojo.sites.content.words import ADJECTIVES

_NEW_TITLES = (
    "Just right",
    "Good value",
    "Not what I hoped for",
    "A fine present",
    "Sturdy and plain",
    "Mixed feelings",
)
_NEW_BODIES = (
    "I would choose it again without a doubt.",
    "It is well made but heavier than I thought.",
    "My sister has the same one and we both like it.",
    "The finish could be better for this price.",
)


def pounds(amount: str | Decimal) -> str:
    """An amount as the shop shows it."""
    return f"£{Decimal(amount):,.2f}"


def find(title: str) -> list[Step]:
    """Search for a product and open it."""
    return [
        {"do": "write", "field": "q", "text": title, "enter": True},
        {"do": "click", "text": title, "href": "/catalogue/"},
    ]


def in_stock(world: World) -> list[dict[str, Any]]:
    return [product for product in world["products"] if product["stock"] >= 5]


def my_orders(world: World) -> list[dict[str, Any]]:
    return [order for order in world["orders"] if order["customer"] == world["customers"][0]["id"]]


def total(world: World, order: dict[str, Any]) -> Decimal:
    prices = {product["id"]: Decimal(product["price"]) for product in world["products"]}
    return sum((prices[line["product"]] * line["quantity"] for line in order["lines"]), Decimal())


def _in_basket(product: dict[str, Any], quantity: int) -> dict[str, Any]:
    says = f"{quantity} of {product['title']} are in the basket"
    return added(says, "basket_line", product_id=product["id"], quantity=quantity)


def _add(world: World, rng: random.Random) -> Goal:
    product, quantity = rng.choice(in_stock(world)), rng.randint(2, 5)
    plan = [
        *find(product["title"]),
        {"do": "click", "text": "Add to basket"},
        {"do": "click", "text": "View basket"},
        {"do": "write", "field": "form-0-quantity", "text": str(quantity)},
        {"do": "click", "text": "Update"},
        done(),
    ]
    fields = {"name": product["title"], "quantity": str(quantity)}
    return Goal(f"{product['id']}x{quantity}", fields, [_in_basket(product, quantity)], plan)


def _add_cheapest(world: World, rng: random.Random) -> Goal:
    while True:
        category = rng.choice(world["categories"])
        group = [product for product in world["products"] if product["category"] == category["id"]]
        cheapest = min(group, key=lambda product: Decimal(product["price"]))
        if cheapest["stock"] >= 5 and sum(product["price"] == cheapest["price"] for product in group) == 1:
            break
    facts = [
        shown(f"The price of {cheapest['title']} was shown", cheapest["title"], pounds(cheapest["price"])),
        _in_basket(cheapest, 1),
    ]
    plan = [
        {"do": "click", "text": category["name"], "href": "/catalogue/category/"},
        {"do": "choose", "field": "sort_by", "option": "Price low to high"},
        {"do": "click", "text": cheapest["title"], "href": "/catalogue/"},
        {"do": "click", "text": "Add to basket"},
        done(),
    ]
    return Goal(category["name"].lower(), {"category": category["name"]}, facts, plan)


def _price(world: World, rng: random.Random) -> Goal:
    product = rng.choice(world["products"])
    price = pounds(product["price"])
    facts = [
        shown(f"The price of {product['title']} was shown", product["title"], price),
        answered(f"The answer is {price}", number(float(product["price"]), "£"), [product["title"]]),
    ]
    plan = [*find(product["title"]), done(price)]
    return Goal(str(product["id"]), {"name": product["title"]}, facts, plan)


def _material(world: World, rng: random.Random) -> Goal:
    product = rng.choice(world["products"])
    material = product["material"]
    others = sorted({each["material"] for each in world["products"]} - {material})
    facts = [
        shown(f"The material of {product['title']} was shown", product["title"], f"Material {material}"),
        answered(f"The answer is {material}", text(material), [product["title"]], others),
    ]
    return Goal(str(product["id"]), {"name": product["title"]}, facts, [*find(product["title"]), done(material)])


def _heavier(world: World, rng: random.Random) -> Goal:
    a, b = rng.sample(world["products"], 2)
    while a["weight"] == b["weight"]:
        a, b = rng.sample(world["products"], 2)
    best = a if a["weight"] > b["weight"] else b
    weights = [a["weight"], b["weight"]]
    facts = [
        *(
            shown(f"The weight of {each['title']} was shown", each["title"], f"Weight (g) {each['weight']}")
            for each in (a, b)
        ),
        answered(
            f"The answer is {best['title']}",
            winner([[a["title"]], [b["title"]]], 0 if best is a else 1, weights, "g"),
            [a["title"], b["title"]],
        ),
    ]
    fields = {"a": a["title"], "b": b["title"]}
    return Goal(f"{a['id']}-{b['id']}", fields, facts, [*find(a["title"]), *find(b["title"]), done(best["title"])])


def _review(world: World, rng: random.Random) -> Goal:
    product, score = rng.choice(world["products"]), rng.randint(1, 5)
    title, body = rng.choice(_NEW_TITLES), rng.choice(_NEW_BODIES)
    fact = added(
        f"{product['title']} has the review", "reviews_productreview",
        product_id=product["id"], user_id=2, score=score, title=title, body=body,
    )  # fmt: skip
    rated = {"table": "catalogue_product", "kind": "changed", "key": {"id": product["id"]}, "values": {"rating": ANY}}
    plan = [
        *find(product["title"]),
        {"do": "click", "text": "Write a review"},
        {"do": "write", "field": "title", "text": title},
        {"do": "click", "css": f".reviewrating .star-rating i:nth-of-type({score})"},
        {"do": "write", "field": "body", "text": body},
        {"do": "click", "text": "Save review"},
        done(),
    ]
    fields = {"name": product["title"], "score": str(score), "title": title, "body": body}
    return Goal(f"{product['id']}-{score}", fields, [fact], plan, [rated])


_TO_ORDERS: list[Step] = [{"do": "click", "text": "Account"}, {"do": "click", "text": "Order History"}]


def _status(world: World, rng: random.Random) -> Goal:
    order = rng.choice(my_orders(world))
    others = sorted({each["status"] for each in world["orders"]} - {order["status"]})
    facts = [
        shown(f"Order {order['number']} was shown", f"Order #{order['number']}", f"Status {order['status']}"),
        answered(f"The answer is {order['status']}", text(order["status"]), [order["number"]], others),
    ]
    plan = [*_TO_ORDERS, {"do": "click", "text": order["number"]}, done(order["status"])]
    return Goal(order["number"], {"number": order["number"]}, facts, plan)


def _total(world: World, rng: random.Random) -> Goal:
    order = rng.choice(my_orders(world))
    amount = total(world, order)
    facts = [
        shown(f"The total of order {order['number']} was shown", order["number"], pounds(amount)),
        answered(f"The answer is {pounds(amount)}", number(float(amount), "£"), [order["number"]]),
    ]
    plan = [*_TO_ORDERS, {"do": "click", "text": order["number"]}, done(pounds(amount))]
    return Goal(order["number"], {"number": order["number"]}, facts, plan)


def _wish(world: World, rng: random.Random) -> Goal:
    product = rng.choice(world["products"])
    fact = added(f"{product['title']} is on the wish list", "wishlists_line", product_id=product["id"], quantity=1)
    made = {"table": "wishlists_wishlist", "kind": "added", "key": {"id": 1}, "values": {"owner_id": 2}}
    plan = [*find(product["title"]), {"do": "click", "text": "Add to wish list"}, done()]
    return Goal(str(product["id"]), {"name": product["title"]}, [fact], plan, [made])


def _rename(world: World, rng: random.Random) -> Goal:
    me = world["customers"][0]
    name = rng.choice([name for name in FIRST_NAMES if name != me["first"]])
    plan = [
        {"do": "click", "text": "Account"},
        {"do": "click", "text": "Edit profile"},
        {"do": "write", "field": "first_name", "text": name},
        {"do": "click", "text": "Save"},
        done(),
    ]
    return Goal(name, {"first": name}, [changed(f"The first name is {name}", "auth_user", 2, first_name=name)], plan)


def _move(world: World, rng: random.Random) -> Goal:
    street = f"{rng.randint(121, 300)} {rng.choice(ADJECTIVES)} Lane"
    fact = changed(f"The street is {street}", "address_useraddress", 2, line1=street, search_text=ANY, hash=ANY)
    plan = [
        {"do": "click", "text": "Account"},
        {"do": "click", "text": "Address Book"},
        {"do": "click", "text": "Edit"},
        {"do": "write", "field": "line1", "text": street},
        {"do": "click", "text": "Save"},
        done(),
    ]
    return Goal(street.replace(" ", "-").lower(), {"street": street}, [fact], plan)


TEMPLATES = (
    Template(
        "add",
        _add,
        (
            "Put {quantity} of {name} in my basket.",
            "Add {quantity} pieces of {name} to the basket.",
            "I want to buy {name}, {quantity} of them. Put them in my basket, but do not check out.",
            "Please get {quantity} × {name} into the shopping basket.",
            "My basket should have {quantity} of {name} in it.",
        ),
        "customer",
    ),
    Template(
        "add_cheapest",
        _add_cheapest,
        (
            "Add the cheapest product of the category {category} to my basket.",
            "Find what costs least among the {category} and put one in the basket.",
            "Put one of the least expensive {category} in my basket.",
            "I need the cheapest of all {category}. Put one into my basket.",
            "Of the {category} in this shop, put the one with the lowest price in the basket.",
        ),
        "customer",
    ),
    Template(
        "price",
        _price,
        (
            "How much is {name}?",
            "What is the price of {name}?",
            "Tell me what {name} costs.",
            "Look up the price of {name} in this shop.",
            "I would like to know what one {name} costs.",
        ),
    ),
    Template(
        "material",
        _material,
        (
            "What is {name} made of?",
            "Which material is {name} made of?",
            "Find out the material of {name}.",
            "Tell me the material of {name}.",
            "Look up what {name} is made of.",
        ),
    ),
    Template(
        "heavier",
        _heavier,
        (
            "Which is heavier, {a} or {b}?",
            "Which of the two weighs more: {a} or {b}?",
            "Compare the weights of {a} and {b}. Which is heavier?",
            "I need the heavier of {a} and {b}. Which one is it?",
            "Tell me which has the higher weight, {a} or {b}.",
        ),
    ),
    Template(
        "review",
        _review,
        (
            "Review {name}: {score} stars, title “{title}”, text “{body}”.",
            "Write a review of {name} with {score} of 5 stars. Its title is “{title}” and its text “{body}”.",
            "Give {name} {score} stars in a review with the title “{title}” that says “{body}”.",
            "Leave a review for {name}, {score} out of 5, titled “{title}”: “{body}”.",
            "Please rate {name} with {score} stars. Title: “{title}”. Text: “{body}”.",
        ),
        "customer",
    ),
    Template(
        "status",
        _status,
        (
            "What is the status of my order {number}?",
            "Look up the status of order {number}.",
            "In which state is my order {number}?",
            "Tell me the status of my order with the number {number}.",
            "I have ordered something, number {number}. What is its status now?",
        ),
        "customer",
    ),
    Template(
        "total",
        _total,
        (
            "What is the total of my order {number}?",
            "How much did my order {number} come to?",
            "Look up the total of order {number}.",
            "Tell me what I paid for order {number} in total.",
            "What was the order total of number {number}?",
        ),
        "customer",
    ),
    Template(
        "wish",
        _wish,
        (
            "Add {name} to my wish list.",
            "Put {name} on my wish list.",
            "I wish for {name}. Note it on my wish list.",
            "Please remember {name} on the wish list.",
            "My wish list should have {name} on it.",
        ),
        "customer",
    ),
    Template(
        "rename",
        _rename,
        (
            "Change my first name to {first}.",
            "My first name is {first} now. Change it in my profile.",
            "Set the first name of my account to {first}.",
            "Edit my profile so that my first name is {first}.",
            "Please correct my first name in this shop: it is {first}.",
        ),
        "customer",
    ),
    Template(
        "move",
        _move,
        (
            "Change the first line of my address to {street}.",
            "I have moved to {street} in the same town. Change my address in the address book.",
            "In my address book, set the first line of the address to {street}.",
            "Edit my address: its first line is {street} now.",
            "Please update the address in my address book. The new first line is {street}.",
        ),
        "customer",
    ),
)
