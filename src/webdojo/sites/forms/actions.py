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


_POSTCODE = Field("postcode", "Postcode", hint="12345", rule=(r"\d{5}", "must be 5 digits"), examples=content.POSTCODES)
_TRUE = Field("true", "I have checked my data, and they are true", "agree")
APPLY = Action(
    "apply",
    "Apply for it",
    "Your application for {name} is on its way.",
    (
        "apply for {name}: applicant {applicant}, born on {born}, postcode {postcode}, starting on {start}, "
        "delivery “{delivery}”",
        "send an application for {name} in the name of {applicant} (born on {born}, postcode {postcode}) from {start} "
        "on, with the delivery “{delivery}”",
        "fill in the application for {name}; the applicant is {applicant}, born on {born}, the postcode is {postcode}, "
        "the start is {start} and the delivery is “{delivery}”",
    ),
    collection="services",
    fields=(
        Field("applicant", "Name of the applicant", examples=USERS),
        Field("born", "Date of birth", "date", hint="1984-06"),
        _POSTCODE,
        Field(
            "phone", "Telephone", required=False, rule=(r"\d{6,12}", "must be 6 to 12 digits"), examples=content.PHONES
        ),
        Field("start", "Start", "calendar", hint="2027-03"),
        Field("delivery", "Delivery", "radio", content.DELIVERY),
        Field("copies", "Further copies", "number", required=False, least=2, most=6),
        Field("note", "Note for the office", "textarea", required=False, examples=content.NOTES),
        _TRUE,
    ),
    makes="applications",
    also={
        "phone": ", telephone {phone}",
        "copies": ", with {copies} further copies",
        "note": ", with the note “{note}”",
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
        "fill in the form of {name} for the owner {owner}, postcode {postcode}, who registers “{subject}”",
        "use {name} to register “{subject}”; the owner is {owner} with the postcode {postcode}",
        "register “{subject}” with {name}: owner {owner}, postcode {postcode}",
    ),
    collection="services",
    fields=(
        Field("owner", "Owner", examples=USERS),
        _POSTCODE,
        Field("email", "E-mail", "email", required=False, examples=ADDRESSES),
        Field("subject", "Name of what is registered", examples=content.SUBJECTS),
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
        "make an appointment at {name} on {day} at {time} about “{topic}” for {visitor}",
        "book {time} on {day} at {name} for {visitor}; the topic is “{topic}”",
        "get {visitor} an appointment at {name}: {day}, {time}, topic “{topic}”",
    ),
    collection="offices",
    fields=(
        Field("day", "Day", "calendar", hint="2027-03"),
        Field("time", "Time", "select", content.TIMES),
        Field("topic", "Topic", "radio", content.TOPICS),
        Field("visitor", "Name", examples=USERS),
        Field("people", "How many people come", "number", required=False, least=2, most=8),
    ),
    makes="appointments",
    also={"people": ", with {people} people coming"},
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
        Field("email", "E-mail", "email", examples=ADDRESSES),
    ),
    makes="subscriptions",
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
            "file a complaint about “{problem}” in {district} that says “{text}”",
            "complain about “{problem}” in the district {district} with the words “{text}”",
            "send the complaint “{text}”, category “{problem}”, district {district}",
        ),
        fields=(
            Field("problem", "Category", "radio", content.PROBLEMS),
            Field("district", "District", "select", tuple(sorted(districts))),
            Field("text", "What has happened", "textarea", examples=content.COMPLAINTS),
            Field("seen", "Seen on", "date", required=False, hint="2027-02"),
            Field("answer", "Please answer me", "checkbox", required=False),
            Field("email", "E-mail", "email", required=False, examples=ADDRESSES),
            Field("photo", "Photo", "file", required=False),
        ),
        makes="complaints",
        also={
            "seen": ", seen on {seen}",
            "answer": ", and tick that an answer is wanted",
            "email": ", with the e-mail address {email}",
        },
    )
