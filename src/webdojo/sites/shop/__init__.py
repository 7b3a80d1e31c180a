"""Shops: products by category, search, filters, sorting, reviews and a cart.

The cart is what a session's state has under `cart/<product>`: the amount, and no key for nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from markupsafe import Markup

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Field, Form, Heading, Lines, Post
from webdojo.sites.catalog import Attribute, Collection, Entity, Value, fact_name
from webdojo.sites.compact import COLUMNS, Cell, Row, action_row, link_row, text_row, title_row
from webdojo.sites.compact import Form as RowForm
from webdojo.sites.compact_goals import open_first, open_list, open_page, open_result, open_thing, read, search
from webdojo.sites.content.drawing import counted, discussion, entity
from webdojo.sites.content.people import USERS
from webdojo.sites.content.words import ADJECTIVES, BRANDS, COLORS, SHOP_NOUNS, SIZES, items, plural
from webdojo.sites.design.pictures import picture
from webdojo.sites.shop import goals
from webdojo.sites.site import Overlay, Page, Redirect, Request
from webdojo.sites.sized import SizedSite

_CART = "cart/"

_TAGLINES = (
    "Good things, plainly made",
    "Since before you were born",
    "Everything in its place",
    "Small shop, big shelves",
    "Made to be used",
    "Chosen with care",
)
_OPENINGS = (
    "The {name} is made for people who use their {noun} every day.",
    "Our buyers found the {name} in a small workshop by the sea.",
    "Few things do their job as quietly as the {name}.",
    "The {name} has been part of our range since the beginning.",
    "There is a reason why the {name} keeps coming back.",
)
_MIDDLES = (
    "Each piece is finished by hand and checked twice before it leaves.",
    "It is light enough to carry and strong enough to last.",
    "The colour holds well, even in a bright room.",
    "It goes with almost everything you already own.",
    "The shape is old, but the materials are new.",
    "Nothing about it asks for attention, and yet people ask where it is from.",
)
_CLOSINGS = (
    "Sent in a plain box that can go back to us.",
    "Clean it with a damp cloth.",
    "A good present, and an easy one to wrap.",
    "Repairs are free for as long as you own it.",
)
_REVIEWS = (
    "Better than I hoped.",
    "Does what it says.",
    "My sister wants one too.",
    "Arrived early and well packed.",
    "A little smaller than I thought, but lovely.",
    "I would buy it again.",
    "Not what I needed, but well made.",
)
_REVIEWERS = items("Ada, Ben, Cleo, Dan, Eva, Finn, Grace, Hugo, Ines, Jack, Kira, Leo, Maya, Nils")
_OPINIONS = items(
    "It does what it should, The colour is lovely, My sister wants one as well, It came a week late, I would buy it "
    "again, Not worth the money, It looks better than in the picture"
)
ADD = (
    Action("add", "add", "{name} is in your {cart}.", collection="products", counts="cart", after="added")
    .asked(
        "put {name} into the {cart}, amount {amount}",
        "add {name} to the {cart} with the amount {amount}",
        "get {name} into my {cart}: amount {amount}",
    )
    .with_fields(Field("amount", "Amount", "number", least=1, most=9, default="1"))
    .refusing(("stock", 0, "sold out"))
)
"""`{cart}` is the site's word for its cart."""
ACTIONS = (
    Action("wish", "Save for later", "{name} is on your wish list.", collection="products")
    .asked("save {name} for later", "put {name} on the wish list", "add {name} to my wish list")
    .setting(wished="yes")
    .refusing(("wished", "yes", "already on your wish list")),
    Action("review", "Review", "Your review of {name} is online.", collection="products")
    .asked(
        "write a review as {reader}, with {points} of 10 points and the text “{text}”, of {name}",
        "write a review of {name}: name {reader}, {points} of 10 points, “{text}”",
        "give {name} {points} of 10 points in a review signed {reader} that says “{text}”",
    )
    .with_fields(
        Field("reader", "Your name", options=USERS),
        Field("points", "Points", "range", least=0, most=10),
        Field("text", "Review", "textarea", _OPINIONS),
    )
    .making("reviews"),
)
CATEGORIES, LARGE_CATEGORIES = 5, 8
IN_CATEGORY, IN_LARGE_CATEGORY = 12, 30
PRICES, LARGE_PRICES = 100, 200
"""Prices are below."""
_LIMITS = ((20, 40), (20, 50), (30, 50), (30, 60), (40, 70))
_CATEGORY = Attribute("category", "Category", filter="is", phrase="in the category {value}")
_COLOR = Attribute("color", "Color", filter="is", phrase="in the color {value}")
_PRICE = Attribute("price", "Price", "number", "$", True, "under", "cheap", "cheapest", "under {value}")
_STARS = Attribute("stars", "Stars", "number")
_STOCK = Attribute("stock", "Stock", "number", filter="min", phrase="in stock", control="In stock")

COMPACT_PRODUCT = (_CATEGORY, _PRICE, Attribute("size", "Size"), _COLOR, _STARS, _STOCK)
PRODUCT = (
    _CATEGORY,
    _PRICE,
    replace(_COLOR, listed=True),
    Attribute("size", "Size", filter="is", phrase="in size {value}"),
    counted("stars", "Stars", listed=True),
    _STOCK,
    Attribute("maker", "Maker", filter="is", phrase="made by {value}"),
    Attribute("weight", "Weight", "number", "g", False, "", "Lightest first", "lightest"),
    Attribute("launched", "Launched", "number", noun="launch year"),
    Attribute("wished", "Wish list", asked=False),
)


def products(seed: int, compact: bool) -> Collection:
    """Draw the products of a shop; the larger one has others after them in their category."""
    rng = random.Random(f"shop-{seed}-content")
    nouns = rng.sample(SHOP_NOUNS, CATEGORIES)
    colors = tuple(rng.sample(COLORS, 4))
    limits: dict[str, Sequence[Value]] = {"color": colors, "price": rng.choice(_LIMITS), "stock": (1,)}
    shelves = {noun: _products(noun, [], IN_CATEGORY, PRICES, limits, rng) for noun in nouns}
    if not compact:
        rng = random.Random(f"shop-{seed}-large")
        others = [noun for noun in SHOP_NOUNS if noun not in shelves]
        for noun in (*shelves, *rng.sample(others, LARGE_CATEGORIES - CATEGORIES)):
            known = shelves.get(noun, [])
            shelves[noun] = known + _products(noun, known, IN_LARGE_CATEGORY, LARGE_PRICES, limits, rng)
        makers = rng.sample(BRANDS, 6)
        shelves = {noun: [_described(product, makers, rng) for product in shelf] for noun, shelf in shelves.items()}
        limits |= {"price": (*limits["price"], 100, 150), "stars": (2, 3, 4)}
    entities = tuple(product for shelf in shelves.values() for product in shelf)
    attributes = COMPACT_PRODUCT if compact else PRODUCT
    return Collection("products", "Products", "product", "products", attributes, entities, limits)


def _products(
    noun: str, known: list[Entity], count: int, below: int, limits: dict[str, Sequence[Value]], rng: random.Random
) -> list[Entity]:
    """New products that make `count` of a noun together with the known ones.

    Names and prices, in whole dollars, differ; at least two are under each limit, and two of each colour are there.
    """
    lowest, count = int(limits["price"][0]), count - len(known)
    taken = {product.values["price"] for product in known}
    prices = rng.sample([price for price in range(5, lowest) if price not in taken], 2)
    prices += rng.sample([price for price in range(lowest, below) if price not in taken], count - 2)
    rng.shuffle(prices)
    colors = [*limits["color"], *limits["color"], *rng.choices(limits["color"], k=count - 2 * len(limits["color"]))]
    rng.shuffle(colors)
    names = {product.name for product in known}
    adjectives = rng.sample([each for each in ADJECTIVES if f"{each} {noun}" not in names], count)
    made = []
    for adjective, price, color in zip(adjectives, prices, colors, strict=True):
        stock = 0 if rng.random() < 0.15 else rng.randint(1, 99)
        made.append(
            entity(
                f"{adjective} {noun}",
                category=plural(noun),
                price=price,
                size=rng.choice(SIZES),
                color=color,
                stars=rng.randint(1, 5),
                stock=stock,
            )
        )
    return made


def _described(product: Entity, makers: list[str], rng: random.Random) -> Entity:
    """A product with what only the full-size layout tells."""
    maker, weight, launched = rng.choice(makers), rng.randint(80, 9800), rng.randint(2012, 2026)
    return replace(product, values={**product.values, "maker": maker, "weight": weight, "launched": launched})


class Shop(SizedSite):
    kind = "shop"
    section, lists, things = "category", "c", "p"
    renamed = MappingProxyType({"price": "max"})
    narrowing = ("price", "stock", "color")
    makers = MappingProxyType(
        {
            1: (goals.open_cart, open_list, open_list, search),
            2: (open_thing, open_thing, open_result, goals.price, open_page),
            3: (goals.narrow, goals.narrow, open_first, goals.add, goals.add, read, read),
            4: (goals.add_two, goals.add_cheapest, goals.add_cheapest_color, goals.compare),
        }
    )

    def draw(self, rng: random.Random) -> list[Collection]:
        self.tagline = rng.choice(_TAGLINES)
        self.headings = (self.look.heading,)
        cart = self.look.words["cart"].lower()
        clauses = tuple(clause.replace("{cart}", cart) for clause in ADD.clauses)
        put = replace(ADD, done=ADD.done.replace("{cart}", cart), clauses=clauses)
        self.actions = (put,) if self.layout == "compact" else (put, *ACTIONS)
        return [products(self.seed, self.layout == "compact")]

    def story(self, entity: Entity) -> tuple[str, ...]:
        rng, noun = random.Random(f"description-{entity.name}"), entity.name.split()[-1].lower()
        first = f"{rng.choice(_OPENINGS)} {rng.choice(_MIDDLES[:3])}".format(name=entity.name, noun=noun)
        return first, f"{rng.choice(_MIDDLES[3:])} {rng.choice(_CLOSINGS)}"

    def drawing(self, entity: Entity) -> Markup:
        return Markup(picture(entity.name, entity.name.split()[-1], str(entity.values["color"])))

    def related(self, entity: Entity) -> list[Entity]:
        count = 3
        if self.layout == "compact":
            count = 2 if self.look.compact.related else 0
        others = [each for each in self.groups[str(entity.values[self.section])] if each.slug != entity.slug]
        start = sum(map(ord, entity.slug)) % len(others)
        return (others + others)[start : start + count]

    def corner(self, overlay: Overlay) -> tuple[str, str]:
        return f"{self.look.words['cart']} {sum(amount for _, amount in self._lines(overlay))}", "/cart"

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        item = request.values.get("item", "")
        match (request.method, *request.path.strip("/").split("/")):
            case ["GET", "cart"]:
                return self._cart(overlay)
            case ["POST", "cart", "remove", *rest]:
                overlay.state.pop(f"{_CART}{rest[0] if rest else item}", None)
                return Redirect("/cart")
            case ["POST", "cart", "add"] if self.layout == "compact" and item in self.main.by_slug:
                put, product = self.actions[0], self.main.by_slug[item]
                if not put.refuses(product):
                    overlay.state.update(put.change({}, product, overlay.state))
                    return Redirect(self.outward(f"{put.path(product)}/done"))
        return super().respond(request, overlay)

    def inward(self, path: str) -> str:
        match path.partition("?")[0].strip("/").split("/"):
            case ["added", name] if self.layout == "compact":
                return f"/{self.main.slug}/{name}/add/done"
        return super().inward(path)

    def outward(self, path: str) -> str:
        match path.strip("/").split("/"):
            case [self.main.slug, name, "add", "done"] if self.layout == "compact":
                return f"/added/{name}"
        return super().outward(path)

    def paths(self) -> Iterator[str]:
        home, *others = super().paths()
        yield from (home, "/cart", *others)

    def way_to(self, path: str) -> tuple[str, str]:
        return ("/", self.look.words["cart"]) if path == "/cart" else super().way_to(path)

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        related = super().extra(page, overlay)
        if not related:
            return []
        entity: Entity = page.data["entity"]
        rng = random.Random(f"reviews-{entity.name}")
        count = rng.randint(2, 3)
        said = map(Post, rng.sample(_REVIEWERS, count), rng.sample(_REVIEWS, count))
        return [*discussion(self.say("Reviews"), said, "reviews", entity, overlay), *related]

    def _lines(self, overlay: Overlay) -> list[tuple[Entity, int]]:
        """What is in a session's cart, in the order in which it came."""
        known = self.main.by_slug
        state = overlay.state.items()
        return [(known[key.removeprefix(_CART)], amount) for key, amount in state if key.startswith(_CART)]

    def _cart(self, overlay: Overlay) -> Page:
        words, lines = self.look.words, self._lines(overlay)
        blocks: list[Block] = [Heading(words["cart"], "" if lines else words["empty"], ((words["home"], "/"),))]
        if lines:
            rows = [
                ((each.name, f"/{self.main.slug}/{each.slug}"), amount, f"${int(each.values['price']) * amount}")
                for each, amount in lines
            ]
            total = (words["total"], "", f"${_total(lines)}")
            blocks.append(Lines(("Item", "Amount", "Price"), (*rows, total)))
        for product, _ in lines:
            blocks.append(Form(f"/cart/remove/{product.slug}", f"{words['remove']} {product.name}"))
        shows = tuple(fact_name(product.slug, "Price") for product, _ in lines)
        return Page("cart", words["cart"], {"blocks": blocks, "lines": lines}, shows)

    def rows(self, page: Page) -> list[Row]:
        words, compact = self.look.words, self.look.compact
        title = title_row(page.title, compact.title)
        if page.name == "done":
            name = text_row(page.data["entity"].name, indent=compact.indent)
            return [title, name, link_row(words["cart"], "/cart", style="item"), *self.section_rows()]
        if page.name != "cart":
            return super().rows(page)
        lines = page.data["lines"]
        if not lines:
            return [title, text_row(words["empty"], indent=compact.indent), *self.section_rows()]
        out = [title]
        button = Cell("button", words["remove"], len(words["remove"]) + 2, pad=1, style="button")
        for product, amount in lines:
            cell = Cell("text", f"x{amount}", COLUMNS - button.columns, pad=compact.indent)
            form = RowForm("/cart/remove", "post", (("item", product.slug),))
            out += [*self.card_rows([product]), Row((cell, button), form=form)]
        return [*out, text_row(words["total"], note=f"${_total(lines)}", style="heading")]

    def lead_rows(self, entity: Entity) -> list[Row]:
        words, compact = self.look.words, self.look.compact
        if self.actions[0].refuses(entity):
            return [text_row(words["sold"], indent=compact.indent, style="sold")]
        return [action_row(words["add"], compact.button, RowForm("/cart/add", "post", (("item", entity.slug),)))]


def _total(lines: list[tuple[Entity, int]]) -> int:
    return sum(int(product.values["price"]) * amount for product, amount in lines)
