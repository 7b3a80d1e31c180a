"""The forms of a county: short ones, and ones of several steps."""

from __future__ import annotations

from webdojo.sites.actions import Action, Step
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Entity
from webdojo.sites.content.people import ADDRESSES, USERS
from webdojo.sites.forms import content


def _suspended(service: Entity) -> str:
    return "suspended" if service.values["open"] == "suspended" else ""


def _is_online(service: Entity) -> bool:
    return service.values["way"] == "online"


_POSTCODE = Field("postcode", "Postcode", hint="12345", rule=(r"\d{5}", "must be 5 digits"))
_TRUE = Field("true", "I have checked my data, and they are true", "agree")
APPLY = Action(
    "apply",
    "Apply for it",
    "Your application for {name} is on its way.",
    (
        "apply for {name}: applicant {applicant}, born on {born}, postcode {postcode}, starting on {start}, "
        "delivery \u201c{delivery}\u201d",
        "send an application for {name} in the name of {applicant} (born on {born}, postcode {postcode}) from {start} "
        "on, with the delivery \u201c{delivery}\u201d",
        "fill in the application for {name}; the applicant is {applicant}, born on {born}, the postcode is {postcode}, "
        "the start is {start} and the delivery is \u201c{delivery}\u201d",
    ),
    collection="services",
    fields=(
        Field("applicant", "Name of the applicant"),
        Field("born", "Date of birth", "date", hint="1984-06"),
        _POSTCODE,
        Field("phone", "Telephone", required=False, rule=(r"\d{6,12}", "must be 6 to 12 digits")),
        Field("start", "Start", "calendar", hint="2027-03"),
        Field("delivery", "Delivery", "radio", content.DELIVERY),
        Field("copies", "Further copies", "number", required=False, least=2, most=6),
        Field("note", "Note for the office", "textarea", required=False),
        _TRUE,
    ),
    makes="applications",
    also={
        "phone": ", telephone {phone}",
        "copies": ", with {copies} further copies",
        "note": ", with the note \u201c{note}\u201d",
    },
    examples={
        "applicant": USERS,
        "postcode": content.POSTCODES,
        "phone": content.PHONES,
        "note": content.NOTES,
    },
    steps=(
        Step("Your data", ("applicant", "born", "postcode", "phone")),
        Step("Details", ("start", "delivery", "copies", "note")),
        Step("Check and send", ("true",)),
    ),
    offered=lambda service: _is_online(service) and service.values["type"] != "Registration",
    refuses=_suspended,
)
REGISTER = Action(
    "register",
    "Register",
    "Your entry for {name} is on its way.",
    (
        "fill in the form of {name} for the owner {owner}, postcode {postcode}, who registers \u201c{subject}\u201d",
        "use {name} to register \u201c{subject}\u201d; the owner is {owner} with the postcode {postcode}",
        "register \u201c{subject}\u201d with {name}: owner {owner}, postcode {postcode}",
    ),
    collection="services",
    fields=(
        Field("owner", "Owner"),
        _POSTCODE,
        Field("email", "E-mail", "email", required=False),
        Field("subject", "Name of what is registered"),
        Field("since", "Yours since", "date", required=False, hint="2026-09"),
        Field("insured", "It is insured", "checkbox", required=False),
        _TRUE,
    ),
    makes="registrations",
    also={
        "email": ", with the e-mail address {email}",
        "since": ", yours since {since}",
        "insured": ", and say it is insured",
    },
    examples={
        "owner": USERS,
        "postcode": content.POSTCODES,
        "email": ADDRESSES,
        "subject": content.SUBJECTS,
    },
    steps=(
        Step("Owner", ("owner", "postcode", "email")),
        Step("What it is", ("subject", "since", "insured")),
        Step("Check and send", ("true",)),
    ),
    offered=lambda service: _is_online(service) and service.values["type"] == "Registration",
    refuses=_suspended,
)
RATE = Action(
    "rate",
    "Rate",
    "Thank you for your opinion of {name}.",
    ("rate {name} with {points} out of 10", "give {name} {points} of 10 points", "rate {name}: {points} of 10"),
    collection="services",
    fields=(Field("points", "Points", "range", least=0, most=10),),
    makes="ratings",
)
MEET = Action(
    "meet",
    "Make appointment",
    "{name} expects you.",
    (
        "make an appointment at {name} on {day} at {time} about \u201c{topic}\u201d for {visitor}",
        "book {time} on {day} at {name} for {visitor}; the topic is \u201c{topic}\u201d",
        "get {visitor} an appointment at {name}: {day}, {time}, topic \u201c{topic}\u201d",
    ),
    collection="offices",
    fields=(
        Field("day", "Day", "calendar", hint="2027-03"),
        Field("time", "Time", "select", content.TIMES),
        Field("topic", "Topic", "radio", content.TOPICS),
        Field("visitor", "Name"),
        Field("people", "How many people come", "number", required=False, least=2, most=8),
    ),
    makes="appointments",
    also={"people": ", with {people} people coming"},
    examples={"visitor": USERS},
    refuses=lambda office: "closed for repairs" if office.values["open"] == "closed for repairs" else "",
)
SUBSCRIBE = Action(
    "news",
    "Newsletter",
    "The first letter comes soon.",
    (
        "subscribe {email} to the news about {topics}, {rhythm}",
        "order the newsletter for {email}: topics {topics}, {rhythm}",
        "have the news about {topics} sent to {email}, {rhythm}",
    ),
    fields=(
        Field("topics", "Topics", "checks", content.NEWS),
        Field("rhythm", "How often", "radio", ("daily", "weekly", "monthly")),
        Field("email", "E-mail", "email"),
    ),
    makes="subscriptions",
    examples={"email": ADDRESSES},
)


def actions(districts: list[str]) -> tuple[Action, ...]:
    """All actions of a county with these districts."""
    return (APPLY, REGISTER, RATE, MEET, _complain(districts), SUBSCRIBE)


def _complain(districts: list[str]) -> Action:
    return Action(
        "complain",
        "Complain",
        "We are sorry to hear that.",
        (
            "file a complaint about \u201c{problem}\u201d in {district} that says \u201c{text}\u201d",
            "complain about \u201c{problem}\u201d in the district {district} with the words \u201c{text}\u201d",
            "send the complaint \u201c{text}\u201d, category \u201c{problem}\u201d, district {district}",
        ),
        fields=(
            Field("problem", "Category", "radio", content.PROBLEMS),
            Field("district", "District", "select", tuple(sorted(districts))),
            Field("text", "What has happened", "textarea"),
            Field("seen", "Seen on", "date", required=False, hint="2027-02"),
            Field("answer", "Please answer me", "checkbox", required=False),
            Field("email", "E-mail", "email", required=False),
            Field("photo", "Photo", "file", required=False),
        ),
        makes="complaints",
        also={
            "seen": ", seen on {seen}",
            "answer": ", and tick that an answer is wanted",
            "email": ", with the e-mail address {email}",
        },
        examples={"text": content.COMPLAINTS, "email": ADDRESSES},
    )
