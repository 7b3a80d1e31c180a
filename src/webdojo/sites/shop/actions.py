"""What one can do with the products of a shop."""

from __future__ import annotations

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Entity
from webdojo.sites.content.people import USERS

_OPINIONS = (
    "It does what it should",
    "The colour is lovely",
    "My sister wants one as well",
    "It came a week late",
    "I would buy it again",
    "Not worth the money",
    "It looks better than in the picture",
)


def _sold_out(product: Entity) -> str:
    return "" if product.values["stock"] else "sold out"


def add(cart: str) -> Action:
    """Put a product into the cart, under the site's name for it."""
    return Action(
        "add",
        "add",
        f"{{name}} is in your {cart}.",
        (
            f"put {{amount}} of {{name}} into the {cart}",
            f"add {{name}} to the {cart}, {{amount}} of it",
            f"get {{amount}} of {{name}} into my {cart}",
        ),
        collection="products",
        fields=(Field("amount", "Amount", "number", least=1, most=9, default="1"),),
        counts="cart",
        after="added",
        refuses=_sold_out,
    )


WISH = Action(
    "wish",
    "Save for later",
    "{name} is on your wish list.",
    ("save {name} for later", "put {name} on the wish list", "add {name} to my wish list"),
    collection="products",
    sets={"wished": "yes"},
    refuses=lambda product: "already on your wish list" if "wished" in product.values else "",
)
REVIEW = Action(
    "review",
    "Review",
    "Your review of {name} is online.",
    (
        "review {name} as {reader} with {points} points and the text “{text}”",
        "write a review of {name}: name {reader}, {points} points, “{text}”",
        "give {name} {points} points in a review signed {reader} that says “{text}”",
    ),
    collection="products",
    fields=(
        Field("reader", "Your name", examples=USERS),
        Field("points", "Points", "range", least=0, most=10),
        Field("text", "Review", "textarea", examples=_OPINIONS),
    ),
    makes="reviews",
)
