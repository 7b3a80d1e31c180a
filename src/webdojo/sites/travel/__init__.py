"""Flights and hotels: find them by place, price and time, and book them."""

from __future__ import annotations

import random

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Field, Lines
from webdojo.sites.catalog import Attribute, Collection, Entity
from webdojo.sites.content.drawing import counted, entity, measure
from webdojo.sites.content.people import USERS, towns
from webdojo.sites.content.words import items
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page

_AIRLINES = items("Arrow, Bluebird, Condor, Drift, Equator, Falcon, Gull, Heron, Ibis, Jetstream, Kestrel")
_HOTEL_STARTS = ("Grand", "Old", "Park", "Garden", "Royal", "Harbour", "Little", "Station", "River", "Golden", "Corner")
_HOTEL_ENDS = ("House", "Inn", "Lodge", "Palace", "Rooms", "Court", "Suites", "Retreat", "Terrace", "Arms")
_FARES = ("Flexible", "Standby", "Night")
_FLIGHT_TEXTS = (
    "Please be at the gate well before departure. One cabin bag is included.",
    "Drinks are free on this route, and meals can be ordered on board.",
    "This service is operated with a modern aircraft and has power at every seat.",
)
_HOTEL_TEXTS = (
    "A quiet house near the old town, with a garden behind it and friendly people at the desk.",
    "Rooms look out over the square. The station is a short walk away.",
    "Newly painted, with thick curtains and good coffee. Pets are welcome.",
    "The building was once a school, and the corridors are as wide as streets.",
)

ACTIONS = (
    Action("book", "Book", "Your seats on flight {name} are booked.", collection="flights")
    .asked(
        "book {passenger} onto {name}, with {seats} seats in {cabin}",
        "reserve {seats} seats in {cabin} for {passenger} on {name}",
        "get {passenger} onto {name}: {seats} seats, {cabin}",
    )
    .with_fields(
        Field("passenger", "Passenger", options=USERS),
        Field("seats", "Seats", "number", least=2, most=9),
        Field("cabin", "Cabin", "radio", ("Economy", "Premium", "Business")),
    )
    .making("bookings")
    .refusing(("left", 0, "sold out")),
    Action("stay", "Book", "Your stay at {name} is booked.", collection="hotels")
    .asked(
        "book a room at {name} for {guest}, arriving on {arrival} for {nights} nights",
        "reserve {nights} nights from {arrival}, in the name of {guest}, at {name}",
        "arrange a stay of {nights} nights for {guest}, starting {arrival}, at {name}",
    )
    .with_fields(
        Field("guest", "Guest", options=USERS),
        Field("arrival", "Arrival", "calendar", hint="2027-03"),
        Field("nights", "Nights", "select", tuple(str(n) for n in range(2, 15))),
    )
    .making("bookings")
    .refusing(("rooms", 0, "fully booked")),
)


class Travel(CatalogSite):
    kind = "travel"
    tagline = "Flights and hotels without the small print"
    headings = ("Where to next?", "Travel made simple", "Find your next trip")
    actions = ACTIONS
    new_tabs = True

    def draw(self, rng: random.Random) -> list[Collection]:
        places = towns(rng, 9)
        airlines = rng.sample(_AIRLINES, 5)
        flights = [_flight(rng, number, airlines, places) for number in rng.sample(range(100, 1000), 260)]
        names = rng.sample([f"{start} {end}" for start in _HOTEL_STARTS for end in _HOTEL_ENDS], 60)
        hotels = [_hotel(rng, f"{name} {place}", place) for name in names for place in rng.sample(places, 2)]
        return [
            Collection("flights", "Flights", "flight", "flights", FLIGHT, tuple(flights), _FLIGHT_LIMITS),
            Collection("hotels", "Hotels", "hotel", "hotels", HOTEL, tuple(hotels), _HOTEL_LIMITS),
            Collection("bookings", "Your bookings", "booking", "bookings", BOOKING, ()),
        ]

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        """Last-minute prices and stock, which no goal asks for: under perturbations they change from visit to visit."""
        if page.name != "entity" or page.data["entity"].slug not in self.main.by_slug:
            return []
        flight: Entity = page.data["entity"]

        def now(least: int, most: int, name: str) -> int:
            found = random.Random(f"{self.host}-{flight.slug}-{name}").randint(least, most)
            state = overlay.perturbations
            return found if state is None else state.drifted(found, f"{flight.slug}-{name}")

        rows = tuple((fare, f"${now(60, 900, fare)}", f"{now(3, 40, f'{fare} left')} left") for fare in _FARES)
        return [Lines(("Fare", "Price", "At this price"), rows, "Last minute")]


FLIGHT = (
    Attribute("from", "From", listed=True, filter="is", phrase="from {value}", noun="town of departure"),
    Attribute("to", "To", listed=True, filter="is", phrase="to {value}", noun="destination"),
    Attribute("airline", "Airline", filter="is", phrase="with {value}"),
    Attribute("date", "Date", "date"),
    Attribute("price", "Price", "number", "$", True, "max", "Cheapest first", "cheapest", "costing at most {value}"),
    measure("time", "Flight time", "min", "max", "Shortest first", "shortest", "lasting at most {value}"),
    Attribute("left", "Seats left", "number", noun="“Seats left” figure"),
)
_FLIGHT_LIMITS = {"price": (100, 200, 400), "time": (90, 180, 300)}
HOTEL = (
    Attribute("town", "Town", listed=True, filter="is", phrase="in {value}"),
    counted("stars", "Stars", listed=True),
    measure("night", "Price per night", "$", "max", "Cheapest first", "cheapest", "for at most {value} a night"),
    Attribute("board", "Board", filter="is", phrase="with the board \u201c{value}\u201d"),
    Attribute("rooms", "Rooms free", "number", noun="“Rooms free” figure"),
)
_HOTEL_LIMITS = {"stars": (3, 4), "night": (60, 120, 200)}
BOOKING = (
    Attribute("about", "Booked", "text", asked=False),
    Attribute("passenger", "Passenger", "text", asked=False),
    Attribute("seats", "Seats", "number", asked=False),
    *(Attribute(key, key.capitalize(), "text", asked=False) for key in ("cabin", "guest", "arrival", "nights")),
)


def _flight(rng: random.Random, number: int, airlines: list[str], places: list[str]) -> Entity:
    airline = rng.choice(airlines)
    start, end = rng.sample(places, 2)
    return entity(
        f"{airline} {number}",
        **{"from": start},
        to=end,
        airline=airline,
        date=f"2027-{rng.randint(3, 8):02d}-{rng.randint(1, 28):02d}",
        price=rng.randint(39, 899),
        time=rng.randint(45, 560),
        left=0 if rng.random() < 0.1 else rng.randint(10, 180),
        texts=(rng.choice(_FLIGHT_TEXTS),),
    )


def _hotel(rng: random.Random, name: str, town: str) -> Entity:
    return entity(
        name,
        town=town,
        stars=rng.randint(1, 5),
        night=rng.randint(29, 399),
        board=rng.choice(("Room only", "Breakfast", "Half board", "Full board")),
        rooms=0 if rng.random() < 0.1 else rng.randint(1, 40),
        texts=(rng.choice(_HOTEL_TEXTS),),
    )
