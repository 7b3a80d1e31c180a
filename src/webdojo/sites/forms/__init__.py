"""The public services of a county: apply step by step, make appointments, complain."""

from __future__ import annotations

import random

from webdojo.sites.actions import Action, Step
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Attribute, Collection, Entity
from webdojo.sites.content.drawing import day_of, entity, measure
from webdojo.sites.content.people import ADDRESSES, USERS, towns
from webdojo.sites.content.words import items
from webdojo.sites.pages import CatalogSite

PERMITS = items(
    "Resident parking permit, Visitor parking permit, Fishing permit, Street music permit, Bonfire permit, Food stall "
    "permit, Building permit, Tree felling permit, Film shooting permit, Moving van permit, Street party permit, "
    "Pavement seating permit, Firework permit, Allotment permit, Mooring permit"
)
CERTIFICATES = items(
    "Birth certificate, Marriage certificate, Proof of residence, Library card, Swimming pool card, School bus pass, "
    "Senior bus pass, Family card, Certificate of conduct, Land register extract, Bicycle passport, Museum card, "
    "Recycling card, Garden waste card"
)
REGISTRATIONS = items(
    "Dog registration, Beehive registration, Boat registration, Club registration, Trailer registration, Business "
    "registration, Well registration, Drone registration, Childcare registration"
)
TYPES = {"Permit": PERMITS, "Certificate": CERTIFICATES, "Registration": REGISTRATIONS}
DEPARTMENTS = items(
    "Citizen services, Culture and sports, Environment, Family and youth, Housing, Public order, Roads, Schools, "
    "Trade and markets, Waste and water"
)
WAYS = ("online", "by post", "in person")
OFFICES = ("Citizen Office", "Town Hall", "Service Point", "District Office", "Registry", "Advice Centre")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
CLOSING = ("noon", "two o'clock", "four o'clock", "six o'clock", "seven o'clock")
TIMES = ("8:30", "9:15", "10:00", "10:45", "11:30", "13:15", "14:00", "14:45", "15:30")
TOPICS = ("Passport", "Registration of residence", "Driving licence", "Wedding", "Business", "Lost property")
PROBLEMS = ("Noise", "Rubbish", "Street lights", "Potholes", "Opening hours", "Rude staff")
NEWS = ("Road works", "Markets", "Council meetings", "Jobs", "Schools", "Culture")
DELIVERY = ("By post", "By e-mail", "At the counter")
POSTCODES = ("10437", "20095", "31582", "44135", "50667", "60313", "73033", "81245")
PHONES = ("5550142", "5550187", "5550119", "5550165", "5550133")
NOTES = (
    "Please call in the afternoon.",
    "The old papers were lost in a move.",
    "My neighbour may collect the letter.",
    "I need a receipt.",
    "There is no bell, please knock.",
)
COMPLAINTS = (
    "It has been like this for weeks.",
    "Nobody answers the phone.",
    "My children cannot sleep at night.",
    "The corner by the school is the worst.",
    "I wrote to you before and heard nothing.",
)
SUBJECTS = ("Rusty", "Bella", "Sea Breeze", "Old Oak", "Blue Star", "Sunny Side", "Little Bear", "Silver Wing")
_INTROS = (
    "You need this if you live or work in the district.",
    "This service is for everybody who is registered in the district.",
    "Most people ask for this once and never think of it again.",
    "The rules for this are simple, and the form is short.",
    "The council has made this easier than it was.",
)
_PAPERS = (
    "Please have your identity card at hand.",
    "Bring a proof of address if you have moved lately.",
    "No further papers are needed.",
    "A photograph of yourself is helpful, but not needed.",
    "If somebody acts for you, they need a letter with your signature.",
)
_HOUSES = (
    "The entrance is at the back, next to the bicycle stands.",
    "There is a waiting room with toys for children.",
    "The building is old, but the lift is new.",
    "Please draw a number at the door.",
    "Trams and buses stop in front of the house.",
)
_SUSPENDED = ("open", "suspended", "suspended")
_POSTCODE = Field("postcode", "Postcode", hint="12345", rule=(r"\d{5}", "must be 5 digits"), options=POSTCODES)
_TRUE = Field("true", "I have checked my data, and they are true", "agree")
ACTIONS = (
    Action(
        "apply",
        "Apply for it",
        "Your application for {name} is on its way.",
        collection="services",
        steps=(
            Step("Your data", ("applicant", "born", "postcode", "phone")),
            Step("Details", ("start", "delivery", "copies", "note")),
            Step("Check and send", ("true",)),
        ),
        offered=lambda service: service.values["way"] == "online" and service.values["type"] != "Registration",
    )
    .asked(
        "apply for {name}: applicant {applicant}, born on {born}, postcode {postcode}, starting on {start}, "
        "delivery “{delivery}”",
        "send an application for {name} in the name of {applicant} (born on {born}, postcode {postcode}) from {start} "
        "on, with the delivery “{delivery}”",
        "fill in the application for {name}; the applicant is {applicant}, born on {born}, the postcode is {postcode}, "
        "the start is {start} and the delivery is “{delivery}”",
        phone=", telephone {phone}",
        copies=", with {copies} further copies",
        note=", with the note “{note}”",
    )
    .with_fields(
        Field("applicant", "Name of the applicant", options=USERS),
        Field("born", "Date of birth", "date", hint="1984-06"),
        _POSTCODE,
        Field("phone", "Telephone", required=False, rule=(r"\d{6,12}", "must be 6 to 12 digits"), options=PHONES),
        Field("start", "Start", "calendar", hint="2027-03"),
        Field("delivery", "Delivery", "radio", DELIVERY),
        Field("copies", "Further copies", "number", required=False, least=2, most=6),
        Field("note", "Note for the office", "textarea", required=False, options=NOTES),
        _TRUE,
    )
    .making("applications")
    .refusing(_SUSPENDED),
    Action(
        "register",
        "Register",
        "Your entry for {name} is on its way.",
        collection="services",
        steps=(
            Step("Owner", ("owner", "postcode", "email")),
            Step("What it is", ("subject", "since", "insured")),
            Step("Check and send", ("true",)),
        ),
        offered=lambda service: service.values["way"] == "online" and service.values["type"] == "Registration",
    )
    .asked(
        "fill in the form of {name} for the owner {owner}, postcode {postcode}, who registers “{subject}”",
        "use {name} to register “{subject}”; the owner is {owner} with the postcode {postcode}",
        "register “{subject}” with {name}: owner {owner}, postcode {postcode}",
        email=", with the e-mail address {email}",
        since=", with {since} as “Yours since”",
        insured=", and say it is insured",
    )
    .with_fields(
        Field("owner", "Owner", options=USERS),
        _POSTCODE,
        Field("email", "E-mail", "email", required=False, options=ADDRESSES),
        Field("subject", "Name of what is registered", options=SUBJECTS),
        Field("since", "Yours since", "date", required=False, hint="2026-09"),
        Field("insured", "It is insured", "checkbox", required=False),
        _TRUE,
    )
    .making("registrations")
    .refusing(_SUSPENDED),
    Action("rate", "Rate", "Thank you for your opinion of {name}.", collection="services")
    .asked(
        "give {points} of 10 points to {name}",
        "send a rating of {points} out of 10 for {name}",
        "rate {name} {points} out of 10",
    )
    .with_fields(Field("points", "Points", "range", least=0, most=10))
    .making("ratings"),
    Action("meet", "Make appointment", "{name} expects you.", collection="offices")
    .asked(
        "make an appointment at {name} on {day} at {time} about “{topic}” for {visitor}",
        "book {time} on {day} at {name} for {visitor}; the topic is “{topic}”",
        "get {visitor} an appointment at {name}: {day}, {time}, topic “{topic}”",
        people=", with {people} people coming",
    )
    .with_fields(
        Field("day", "Day", "calendar", hint="2027-03"),
        Field("time", "Time", "select", TIMES),
        Field("topic", "Topic", "radio", TOPICS),
        Field("visitor", "Name", options=USERS),
        Field("people", "How many people come", "number", required=False, least=2, most=8),
    )
    .making("appointments")
    .refusing(("open", "closed for repairs", "closed for repairs")),
    Action("complain", "Complain", "We are sorry to hear that.")
    .asked(
        "file a complaint about “{problem}” in {district} that says “{text}”",
        "complain about “{problem}” in the district {district} with the words “{text}”",
        "send the complaint “{text}”, category “{problem}”, district {district}",
        seen=", seen on {seen}",
        answer=", and tick that an answer is wanted",
        email=", with the e-mail address {email}",
    )
    .with_fields(
        Field("problem", "Category", "radio", PROBLEMS),
        Field("district", "District", "select"),
        Field("text", "What has happened", "textarea", COMPLAINTS),
        Field("seen", "Seen on", "date", required=False, hint="2027-02"),
        Field("answer", "Please answer me", "checkbox", required=False),
        Field("email", "E-mail", "email", required=False, options=ADDRESSES),
        Field("photo", "Photo", "file", required=False),
    )
    .making("complaints"),
    Action("news", "Newsletter", "The first letter comes soon.")
    .asked(
        "subscribe {email} to the news about {topics}, {rhythm}",
        "order the newsletter for {email}: topics {topics}, {rhythm}",
        "have the news about {topics} sent to {email}, {rhythm}",
    )
    .with_fields(
        Field("topics", "Topics", "checks", NEWS),
        Field("rhythm", "How often", "radio", ("daily", "weekly", "monthly")),
        Field("email", "E-mail", "email", ADDRESSES),
    )
    .making("subscriptions"),
)

SERVICE = (
    Attribute("type", "Type", listed=True, filter="is", phrase="of the type {value}"),
    Attribute("district", "District", listed=True, filter="is", phrase="in the district {value}"),
    Attribute("department", "Department", filter="is", phrase="from the department “{value}”"),
    Attribute(
        "way", "How to apply", filter="is", phrase="with “{value}” under “How to apply”", noun="“How to apply” entry"
    ),
    Attribute("fee", "Fee", "number", "$", True, "max", "Cheapest first", "cheapest", "costing at most {value}"),
    measure("days", "Processing time", "days", "max", "Fastest first", "fastest"),
    measure("valid", "Valid for", "months", "min", "", "", "valid for {value} or more", "validity", listed=False),
    Attribute("open", "Applications", asked=False),
)
OFFICE = (
    Attribute("town", "Town", listed=True, filter="is", phrase="in {value}"),
    Attribute("late", "Open late on", listed=True, filter="is", phrase="open late on {value}", noun="late opening day"),
    Attribute("closes", "Closes at", filter="is", phrase="closing at {value}", noun="closing time"),
    measure("wait", "Usual wait", "minutes", "max", "Least busy first", "least busy", "with a wait of {value} or less"),
    Attribute(
        "desks", "Desks", "number", "", False, "min", phrase="with {value} or more desks", noun="number of desks"
    ),
    Attribute("since", "Opened", "date", "", False, "", "Oldest first", "oldest", noun="opening date"),
    Attribute("open", "Appointments", asked=False),
)
_SERVICE_LIMITS = {"fee": (20, 60, 120), "days": (7, 21, 45), "valid": (12, 36, 60)}
_OFFICE_LIMITS = {"wait": (10, 20, 40), "desks": (4, 8, 16)}


class Forms(CatalogSite):
    kind = "forms"
    pictured = False
    tagline = "Public services, step by step"
    headings = ("How can we help you?", "Your county online", "What do you need today?", "Public services")

    def draw(self, rng: random.Random) -> list[Collection]:
        districts = towns(rng, 8)
        departments = rng.sample(DEPARTMENTS, 6)
        kinds = [(kind, what) for kind, names in TYPES.items() for what in names]
        drawn = rng.sample([(kind, what, place) for kind, what in kinds for place in districts], 200)
        owners = {what: rng.choice(departments) for _, what in kinds}
        services = [_service(rng, kind, what, place, owners[what]) for kind, what, place in drawn]
        houses = rng.sample([(what, place) for what in OFFICES for place in districts], 30)
        offices = [_office(rng, what, place) for what, place in houses]
        self.actions = tuple(action.offering(district=sorted(districts)) for action in ACTIONS)
        return [
            Collection("services", "Services", "service", "services", SERVICE, tuple(services), _SERVICE_LIMITS),
            Collection("offices", "Offices", "office", "offices", OFFICE, tuple(offices), _OFFICE_LIMITS),
        ]


def _service(rng: random.Random, kind: str, what: str, place: str, department: str) -> Entity:
    return entity(
        f"{what} {place}",
        type=kind,
        district=place,
        department=department,
        way=WAYS[min(rng.randrange(6), 3) % 3],
        fee=rng.randint(2, 180),
        days=rng.randint(2, 75),
        valid=rng.randint(3, 84),
        open="suspended" if rng.random() < 0.1 else "open",
        texts=(rng.choice(_INTROS), rng.choice(_PAPERS)),
    )


def _office(rng: random.Random, what: str, place: str) -> Entity:
    return entity(
        f"{what} {place}",
        town=place,
        late=rng.choice(WEEKDAYS),
        closes=rng.choice(CLOSING),
        wait=rng.randint(3, 75),
        desks=rng.randint(2, 24),
        since=day_of(rng, rng.randint(1960, 2020)),
        open="closed for repairs" if rng.random() < 0.12 else "open",
        texts=(" ".join(rng.sample(_HOUSES, 2)),),
    )
