"""Tasks of somebody who reads the magazine."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Goal, Step, Template, World, added, answered, done, shown
from webdojo.envs.apps.wagtail.world import DAYS, FORM_PAGE
from webdojo.sites.answers.values import number, text, winner
from webdojo.sites.content.people import ADDRESSES, USERS

_NEW_MESSAGES = (
    "I can help with the lights.",
    "Please call me after six.",
    "My daughter would like to come along.",
    "I have a large car and a ladder.",
)


def articles(world: World, status: str) -> list[dict[str, Any]]:
    return [each for each in world["articles"] if each["status"] == status]


def named(records: list[dict[str, Any]], id: int) -> dict[str, Any]:
    """The record with an id."""
    return next(each for each in records if each["id"] == id)


def _find(title: str) -> list[Step]:
    """Search for a page and open it."""
    return [
        {"do": "write", "field": "query", "text": title, "enter": True},
        {"do": "click", "text": title, "href": "/"},
    ]


def _author(world: World, rng: random.Random) -> Goal:
    article = rng.choice(articles(world, "live"))
    name = named(world["authors"], article["author"])["name"]
    facts = [
        shown("The article was shown", article["title"], f"By {name}"),
        answered(
            f"The answer is {name}", text(name), [article["title"]],
            sorted({each["name"] for each in world["authors"]} - {name}),
        ),
    ]  # fmt: skip
    return Goal(str(article["id"]), {"title": article["title"]}, facts, [*_find(article["title"]), done(name)])


def _fee(world: World, rng: random.Random) -> Goal:
    event = rng.choice(world["events"])
    facts = [
        shown("The event was shown", event["title"], f"Fee: £{event['fee']}"),
        answered(f"The answer is £{event['fee']}", number(event["fee"], "£"), [event["title"]]),
    ]
    return Goal(str(event["id"]), {"title": event["title"]}, facts, [*_find(event["title"]), done(f"£{event['fee']}")])


def _place(world: World, rng: random.Random) -> Goal:
    event = rng.choice(world["events"])
    rivals = sorted({each["place"] for each in world["events"]} - {event["place"]})
    facts = [
        shown("The event was shown", event["title"], f"Place: {event['place']}"),
        answered(f"The answer is {event['place']}", text(event["place"]), [event["title"]], rivals),
    ]
    return Goal(str(event["id"]), {"title": event["title"]}, facts, [*_find(event["title"]), done(event["place"])])


def _longer(world: World, rng: random.Random) -> Goal:
    a, b = rng.sample(articles(world, "live"), 2)
    while a["minutes"] == b["minutes"]:
        a, b = rng.sample(articles(world, "live"), 2)
    titles, minutes = [a["title"], b["title"]], [a["minutes"], b["minutes"]]
    best = minutes.index(max(minutes))
    facts = [
        *(
            shown(f"The reading time of {each['title']} was shown", each["title"], f"Reading time: {each['minutes']}")
            for each in (a, b)
        ),
        answered(
            f"The answer is {titles[best]}", winner([[each] for each in titles], best, minutes, "minutes"), titles
        ),
    ]
    plan = [*_find(a["title"]), *_find(b["title"]), done(titles[best])]
    return Goal(f"{a['id']}-{b['id']}", {"a": a["title"], "b": b["title"]}, facts, plan)


def _by(world: World, author: dict[str, Any]) -> list[dict[str, Any]]:
    """The articles of an author that are public."""
    return [each for each in world["articles"] if each["author"] == author["id"] and each["status"] in _PUBLIC]


_PUBLIC = ("live", "changed")


def _list_of(world: World, author: dict[str, Any]) -> tuple[dict[str, Any], list[Step]]:
    """The fact that the list of an author's articles was shown, and the steps to it."""
    found = _by(world, author)
    count = f"{len(found)} page{'s' if len(found) > 1 else ''}"
    steps = [*_find(author["name"])[:1], {"do": "click", "text": found[0]["title"]}]
    steps.append({"do": "click", "text": author["name"]})
    return shown(f"The list of {author['name']}'s articles was shown", f"Articles by {author['name']}", count), steps


def _count(world: World, rng: random.Random) -> Goal:
    author = rng.choice([each for each in world["authors"] if _by(world, each)])
    fact, steps = _list_of(world, author)
    count = len(_by(world, author))
    facts = [fact, answered(f"The answer is {count}", number(count), [author["name"]])]
    return Goal(str(author["id"]), {"name": author["name"]}, facts, [*steps, done(str(count))])


def _busier(world: World, rng: random.Random) -> Goal:
    authors = [each for each in world["authors"] if _by(world, each)]
    a, b = rng.sample(authors, 2)
    while len(_by(world, a)) == len(_by(world, b)):
        a, b = rng.sample(authors, 2)
    names, counts = [a["name"], b["name"]], [len(_by(world, a)), len(_by(world, b))]
    best = counts.index(max(counts))
    (seen_a, to_a), (seen_b, to_b) = _list_of(world, a), _list_of(world, b)
    won = winner([[name] for name in names], best, counts)
    facts = [seen_a, seen_b, answered(f"The answer is {names[best]}", won, names)]
    fields = {"a": a["name"], "b": b["name"]}
    return Goal(f"{a['id']}-{b['id']}", fields, facts, [*to_a, *to_b, done(names[best])])


def _redirected(world: World, rng: random.Random) -> Goal:
    redirect = rng.choice(world["redirects"])
    title = named(world["articles"], redirect["page"])["title"]
    facts = [
        shown("The article was shown", title, "Reading time:"),
        answered(f"The answer is {title}", text(title), [redirect["path"]]),
    ]
    plan = [{"do": "go", "path": redirect["path"]}, done(title)]
    return Goal(str(redirect["id"]), {"path": redirect["path"]}, facts, plan)


def _volunteer(world: World, rng: random.Random) -> Goal:
    name, email, day, message = (rng.choice(each) for each in (USERS, ADDRESSES, DAYS, _NEW_MESSAGES))
    given = {"name": name, "email": email, "day": day, "message": message}
    data = {"type": "json", "values": given}
    fact = added("The form was sent", "wagtailforms_formsubmission", page_id=FORM_PAGE, form_data=data)
    plan: list[Step] = [
        {"do": "click", "text": "Volunteer"},
        {"do": "write", "field": "name", "text": name},
        {"do": "write", "field": "email", "text": email},
        {"do": "choose", "field": "day", "option": day},
        {"do": "write", "field": "message", "text": message},
        {"do": "click", "text": "Send"},
        done(),
    ]
    return Goal(f"{name.split()[0].lower()}-{email}-{day}-{_NEW_MESSAGES.index(message)}", given, [fact], plan)


TEMPLATES = (
    Template(
        "author",
        _author,
        (
            "Who wrote the article “{title}”?",
            "Who is the author of “{title}”?",
            "Find the article “{title}” and tell me who wrote it.",
            "Tell me the name of the author of “{title}”.",
            "I have read “{title}” in this magazine. Whose article is it?",
        ),
    ),
    Template(
        "fee",
        _fee,
        (
            "What is the fee for the {title}?",
            "How much does it cost to go to the {title}?",
            "Look up the fee of the event {title}.",
            "Tell me what the event {title} costs.",
            "I would like to go to the {title}. What does it cost?",
        ),
    ),
    Template(
        "place",
        _place,
        (
            "Where does the {title} take place?",
            "At which place is the {title}?",
            "Look up the place of the event {title}.",
            "Tell me where the event {title} takes place.",
            "I would like to go to the {title}. Where is it?",
        ),
    ),
    Template(
        "longer",
        _longer,
        (
            "Which article takes longer to read, “{a}” or “{b}”?",
            "Which of these has the longer reading time: “{a}” or “{b}”?",
            "Compare the reading times of “{a}” and “{b}”. Which is the longer article?",
            "I need the longer read of “{a}” and “{b}”. Which one is it?",
            "Tell me which one takes more minutes to read, “{a}” or “{b}”.",
        ),
    ),
    Template(
        "count",
        _count,
        (
            "How many articles by {name} are in the magazine?",
            "How many articles has {name} in this magazine?",
            "Count the articles of the author {name}.",
            "Tell me the number of articles that {name} wrote for this magazine.",
            "{name} writes for this magazine. How many articles are there by this author?",
        ),
    ),
    Template(
        "busier",
        _busier,
        (
            "Who has more articles in the magazine, {a} or {b}?",
            "Which author wrote more articles here: {a} or {b}?",
            "Compare how many articles {a} and {b} have in this magazine. Who has more?",
            "I need the author with more articles of {a} and {b}. Who is it?",
            "Tell me who of the two wrote more for this magazine, {a} or {b}.",
        ),
    ),
    Template(
        "redirected",
        _redirected,
        (
            "What is the title of the article at the old address {path}?",
            "Which article does the address {path} of this site lead to?",
            "Open {path} on this site and tell me the title of the article.",
            "I have an old link to {path} on this site. What is the title of the article there?",
            "Tell me the title of the article that one gets to by {path}.",
        ),
    ),
    Template(
        "volunteer",
        _volunteer,
        (
            "Sign up as a volunteer: name {name}, email {email}, day {day}, message “{message}”",
            "Fill in the form for volunteers with the name {name}, the email {email}, the day {day} and the message "
            "“{message}”",
            "Send the volunteer form. Name: {name}. Email: {email}. Day: {day}. Message: “{message}”",
            "{name} would like to be a volunteer on {day}. Send the form with the email {email} and the message "
            "“{message}”",
            "Please send the form Volunteer for {name} ({email}), with the day {day} and the message “{message}”",
        ),
    ),
)
