"""A town: its places on a map and in lists, found by what, where and when, and what visitors do about them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from markupsafe import Markup

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Choice, Field, Filters, Heading, Post
from webdojo.sites.catalog import Attribute, Collection, Entity, fact_name
from webdojo.sites.content.drawing import counted, discussion, entity
from webdojo.sites.content.people import FIRST_NAMES
from webdojo.sites.pages import CatalogSite
from webdojo.sites.places import goals, names
from webdojo.sites.places.town import HEIGHT, SCALES, WIDTH, Spot, Town, make_town
from webdojo.sites.site import Overlay, Page, Redirect, Request

_OPENS = ("7:00", "7:30", "8:00", "8:30", "9:00", "9:30", "10:00", "11:00", "12:00")
_LISTS = ("Favourites", "Want to go", "For rainy days", "Show to friends", "Weekend", "With children")
_TIMES = tuple(f"{hour:02d}:{minute}" for hour in range(9, 19) for minute in ("00", "30"))
_OPINIONS = (
    *("Lovely staff and fair prices", "Too crowded for me", "We will be back soon", "The best in this part of town"),
    *("Hard to find but worth it", "Clean, calm and friendly", "Nothing special", "My children loved it"),
    *("They close earlier than they say", "A hidden treasure", "Bring cash, they take no cards"),
)
_PHONES = tuple(f"555-{number}" for number in range(2101, 2990, 37))
_CLOSED = ("now", "permanently closed", "permanently closed")
ACTIONS = (
    Action("review", "Write a review", "Your review of {name} is published.", collection="places")
    .asked(
        "review {name}: {rating} out of 5 points and the text “{text}”",
        "give {name} {rating} of 5 points in a review that says “{text}”",
        "publish a review of {name} with the words “{text}” and {rating} of 5 points",
    )
    .with_fields(
        Field("rating", "Points", "range", least=1, most=5), Field("text", "Your review", "textarea", _OPINIONS)
    )
    .making("reviews"),
    Action("save", "Save to a list", "{name} is on your list.", collection="places")
    .asked(
        "save {name} to the list “{list}”", "put {name} on the list “{list}”", "add {name} to the list called “{list}”"
    )
    .with_fields(Field("list", "List", "select", _LISTS))
    .making("saved"),
    Action("report", "Report as closed", "Thank you for telling us about {name}.", collection="places")
    .asked(
        "report {name} as closed for the reason “{reason}”",
        "tell the site that {name} is closed; the reason is “{reason}”",
        "report that {name} has closed, with “{reason}” as the reason",
    )
    .with_fields(Field("reason", "Reason", "radio", ("Moved away", "Out of business", "Being rebuilt")))
    .making("reports")
    .refusing(_CLOSED),
    Action("edit", "Suggest an edit", "The entry of {name} is up to date now.", collection="places")
    .asked(
        "change the phone number of {name} to {phone}",
        "suggest {phone} as the new phone number of {name}",
        "correct the entry of {name}: the phone number is {phone}",
    )
    .with_fields(Field("phone", "Phone", options=_PHONES)),
    Action("visit", "Plan a visit", "Your visit to {name} is in your plans.", collection="places", framed=True)
    .asked(
        "plan a visit to {name} on {day} at {time}",
        "put a visit to {name} into my plans for {day}, {time}",
        "plan to be at {name} at {time} on {day}",
    )
    .with_fields(Field("day", "Day", "date", hint="2027-04"), Field("time", "Time", "time", _TIMES))
    .making("visits")
    .refusing(_CLOSED),
)

PLACE = (
    Attribute("category", "Category", listed=True, filter="is", phrase="in the category “{value}”"),
    Attribute("district", "District", listed=True, filter="is", phrase="in {value}"),
    Attribute("rating", "Rating", "number", "%", True, "min", phrase="rated {value} or better"),
    Attribute("price", "Price level", filter="is", phrase="with the price level “{value}”"),
    Attribute("now", "Now", listed=True, filter="is", phrase="marked as {value}", asked=False),
    Attribute("access", "Wheelchair access", filter="is", phrase="with {value} wheelchair access"),
    Attribute("since", "Open since", "number", sort="Oldest first", least="oldest", noun="opening year"),
    Attribute(
        "visitors", "Visitors a day", "number", sort="Quietest first", least="quietest", noun="number of visitors a day"
    ),
    Attribute("opens", "Opens at", noun="opening time"),
    Attribute("phone", "Phone", "text", noun="phone number"),
    Attribute("corner", "Corner", "text", noun="corner"),
)
DISTRICT = (
    Attribute(
        "residents", "Residents", "number", "", True, "", "Smallest first", "smallest", noun="number of residents"
    ),
    Attribute("founded", "Founded", "number", "", True, "", "Oldest first", "oldest", noun="founding year"),
    counted("buses", "Bus lines", listed=True),
    Attribute("market", "Market day", filter="is", phrase="with a market on {value}"),
    Attribute("known", "Known for", filter="is", phrase="known for \u201c{value}\u201d", asked=False),
)


def _yours(*labels: str) -> tuple[Attribute, ...]:
    shown = (Attribute("about", "Place", "text", listed=True, asked=False),)
    return (*shown, *(Attribute(label.lower(), label, "text", asked=False) for label in labels))


@dataclass(frozen=True)
class TownMap(Block):
    """The map of a town: streets, and a marker for each place. It is dragged, zoomed, and its markers clicked."""

    template = "map"
    drawing: Markup
    markers: tuple[tuple[str, str, str, Spot], ...]
    """Slug, name, category and spot, the most important first."""
    categories: tuple[str, ...]
    center: tuple[int, int]
    level: int
    scales: tuple[float, ...] = SCALES
    size: tuple[int, int] = (WIDTH, HEIGHT)


@dataclass(frozen=True)
class MapCard(Block):
    """What the map says of a place whose marker was clicked."""

    template = "map_card"
    name: str
    href: str
    facts: tuple[tuple[str, str], ...]
    apart: bool
    """Its page opens in a new tab."""


@dataclass(frozen=True)
class Locator(Filters):
    """A form that leads to a list: one select a group, and boxes to tick."""

    template = "locator"
    boxes: tuple[tuple[str, str, str], ...] = ()
    """Label, key and value."""


class Places(CatalogSite):
    kind = "places"
    tagline = "Every shop, museum and quiet corner of our town"
    headings = ("Find your way around town", "What is around the corner?", "Places worth the walk")
    actions = ACTIONS
    goals = (goals.on_map, goals.on_map, goals.from_map, goals.at_corner, goals.at_corner, goals.located)

    def draw(self, rng: random.Random) -> list[Collection]:
        self.town: Town = make_town(rng, self.seed)
        count = rng.randint(200, 220)
        named = names.place_names(rng, count)
        spots = self.town.spots(rng, count)
        visitors = rng.sample(range(20, 2000), count)
        places = [_place(rng, *given) for given in zip(named, spots, visitors, strict=True)]
        self.spots: dict[str, Spot] = {place.slug: spot for place, spot in zip(places, spots, strict=True)}
        """Spots of the places, by slug."""
        self.ways = {"/map": ("/", self.say("Map")), "/find": ("/", self.say("Find a place"))}
        self.ways |= {f"/map/card/{place.slug}": ("/map", place.name) for place in places}
        residents = rng.sample(range(800, 30000), len(self.town.districts))
        districts = [
            entity(
                name,
                residents=count,
                founded=rng.randint(1100, 1950),
                buses=rng.randint(1, 9),
                market=rng.choice(names.MARKET_DAYS),
                known=rng.choice(names.KNOWN_FOR),
                texts=(rng.choice(names.DISTRICT_TEXTS),),
            )
            for name, count in zip(self.town.districts, residents, strict=True)
        ]
        return [
            Collection("places", "Places", "place", "places", PLACE, tuple(places), {"rating": (60, 75, 90)}),
            Collection(
                "districts", "Districts", "district", "districts", DISTRICT, tuple(districts), {"buses": (3, 6)}
            ),
            Collection("visits", "Your plans", "visit", "visits", _yours("Day", "Time"), ()),
            Collection("saved", "Your lists", "entry", "entries", _yours("List"), ()),
            Collection("reviews", "Your reviews", "review", "reviews", _yours("Rating", "Text"), ()),
            Collection("reports", "Your reports", "report", "reports", _yours("Reason"), ()),
        ]

    def respond(self, request: Request, overlay: Overlay) -> Page | Redirect:
        home = (self.look.words["home"], "/")
        match request.path.strip("/").split("/"):
            case ["map"]:
                title = self.say("Map")
                return Page("map", title, {"blocks": [Heading(title, "", (home,)), self._map()]})
            case ["map", "card", slug] if slug in self.spots:
                return self._card(self.collection("places", overlay).by_slug[slug])
            case ["find"]:
                title = self.say("Find a place")
                return Page("find", title, {"blocks": [Heading(title, "", (home,)), self._locator()]})
        return super().respond(request, overlay)

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        if page.name == "home" and self.seed % 2:
            return [self._locator()]
        if page.name != "entity" or page.data["collection"].slug != "places":
            return []
        entity: Entity = page.data["entity"]
        rng = random.Random(f"{self.host}-{entity.slug}-reviews")
        said = [Post(rng.choice(FIRST_NAMES), text) for text in rng.sample(names.REVIEWS, rng.randint(1, 3))]
        return discussion(self.say("Reviews"), said, "reviews", entity, overlay)

    def sections(self) -> list[tuple[str, str]]:
        places, *others, chart, finder = super().sections()
        return [places, chart, finder, *others]

    def _map(self) -> TownMap:
        rng = random.Random(f"{self.host}-map")
        places = sorted(self.main.entities, key=lambda place: -int(place.values["visitors"]))
        markers = tuple((p.slug, p.name, str(p.values["category"]), self.spots[p.slug]) for p in places)
        categories = tuple(sorted({category for _, _, category, _ in markers}))
        center = (rng.randint(WIDTH // 4, 3 * WIDTH // 4), rng.randint(HEIGHT // 4, 3 * HEIGHT // 4))
        return TownMap(self.town.drawing, markers, categories, center, rng.choice((0, 0, 1)))

    def _card(self, place: Entity) -> Page:
        shown = [a for a in PLACE if a.key in ("category", "rating", "now", "corner", "opens")]
        facts = tuple((a.label, a.show(place.values[a.key])) for a in shown)
        shows = (fact_name(place.slug), *(fact_name(place.slug, a.label) for a in shown))
        card = MapCard(place.name, f"/places/{place.slug}", facts, apart=self.seed % 3 == 0)
        return Page("place", place.name, {"blocks": [card]}, shows)

    def _locator(self) -> Locator:
        groups = tuple(
            (a.label, a.key, tuple(Choice(c.label, c.query[a.key]) for c in self.main.constraints(a)))
            for a in PLACE
            if a.key in ("district", "category")
        )
        return Locator("/places", {}, groups, ((self.say("Open now"), "now", "open now"),))


def _place(rng: random.Random, named: tuple[str, str], spot: Spot, visitors: int) -> Entity:
    category, name = named
    return entity(
        name,
        category=category,
        district=spot.district,
        rating=rng.randint(31, 99),
        price=rng.choice(("low", "medium", "high")),
        now=rng.choice(("open now", "open now", "open now", "closed now", "closed now", "permanently closed")),
        access=rng.choice(("full", "partial", "no")),
        since=rng.randint(1850, 2025),
        visitors=visitors,
        opens=rng.choice(_OPENS),
        phone=f"555-{rng.randint(3000, 9999)}",
        corner=spot.corner,
        texts=(f"{rng.choice(names.TEXTS['start'])} {rng.choice(names.TEXTS['end'])}",),
    )
