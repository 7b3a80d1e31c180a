"""Actions in a forum."""

from __future__ import annotations

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Entity

_WORDS = (
    "Thank you, that helped a lot",
    "Try it again on a dry day",
    "I would wait another week",
    "Please post a picture of it",
    "The cheap ones are just as good",
    "Ask the shop to swap it",
    "Mine did the same for a month",
    "Start small and see how it goes",
    "Have you read the guide on this",
    "It depends on the weather",
)
_SUBJECTS = (
    "Notes after the first month",
    "Looking for people nearby",
    "Three things nobody told me",
    "Where do you keep your tools",
    "A question about the basics",
    "Best book on the subject",
    "Meeting on Saturday morning",
    "What I would do differently",
)
_NOTES = ("It is posted twice", "This has nothing to do with us", "The tone is not nice", "It only links to a shop")


def _over(thread: Entity) -> str:
    return "locked" if thread.values["status"] == "Locked" else ""


REPLY = Action(
    "reply",
    "Reply",
    "Your reply to {name} is online.",
    ("reply “{text}” to {name}", "answer {name} with the words “{text}”", "post a reply that says “{text}” to {name}"),
    collection="threads",
    fields=(Field("text", "Your reply", "textarea", examples=_WORDS),),
    makes="replies",
    refuses=_over,
)
VOTE = Action(
    "vote",
    "Vote up",
    "You voted for {name}.",
    ("vote up {name}", "give an upvote to {name}", "add your vote to {name}"),
    collection="threads",
    sets={"voted": "yes"},
    refuses=lambda thread: "already voted for" if "voted" in thread.values else "",
)
SOLVE = Action(
    "solve",
    "Mark solved",
    "{name} is marked as solved.",
    ("mark {name} as solved", "set {name} to solved", "close {name} as solved"),
    collection="threads",
    sets={"status": "Solved"},
    refuses=lambda thread: _over(thread) or ("already solved" if thread.values["status"] == "Solved" else ""),
)
FOLLOW = Action(
    "follow",
    "Follow",
    "You follow {name} now.",
    (
        "follow {name} for {days} days with the notice “{notice}”",
        "subscribe to {name} for {days} days and choose “{notice}” as the notice",
        "watch {name} with “{notice}” as the notice for {days} days",
    ),
    collection="threads",
    fields=(
        Field("notice", "Notice", "select", ("Every reply", "Once a day", "Once a week", "Mentions only")),
        Field("days", "For how many days", "number", least=2, most=60),
    ),
)
REPORT = Action(
    "report",
    "Report",
    "Thank you, the moderators will look at {name}.",
    (
        "report {name} for the reason “{reason}” with the note “{note}”",
        "tell the moderators about {name}: reason “{reason}”, note “{note}”",
        "flag {name} as “{reason}” and add the note “{note}”",
    ),
    collection="threads",
    fields=(
        Field("reason", "Reason", "radio", ("Spam", "Off topic", "Rude", "Duplicate")),
        Field("note", "Note", examples=_NOTES),
    ),
    makes="reports",
)
START = Action(
    "thread",
    "New thread",
    "Your thread is online.",
    (
        "start a thread titled “{name}” in {board} with the text “{text}”",
        "post a thread in {board}; its title is “{name}” and its text “{text}”",
        "open a topic on the board {board} with “{name}” as title and “{text}” as text",
    ),
    fields=(
        Field("board", "Board", "select"),
        Field("name", "Title", examples=_SUBJECTS),
        Field("text", "Text", "textarea", examples=_WORDS),
    ),
    makes="threads",
    sets={"author": "You", "date": "2027-03-01", "status": "Open"},
)
MESSAGE = Action(
    "message",
    "Send",
    "Your message to {name} is sent.",
    (
        "send the private message “{text}” with the subject “{subject}” to {name}",
        "write to {name}: subject “{subject}”, message “{text}”",
        "message {name} about “{subject}” with the words “{text}”",
    ),
    collection="members",
    fields=(Field("subject", "Subject", examples=_SUBJECTS), Field("text", "Message", "textarea", examples=_WORDS)),
    makes="messages",
    refuses=lambda member: "closed for messages" if member.values["inbox"] == "Closed" else "",
)
